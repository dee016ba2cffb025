import { type ChainEdit, costOf, formatEdit, planSteps, portOf, type Step } from './chain-edits.ts'
import { chains } from './chain-names.ts'
import { type ChainWrite, listWrites, type SyncWrites } from './chain-writes.ts'
import type { ProxierState, SyncPlan } from './sync.ts'

export interface ArrangeOptions {
  /**
   * Rules that one table of one text may write. As an ordinary user iptables-nft-restore must fit a table's changes
   * into one kernel message (about 290 rules): give 200 there. Without a limit the texts are one.
   */
  readonly maxRules?: number
  /** Chains of the nat table that are there already though no state says so. */
  readonly existingChains?: Iterable<string>
}

/**
 * The same change as the plan's restore, as texts for `iptables-restore --noflush` one after another, arranged so
 * that the kernel is quick and no packet meets half a Service:
 * - only chains whose content changes are written, and of a long chain only the lines that change;
 * - new chains, which nothing refers to yet, come first, then the chains that lead to them, deletions last;
 * - `:CHAIN` lines stand sorted by name, for iptables-nft-restore is quadratic in new chains that are not.
 * If a text fails (somebody has changed the kernel by hand), a full sync from the state before mends everything.
 */
export function arrangeForKernel(
  previous: ProxierState | undefined,
  plan: SyncPlan,
  options: ArrangeOptions = {},
): string[] {
  const writes = listWrites(previous, plan, options.existingChains)
  const limit = options.maxRules ?? Number.POSITIVE_INFINITY
  const whole = arrangeWhole(writes)
  if (whole.every(({ edits }) => costOf(edits) <= limit)) return formatTexts(whole)
  return formatTexts(arrangeInParts(writes, limit))
}

/** What one table takes in one transaction. */
interface Batch {
  readonly table: 'filter' | 'nat'
  readonly edits: readonly ChainEdit[]
}

function arrangeWhole({ own, shared, deletedChains }: SyncWrites): Batch[] {
  const edits = (writes: readonly ChainWrite[]) =>
    writes.flatMap((write) => planSteps(write, Number.POSITIVE_INFINITY).flat())
  return [
    { table: 'filter', edits: edits(shared.filter(({ table }) => table === 'filter')) },
    {
      table: 'nat',
      edits: [
        ...edits([...own.flatMap(({ writes }) => writes), ...shared.filter(({ table }) => table === 'nat')]),
        ...deleteSteps(deletedChains).flat(),
      ],
    },
  ]
}

function arrangeInParts({ own, shared, deletedChains }: SyncWrites, limit: number): Batch[] {
  const steps = (writes: readonly ChainWrite[]) => writes.flatMap((write) => planSteps(write, limit))
  const inNat = shared.filter(({ table }) => table === 'nat')
  const targets = inNat.filter(({ chain }) => chain === chains.markMasq || chain === chains.postrouting)
  const dispatch = inNat.filter((write) => !targets.includes(write))
  const ownWrites = own.flatMap(({ writes }) => writes)
  const known = (write: ChainWrite) => typeof write.before !== 'string'
  return [
    ...pack('nat', steps(targets), limit),
    ...pack('nat', steps(ownWrites.filter(isNew)), limit),
    ...pack('filter', steps(shared.filter(({ table }) => table === 'filter')), limit),
    ...pack('nat', switchSteps(own, dispatch.filter(known), limit), limit),
    ...pack('nat', steps(dispatch.filter((write) => !known(write))), limit),
    ...pack('nat', deleteSteps(deletedChains), limit),
  ]
}

function isNew({ before }: ChainWrite): boolean {
  return before === 'absent'
}

/**
 * Service port by Service port: the own chains that change together with the lines that lead there. Last port
 * first, since the lines of a long chain are edited from its end.
 */
function switchSteps(own: SyncWrites['own'], dispatch: readonly ChainWrite[], limit: number): Step[] {
  const byPort = new Map<string, ChainEdit[][]>()
  const add = (port: string, step: ChainEdit[]) => {
    const steps = byPort.get(port)
    if (steps) steps.push(step)
    else byPort.set(port, [step])
  }
  for (const { port, writes } of own)
    for (const write of writes)
      if (!isNew(write))
        for (const step of planSteps(write, limit))
          add(`${port.plan.port.name} ${port.plan.port.protocol}`, [...step])
  for (const write of dispatch)
    for (const step of planSteps(write, limit, 0)) if (step[0]) add(portOf(step[0]), [...step])
  const ports = [...byPort.keys()].sort((a, b) => (a === '' || (b !== '' && a > b) ? -1 : 1))
  return ports.flatMap((port) => {
    const steps = byPort.get(port) ?? []
    const together = steps.flat()
    return costOf(together) <= limit ? [together] : steps
  })
}

/** Each chain emptied and removed, those that jump to others ahead of these. */
function deleteSteps(deletedChains: SyncWrites['deletedChains']): Step[] {
  const rank = (chain: string) => jumpOrder.findIndex((prefix) => chain.startsWith(prefix))
  return [...deletedChains]
    .sort((a, b) => rank(a) - rank(b))
    .map((chain) => [
      { kind: 'open', chain },
      { kind: 'remove', chain },
    ])
}

const jumpOrder = ['KUBE-FW-', 'KUBE-EXT-', 'KUBE-SVC-', 'KUBE-SVL-', 'KUBE-SEP-']

/** As few transactions as the limit allows, steps whole and in order. */
function pack(table: Batch['table'], steps: readonly Step[], limit: number): Batch[] {
  const batches: { table: Batch['table']; edits: ChainEdit[] }[] = []
  let room = 0
  for (const step of steps) {
    const cost = costOf(step)
    const last = batches.at(-1)
    if (last && cost <= room) last.edits.push(...step)
    else {
      batches.push({ table, edits: [...step] })
      room = limit
    }
    room -= cost
  }
  return batches
}

/** A text for each transaction of nat, with that of filter ahead of it where both change. */
function formatTexts(batches: readonly Batch[]): string[] {
  const texts: string[] = []
  let filter = ''
  for (const batch of batches) {
    if (batch.edits.length === 0) continue
    const text = filter + formatBatch(batch)
    filter = batch.table === 'filter' ? text : ''
    if (batch.table === 'nat') texts.push(text)
  }
  if (filter !== '') texts.push(filter)
  return texts
}

function formatBatch({ table, edits }: Batch): string {
  const opened: string[] = []
  const others: string[] = []
  for (const edit of edits) (edit.kind === 'open' ? opened : others).push(formatEdit(edit))
  return `${[`*${table}`, ...opened.sort(), ...others, 'COMMIT'].join('\n')}\n`
}

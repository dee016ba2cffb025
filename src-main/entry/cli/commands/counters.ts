import type { ChainListing } from '../../../contract/counter-messages.ts'
import { formatChainListing } from '../../../domain/iptables/format-listing.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { withLab } from '../lab-client.ts'
import { resolveTargets } from '../resolve-targets.ts'

export interface CountersOptions {
  readonly name: string
  readonly table?: string
  readonly lineNumbers?: boolean
  readonly exact?: boolean
  readonly watch?: boolean
  readonly output: 'text' | 'json'
}

const WATCH_INTERVAL_MS = 500

interface NodeCounters {
  readonly target: string
  readonly chains: readonly ChainListing[]
}

/** A word that is no target is a chain: `counters KUBE-SERVICES` looks at it on every node. */
const isTarget = (word: string): boolean => word === 'client' || word.includes('/')

export async function counters(
  first: string | undefined,
  second: string | undefined,
  options: CountersOptions,
): Promise<void> {
  const [target, chain] =
    first !== undefined && !isTarget(first) && second === undefined ? [undefined, first] : [first, second]
  await withLab(options.name, async (lab) => {
    const targets = await resolveTargets(lab, target)
    const read = async (): Promise<NodeCounters[]> => {
      const found: NodeCounters[] = []
      const missing: Error[] = []
      for (const each of targets)
        try {
          const { chains } = await lab.request('counters/read', {
            target: each,
            ...(options.table === undefined ? {} : { table: options.table }),
            ...(chain === undefined ? {} : { chain }),
          })
          found.push({ target: each, chains })
        } catch (error) {
          // A chain may exist on one node only; it is missing where no node has it.
          missing.push(error as Error)
        }
      if (found.length === 0 && missing[0]) throw missing[0]
      return found
    }
    const headings = targets.length > 1
    process.stdout.write(render(await read(), options, headings))
    if (!options.watch) return
    if (options.output === 'json' && !process.stdout.writable)
      throw new CommandFailure(EXIT.failed, 'nobody reads')
    let shown = ''
    for (;;) {
      const text = render(await read(), options, headings)
      if (text !== shown && shown !== '')
        process.stdout.write(process.stdout.isTTY ? `\u001b[H\u001b[2J${text}` : `\n${text}`)
      shown = text
      await new Promise((resolve) => {
        setTimeout(resolve, WATCH_INTERVAL_MS)
      })
    }
  })
}

function render(found: readonly NodeCounters[], options: CountersOptions, headings: boolean): string {
  if (options.output === 'json') return `${JSON.stringify(found, null, 2)}\n`
  return found
    .map(({ target, chains }) => {
      const heading = headings ? `${target}\n\n` : ''
      return heading + renderTables(chains, options)
    })
    .join('\n')
}

function renderTables(chains: readonly ChainListing[], options: CountersOptions): string {
  if (chains.length === 0) return 'no rules\n'
  const tables = [...new Set(chains.map(({ table }) => table))]
  return tables
    .map((table) => {
      const title = options.table === undefined && tables.length > 1 ? `Table ${table}\n\n` : ''
      const listings = chains
        .filter((chain) => chain.table === table)
        .map((listing) =>
          formatChainListing(fromWire(listing), {
            lineNumbers: options.lineNumbers === true,
            exact: options.exact === true,
          }),
        )
      return title + listings.join('\n')
    })
    .join('\n')
}

function fromWire({ chain, policy, counters: own, references, rules }: ChainListing) {
  const numbers = (wire: { packets: string; bytes: string } | undefined) => ({
    packets: BigInt(wire?.packets ?? 0),
    bytes: BigInt(wire?.bytes ?? 0),
  })
  return {
    name: chain,
    ...(policy === undefined ? {} : { policy }),
    counters: numbers(own),
    references,
    rules: rules.map(({ text, counters: each }) => ({ text, counters: numbers(each) })),
  }
}

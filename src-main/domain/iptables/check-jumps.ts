import { type ChainName, type RuleSet, rulesByChain, type Table, type TableName } from './rule-set.ts'
import { targetOf } from './rule-spec.ts'

export type Hook = 'PREROUTING' | 'INPUT' | 'FORWARD' | 'OUTPUT' | 'POSTROUTING'

/** In the order in which a packet can meet them. */
export const HOOKS: readonly Hook[] = ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING']

/** By priority: raw -300, mangle -150, nat -100 (dstnat), filter 0, security 50, nat 100 (srcnat). */
const TABLES_AT: Readonly<Record<Hook, readonly TableName[]>> = {
  PREROUTING: ['raw', 'mangle', 'nat'],
  INPUT: ['mangle', 'filter', 'security', 'nat'],
  FORWARD: ['mangle', 'filter', 'security'],
  OUTPUT: ['raw', 'mangle', 'nat', 'filter', 'security'],
  POSTROUTING: ['mangle', 'nat'],
}

/** The tables whose built-in chain the kernel asks at a hook, in its order. */
export function tablesAt(hook: Hook): readonly TableName[] {
  return TABLES_AT[hook]
}

/** The built-in chains of a table, in hook order; none for a table that the kernel does not know. */
export function builtinChains(table: string): readonly Hook[] {
  return HOOKS.filter((hook) => TABLES_AT[hook].some((name) => name === table))
}

export interface JumpProblem {
  readonly severity: 'error' | 'warning'
  readonly kind: 'missing-target' | 'builtin-target' | 'goto-extension' | 'loop' | 'unreachable'
  readonly table: string
  readonly chain: ChainName
  /** From 1 within its chain; 0 where the chain as a whole is meant. */
  readonly rule: number
  readonly message: string
}

const VERDICTS: ReadonlySet<string> = new Set(['ACCEPT', 'DROP', 'RETURN', 'QUEUE'])

/** Targets that the kernel's modules bring; anything else must be a chain of the table. */
export const EXTENSION_TARGETS: ReadonlySet<string> = new Set(
  (
    'AUDIT CHECKSUM CLASSIFY CLUSTERIP CONNMARK CONNSECMARK CT DNAT DNPT DSCP ECN HL HMARK IDLETIMER LED LOG MARK ' +
    'MASQUERADE NETMAP NFLOG NFQUEUE NOTRACK RATEEST REDIRECT REJECT SECMARK SET SNAT SNPT SYNPROXY TCPMSS ' +
    'TCPOPTSTRIP TEE TOS TPROXY TRACE TTL ULOG'
  ).split(' '),
)

/** An extension of the kernel or one of iptables' own verdicts, not a chain. */
export function isBuiltinTarget(name: string): boolean {
  return VERDICTS.has(name) || EXTENSION_TARGETS.has(name)
}

interface Jump {
  readonly to: string
  readonly rule: number
}

/** Whether every jump leads somewhere, none leads round in a loop, and every chain can be reached. */
export function checkJumps(ruleSet: RuleSet): JumpProblem[] {
  return ruleSet.tables.flatMap(checkTable)
}

function checkTable(table: Table): JumpProblem[] {
  const problems: JumpProblem[] = []
  const builtins: ReadonlySet<string> = new Set(
    table.chains
      .filter(({ name, policy }) => policy !== undefined || isHookOf(table, name))
      .map(({ name }) => name),
  )
  const declared = new Set<string>(table.chains.map(({ name }) => name))
  const jumps = new Map<ChainName, Jump[]>()
  for (const [chain, rules] of rulesByChain(table)) {
    const outgoing: Jump[] = []
    jumps.set(chain, outgoing)
    rules.forEach((rule, index) => {
      const target = targetOf(rule)
      if (!target) return
      const tell = (kind: JumpProblem['kind'], message: string): void => {
        problems.push({ severity: 'error', kind, table: table.name, chain, rule: index + 1, message })
      }
      // A chain may bear an extension's name only where the kernel lacks it, so the chain wins.
      if (declared.has(target.name)) {
        if (builtins.has(target.name))
          tell('builtin-target', `${target.name} is a built-in chain: no rule may jump to it`)
        else outgoing.push({ to: target.name, rule: index + 1 })
      } else if (!isBuiltinTarget(target.name))
        tell('missing-target', `table ${table.name} has no chain ${target.name}, and no target has that name`)
      else if (target.goto) tell('goto-extension', `-g leads to chains only, and ${target.name} is a target`)
    })
  }
  problems.push(...findLoops(table, jumps), ...findUnreachable(table, builtins, jumps))
  return problems
}

function isHookOf(table: Table, chain: string): boolean {
  return builtinChains(table.name).some((hook) => hook === chain)
}

/** Depth first with a stack of its own: a chain of 100,000 jumps must not overflow ours. */
function findLoops(table: Table, jumps: ReadonlyMap<string, readonly Jump[]>): JumpProblem[] {
  const problems: JumpProblem[] = []
  const done = new Set<string>()
  for (const { name: start } of table.chains) {
    if (done.has(start)) continue
    const path: { chain: ChainName; next: number }[] = [{ chain: start, next: 0 }]
    const onPath = new Set<string>([start])
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const jump = jumps.get(top.chain)?.[top.next++]
      if (!jump) {
        done.add(top.chain)
        onPath.delete(top.chain)
        path.pop()
      } else if (onPath.has(jump.to)) {
        const round = path.slice(path.findIndex(({ chain }) => chain === jump.to)).map(({ chain }) => chain)
        problems.push({
          severity: 'error',
          kind: 'loop',
          table: table.name,
          chain: top.chain,
          rule: jump.rule,
          message: `this jump closes a loop: ${[...round, jump.to].join(' → ')}`,
        })
      } else if (!done.has(jump.to)) {
        onPath.add(jump.to)
        path.push({ chain: jump.to as ChainName, next: 0 })
      }
    }
  }
  return problems
}

function findUnreachable(
  table: Table,
  builtins: ReadonlySet<string>,
  jumps: ReadonlyMap<string, readonly Jump[]>,
): JumpProblem[] {
  const reached = new Set<string>(builtins)
  // A Set hands out what is added while it is walked.
  for (const chain of reached) for (const { to } of jumps.get(chain) ?? []) reached.add(to)
  return table.chains
    .filter(({ name }) => !reached.has(name))
    .map(({ name }) => ({
      severity: 'warning',
      kind: 'unreachable',
      table: table.name,
      chain: name,
      rule: 0,
      message: `no packet reaches chain ${name}: no built-in chain leads to it`,
    }))
}

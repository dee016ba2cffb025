import { parseSave } from '../../src-main/domain/iptables/parse-save.ts'
import type { Table } from '../../src-main/domain/iptables/rule-set.ts'
import { targetOf } from '../../src-main/domain/iptables/rule-spec.ts'
import type { TextProblem } from '../../src-main/domain/iptables/text-problem.ts'

/**
 * Where everything stands in an iptables-save text. 100,000 rules as objects are slow to hand from a worker to the
 * page; these lists of offsets move for nothing, and the page reads a line only when it shows it. Rules and chains
 * are counted from 0 within their table; a chain's rules follow each other, in evaluation order.
 */
export interface TableIndex {
  readonly name: string
  /** One a line, in the order of the text. */
  readonly chainNames: string
  /** Where the line of each chain begins. */
  readonly chainLine: Int32Array
  /** The first rule of each chain, and behind the last chain the number of all rules. */
  readonly firstRule: Int32Array
  readonly chainOf: Int32Array
  /** Where each rule's line begins, where its `-A` stands behind any counters, and where it ends. */
  readonly line: Int32Array
  readonly body: Int32Array
  readonly end: Int32Array
  /** The chain of this table that a rule jumps or goes to, or -1. */
  readonly jump: Int32Array
  /** As firstRule, for `referrers`: the rules that lead to a chain. */
  readonly firstReferrer: Int32Array
  readonly referrers: Int32Array
  /** The rules in the order of the text. */
  readonly inText: Int32Array
  /** Characters of the longest rule line. */
  readonly longest: number
}

export interface RuleIndex {
  readonly tables: readonly TableIndex[]
  /** With an error among them there are no tables. */
  readonly problems: readonly TextProblem[]
}

export function indexRules(text: string): RuleIndex {
  const { ruleSet, problems } = parseSave(text)
  if (!ruleSet) return { tables: [], problems }
  const lines = new LineReader(text)
  return { tables: ruleSet.tables.map((table) => indexTable(table, lines)), problems }
}

/** What a worker may hand over instead of copying. */
export function buffersOf(index: RuleIndex): ArrayBuffer[] {
  return index.tables.flatMap((table) =>
    Object.values(table).flatMap((value) =>
      value instanceof Int32Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : [],
    ),
  )
}

/** The chain and rule lines of a text that parseSave has taken, one after the other. */
class LineReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  next(): { from: number; to: number } {
    for (;;) {
      const from = this.#at
      const newline = this.#text.indexOf('\n', from)
      const to = newline === -1 ? this.#text.length : newline
      this.#at = to + 1
      const first = this.#text.charAt(from)
      if (first === ':' || first === '-' || first === '[' || from >= this.#text.length) return { from, to }
    }
  }

  bodyOf(from: number): number {
    return this.#text.charAt(from) === '[' ? this.#text.indexOf(' ', from) + 1 : from
  }
}

function indexTable({ name, chains, rules }: Table, lines: LineReader): TableIndex {
  const chainLine = Int32Array.from(chains, () => lines.next().from)
  const chainAt = new Map<string, number>(chains.map((chain, at) => [chain.name, at]))
  const owners = Int32Array.from(rules, ({ chain }) => chainAt.get(chain) ?? 0)
  const firstRule = startsOf(owners, chains.length)
  const next = firstRule.slice()
  const [chainOf, line, body, end, jump, inText] = Array.from(
    { length: 6 },
    () => new Int32Array(rules.length),
  ) as [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array]
  let longest = 0
  rules.forEach((rule, at) => {
    const owner = owners[at] ?? 0
    const id = next[owner] ?? 0
    next[owner] = id + 1
    const { from, to } = lines.next()
    const target = targetOf(rule)
    chainOf[id] = owner
    line[id] = from
    body[id] = lines.bodyOf(from)
    end[id] = to
    jump[id] = target ? (chainAt.get(target.name) ?? -1) : -1
    inText[at] = id
    longest = Math.max(longest, to - (body[id] ?? 0))
  })
  const firstReferrer = startsOf(
    jump.filter((chain) => chain >= 0),
    chains.length,
  )
  const referrers = new Int32Array(firstReferrer[chains.length] ?? 0)
  const nextReferrer = firstReferrer.slice()
  jump.forEach((chain, id) => {
    if (chain < 0) return
    const place = nextReferrer[chain] ?? 0
    nextReferrer[chain] = place + 1
    referrers[place] = id
  })
  const chainNames = chains.map((chain) => chain.name).join('\n')
  return {
    name,
    chainNames,
    chainLine,
    firstRule,
    chainOf,
    line,
    body,
    end,
    jump,
    firstReferrer,
    referrers,
    inText,
    longest,
  }
}

/** Where the items of each owner begin once they are sorted by owner. */
function startsOf(owners: Int32Array, count: number): Int32Array {
  const starts = new Int32Array(count + 1)
  for (const owner of owners) starts[owner + 1] = (starts[owner + 1] ?? 0) + 1
  for (let at = 1; at <= count; at += 1) starts[at] = (starts[at] ?? 0) + (starts[at - 1] ?? 0)
  return starts
}

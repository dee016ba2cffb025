import { setTimeout } from 'node:timers/promises'
import { LabError } from '../contract/errors.ts'
import type { NodeRuleDiff, RuleSetVersion } from '../contract/lab-contract.ts'
import { diffRuleSets, formatDiff } from '../domain/iptables/diff-rule-sets.ts'
import type { RuleSet } from '../domain/iptables/rule-set.ts'
import { countChanges } from './count-changes.ts'
import type { RuleReader } from './rule-reader.ts'

const EMPTY: RuleSet = { tables: [] }
/** So many versions of a node, and rules in all of them together, are kept; the oldest go. */
const KEPT_VERSIONS = 50
const KEPT_RULES = 100_000
/** Rule sets larger than this are not kept whole, version after version. */
const MAX_KEPT_RULES = 20_000
/** A version that nobody waits for is read after so long: whoever made the change gets the answer first. */
const READ_LATER_MS = 200
/** So long a change waits for the reading of the last one. */
const WAIT_MS = 200

interface Version extends RuleSetVersion {
  readonly ruleSet: RuleSet
}

/**
 * What each node's rules were after each change. Read from the kernel when a version is noted or asked for, so
 * that changes typed by hand show up as versions, too.
 */
export class RuleHistory {
  readonly #readerOf: (node: string) => RuleReader
  readonly #versions: ReadonlyMap<string, Version[]>
  /** One reading after another. */
  #last: Promise<unknown> = Promise.resolve()
  /** Ends the pause before a reading. */
  #hurry: () => void = () => undefined

  constructor(nodes: readonly string[], readerOf: (node: string) => RuleReader) {
    this.#readerOf = readerOf
    this.#versions = new Map(nodes.map((node) => [node, []]))
  }

  /** Keeps what these nodes' kernels hold now; the next change awaits `beforeChange` first. */
  note(nodes: readonly string[], cause: string): void {
    const asked = new Promise<void>((resolve) => {
      this.#hurry = resolve
    })
    const pause = Promise.race([asked, setTimeout(READ_LATER_MS)])
    // A reading that failed is told to whoever asks next; it keeps no later one from being made.
    this.#last = Promise.all([pause, this.#last.catch(() => undefined)]).then(async () => {
      for (const node of nodes) await this.#read(node, cause)
    })
    this.#last.catch(() => undefined)
  }

  /** Reads what was noted before a change alters it; of a very large rule set the change does not wait for the end. */
  async beforeChange(): Promise<void> {
    await Promise.race([this.#settled().catch(() => undefined), setTimeout(WAIT_MS)])
  }

  async #settled(): Promise<void> {
    this.#hurry()
    await this.#last
  }

  /** Oldest first. A change since the last version becomes one of its own, made "by hand". */
  async versions(node: string): Promise<readonly RuleSetVersion[]> {
    await this.#settled()
    await this.#read(node, 'changed by hand on the node')
    return this.#of(node).map(({ ruleSet: _, ...version }) => version)
  }

  async diff(node: string, from: number, to: number): Promise<NodeRuleDiff> {
    await this.#settled()
    const changes = diffRuleSets(this.#version(node, from).ruleSet, this.#version(node, to).ruleSet)
    return { node, ...countChanges(changes), text: formatDiff(changes) }
  }

  async #read(node: string, cause: string): Promise<void> {
    const versions = this.#of(node)
    const before = versions.at(-1)
    const ruleSet = await this.#readerOf(node).ruleSet()
    if (before?.ruleSet === ruleSet) return
    if (countRules(ruleSet) > MAX_KEPT_RULES) return
    const changes = diffRuleSets(before?.ruleSet ?? EMPTY, ruleSet)
    if (before && changes.length === 0) return
    versions.push({
      node,
      version: (before?.version ?? 0) + 1,
      time: new Date().toISOString(),
      cause,
      ...countChanges(changes),
      ruleSet,
    })
    while (versions.length > KEPT_VERSIONS || (versions.length > 1 && sumRules(versions) > KEPT_RULES))
      versions.shift()
  }

  #of(node: string): Version[] {
    const versions = this.#versions.get(node)
    if (!versions) throw new LabError('not-found', `there is no node ${node}`)
    return versions
  }

  #version(node: string, version: number): Version {
    const found = this.#of(node).find((candidate) => candidate.version === version)
    if (!found) throw new LabError('not-found', `node ${node} has no version ${version} of its rules`)
    return found
  }
}

const countRules = ({ tables }: RuleSet): number => tables.reduce((sum, { rules }) => sum + rules.length, 0)

const sumRules = (versions: readonly Version[]): number =>
  versions.reduce((sum, { ruleSet }) => sum + countRules(ruleSet), 0)

import type { ChainOrigin, RulePlace } from '../../../src-main/contract/lab-contract.ts'
import { indexRules } from '../../../src-renderer/rules/rule-index.ts'
import { RulesModel } from '../../../src-renderer/rules/rules-model.ts'
import { goldenSaves } from '../../domain/iptables/corpus.ts'

/** What the real kube-proxy left in a kernel, by the file of the case; but for those of thousands of rules. */
export const goldens = goldenSaves
  .filter(({ text }) => text.length < 100_000)
  .map(({ title, text }) => [title, text] as const)

/** For what is asked of 100,000 rules, on machines that do other things, too. */
export const LARGE_MS = 60_000

export function golden(name: string): string {
  const found = goldens.find(([known]) => known.includes(name))
  if (!found) throw new Error(`no golden is named ${name}`)
  return found[1]
}

export interface Told {
  readonly origins?: Readonly<Record<string, ChainOrigin>>
  readonly handMade?: readonly RulePlace[]
  readonly missing?: readonly RulePlace[]
}

export function modelOf(text: string, { origins = {}, handMade = [], missing = [] }: Told = {}): RulesModel {
  return new RulesModel({ target: 'node/worker1', text, origins, handMade, missing }, indexRules(text))
}

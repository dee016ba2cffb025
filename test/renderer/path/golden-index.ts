import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RulePlace } from '../../../src-main/contract/lab-contract.ts'
import { parseSave } from '../../../src-main/domain/iptables/parse-save.ts'
import type { RuleSet } from '../../../src-main/domain/iptables/rule-set.ts'
import { ChainIndex, type PictureRules } from '../../../src-renderer/path/chain-index.ts'

const GOLDEN = fileURLToPath(new URL('../../golden', import.meta.url))

/** `031-…/expected.save` and `073-…/expected.ip6.save`. */
export const goldenNames: readonly string[] = readdirSync(GOLDEN)
  .flatMap((name) => [`${name}/expected.save`, `${name}/expected.ip6.save`])
  .filter((name) => existsSync(join(GOLDEN, name)))

/** The IPv4 text of a case, or any text by its full name. */
export function goldenText(name: string): string {
  return readFileSync(join(GOLDEN, name.includes('/') ? name : `${name}/expected.save`), 'utf8')
}

export function readSave(text: string): RuleSet {
  const { ruleSet, problems } = parseSave(text)
  if (!ruleSet) throw new Error(problems[0]?.message)
  return ruleSet
}

export function indexOf(ruleSet: RuleSet, rules: Partial<PictureRules> = {}): ChainIndex {
  return new ChainIndex(ruleSet, { origins: {}, handMade: [], missing: [], ...rules })
}

/** The rule at a place, or undefined. */
export function ruleAt(
  ruleSet: RuleSet,
  { table, chain, number }: Omit<RulePlace, 'text'>,
): string | undefined {
  const rules = ruleSet.tables.find(({ name }) => name === table)?.rules
  return rules?.filter((rule) => rule.chain === chain)[number - 1]?.text
}

/** A node with so many Services of five endpoints each. */
export function manyServices(count: number): string {
  const chains: string[] = []
  const dispatch: string[] = []
  const rules: string[] = []
  for (let at = 0; at < count; at += 1) {
    const service = `KUBE-SVC-${String(at).padStart(16, 'A')}`
    const ip = `10.${100 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`
    chains.push(`:${service} - [0:0]`)
    dispatch.push(
      `-A KUBE-SERVICES -d ${ip}/32 -p tcp -m comment --comment "team-${at % 7}/web-${at}:http cluster IP" -m tcp --dport 80 -j ${service}`,
    )
    for (let each = 0; each < 5; each += 1) {
      const endpoint = `KUBE-SEP-${`${at}E${each}`.padStart(16, 'B')}`
      const chance =
        each < 4 ? `-m statistic --mode random --probability ${(1 / (5 - each)).toFixed(11)} ` : ''
      chains.push(`:${endpoint} - [0:0]`)
      rules.push(
        `-A ${service} ${chance}-j ${endpoint}`,
        `-A ${endpoint} -s 10.244.1.${each}/32 -j KUBE-MARK-MASQ`,
        `-A ${endpoint} -p tcp -m tcp -j DNAT --to-destination 10.244.1.${each}:8080`,
      )
    }
  }
  return [
    '*nat',
    ':PREROUTING ACCEPT [0:0]',
    ':KUBE-MARK-MASQ - [0:0]',
    ':KUBE-SERVICES - [0:0]',
    ...chains,
    '-A PREROUTING -j KUBE-SERVICES',
    ...dispatch,
    ...rules,
    'COMMIT',
    '',
  ].join('\n')
}

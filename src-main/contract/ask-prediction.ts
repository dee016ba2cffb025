import { parseSave } from '../domain/iptables/parse-save.ts'
import type { RuleSet } from '../domain/iptables/rule-set.ts'
import { destinationOf } from '../domain/trace/command-packet.ts'
import { type LabPicture, type Prediction, predictWays } from '../domain/trace/predict-ways.ts'
import type { TargetId } from './lab-contract.ts'
import type { LabConnection } from './rpc.ts'

/** What a client knows of the lab already. */
export type KnownLab = Omit<LabPicture, 'links' | 'ruleSets'>

/**
 * The ways of a command's first packet, from the rules and links as they are now; nothing is run. `problem`: the
 * command does not tell what its packets are.
 */
export async function askPrediction(
  connection: LabConnection,
  known: KnownLab,
  { target, command }: { readonly target: TargetId; readonly command: string },
): Promise<Prediction | { readonly problem: string }> {
  const [kind, namespace = 'default'] = target.split('/')
  const to = destinationOf(command, known.services, kind === 'pod' ? namespace : 'default')
  if ('problem' in to) return to
  const [{ links }, ...rules] = await Promise.all([
    connection.request('topology/read', {}),
    ...known.status.nodes.map(({ name }) => connection.request('rules/read', { target: `node/${name}` })),
  ])
  const ruleSets = new Map<string, RuleSet>()
  for (const { target: node, text } of rules) {
    const { ruleSet } = parseSave(text)
    if (ruleSet) ruleSets.set(node.slice('node/'.length), ruleSet)
  }
  return predictWays({ ...known, links, ruleSets }, target, to)
}

import { readFileSync } from 'node:fs'
import { formatSave } from '../../../domain/kube-proxy/format-save.ts'
import { applyEntryJumps, applyRestore, emptyTables } from '../../../domain/kube-proxy/kernel-tables.ts'
import { defaultNodeConfig, parseNodeConfig } from '../../../domain/kube-proxy/node-config.ts'
import { formatRestore, restoreBlocks } from '../../../domain/kube-proxy/restore.ts'
import { planSync } from '../../../domain/kube-proxy/sync.ts'
import { appliedObjects } from '../../../domain/kubernetes/cluster.ts'
import { createClusterFromManifests } from '../../../domain/kubernetes/cluster-from-manifests.ts'
import { listObjects } from '../../../domain/kubernetes/cluster-objects.ts'
import type { IpFamily } from '../../../domain/kubernetes/objects.ts'
import { parseManifests } from '../../../domain/kubernetes/parse-manifests.ts'
import { formatProblem, type Problem } from '../../../domain/kubernetes/problem.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { readManifests } from '../read-manifests.ts'

export interface RulesOptions {
  readonly file: readonly string[]
  readonly node?: string
  readonly config?: string
  readonly family: 'ipv4' | 'ipv6'
  readonly format: 'restore' | 'save'
}

/** Prints one node's rules for manifests. Touches no kernel. */
export function rules(options: RulesOptions): void {
  for (const block of rulesText(options)) process.stdout.write(block)
}

function rulesText(options: RulesOptions): Iterable<string> {
  const given = options.config === undefined ? undefined : readConfig(options.config)
  const files = readManifests(options.file)
  const parsed = files.map(({ file, text }) => parseManifests(file, text))
  tell(parsed.flatMap(({ problems }) => problems))
  const items = parsed.flatMap(appliedObjects)
  const { cluster, problems } = createClusterFromManifests(items, new Date(0).toISOString(), {
    ...(given && given.serviceCIDRs.length > 0 ? { serviceCIDRs: given.serviceCIDRs } : {}),
  })
  tell(problems)
  const names = cluster.config.nodes.map(({ name }) => name)
  const nodeName =
    options.node ??
    given?.nodeName ??
    cluster.config.nodes.find(({ role }) => role === 'worker')?.name ??
    names[0] ??
    ''
  const place = cluster.config.nodes.find(({ name }) => name === nodeName)
  if (!place && !given)
    throw new CommandFailure(EXIT.usage, `there is no node "${nodeName}"; there is ${names.join(', ')}`)
  const config =
    given ?? defaultNodeConfig(place ?? { name: nodeName, internalIP: '', podCIDRs: [] }, cluster.config)
  const family: IpFamily = options.family === 'ipv6' ? 'IPv6' : 'IPv4'
  const plan = planSync(
    undefined,
    {
      services: listObjects(cluster, 'Service'),
      endpointSlices: listObjects(cluster, 'EndpointSlice'),
      node: listObjects(cluster, 'Node').find(({ metadata }) => metadata.name === nodeName),
      config: options.node === undefined ? config : { ...config, nodeName: options.node },
      family,
    },
    { nowMs: 0 },
  )
  if (options.format === 'restore') return restoreBlocks(plan.restore)
  const tables = applyRestore(applyEntryJumps(emptyTables, plan.entryJumps), formatRestore(plan.restore))
  return [formatSave(tables, family)]
}

/** Warnings go to stderr; errors end the command with all of them. */
function tell(problems: readonly Problem[]): void {
  const errors = problems.filter(({ severity }) => severity === 'error')
  for (const problem of problems)
    if (problem.severity === 'warning') console.error(`warning: ${formatProblem(problem)}`)
  if (errors.length > 0) throw new CommandFailure(EXIT.usage, errors.map(formatProblem).join('\n'))
}

function readConfig(path: string) {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `${path}: ${(error as Error).message}`)
  }
  const { config, problems } = parseNodeConfig(text)
  if (!config)
    throw new CommandFailure(EXIT.usage, problems.map((problem) => `${path}: ${problem}`).join('\n'))
  return config
}

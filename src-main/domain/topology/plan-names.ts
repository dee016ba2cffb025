import type { Pod, Service } from '../kubernetes/objects.ts'
import { CLIENT_ADDRESS, type NodePlace } from './plan-network.ts'

/**
 * The text of the lab's /etc/hosts: nodes, the client, pods and Services by every name that cluster DNS would
 * know them by. Short names stand for the namespace default.
 */
export function formatHostsFile(
  nodes: readonly NodePlace[],
  services: Iterable<Service>,
  pods: Iterable<Pod>,
): string {
  const lines = ['127.0.0.1 localhost', `${CLIENT_ADDRESS} client`]
  for (const { address, name } of nodes) lines.push(`${address} ${name}`)
  for (const { metadata, spec } of services) {
    const [ip = ''] = spec.clusterIPs
    if (ip === '' || ip === 'None') continue
    const inNamespace = `${metadata.name}.${metadata.namespace}`
    const names = [
      ...(metadata.namespace === 'default' ? [metadata.name] : []),
      ...[inNamespace, `${inNamespace}.svc`, `${inNamespace}.svc.cluster.local`],
    ]
    lines.push(`${ip} ${names.join(' ')}`)
  }
  for (const { metadata, spec, status } of pods) {
    const [ip] = status.podIPs
    if (ip && !spec.hostNetwork) lines.push(`${ip} ${metadata.name}`)
  }
  return `${lines.join('\n')}\n`
}

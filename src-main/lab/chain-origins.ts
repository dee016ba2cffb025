import type { ChainOrigin } from '../contract/lab-contract.ts'
import { chains } from '../domain/kube-proxy/chain-names.ts'
import type { ProxierState } from '../domain/kube-proxy/sync.ts'

/** Of each chain that kube-proxy wrote on a node: the object that it serves, or that it is the node's own. */
export function originsOf(state: ProxierState): Record<string, ChainOrigin> {
  const origins: Record<string, ChainOrigin> = Object.fromEntries(
    Object.values(chains).map((chain) => [chain, { role: 'node' }]),
  )
  for (const { port, endpoints } of state.ports.map((each) => ({ ...each, port: each.plan.port }))) {
    const { namespace, service, portName, protocol } = port
    const of = { namespace, service, portName, protocol }
    origins[port.chains.cluster] = { role: 'cluster endpoints', ...of }
    origins[port.chains.local] = { role: 'local endpoints', ...of }
    origins[port.chains.external] = { role: 'external traffic', ...of }
    origins[port.chains.firewall] = { role: 'load balancer source ranges', ...of }
    for (const { chain, text } of endpoints) origins[chain] = { role: 'endpoint', ...of, endpoint: text }
  }
  return origins
}

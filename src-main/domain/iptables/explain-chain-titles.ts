/** What kube-proxy's shared chains are for, in a few words; undefined for any other chain. */
export function sharedChainTitle(chain: string, table: string): string | undefined {
  return TITLES[`${table} ${chain}`]
}

const TITLES: Readonly<Record<string, string>> = {
  'nat KUBE-SERVICES': 'find the Service',
  'nat KUBE-NODEPORTS': 'find the node port',
  'nat KUBE-MARK-MASQ': 'mark for masquerade',
  'nat KUBE-MARK-DROP': 'mark for discarding',
  'nat KUBE-POSTROUTING': 'masquerade what is marked',
  'filter KUBE-SERVICES': 'refuse Services without endpoints',
  'filter KUBE-EXTERNAL-SERVICES': 'refuse external addresses without endpoints',
  'filter KUBE-NODEPORTS': 'admit health checks',
  'filter KUBE-FORWARD': 'admit forwarded Service traffic',
  'filter KUBE-FIREWALL': 'protect loopback addresses',
  'filter KUBE-PROXY-FIREWALL': 'keep source ranges of load balancers',
}

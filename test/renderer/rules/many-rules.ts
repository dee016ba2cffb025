/** An iptables-save text of a node with so many Services of three endpoints: ten rules each, and five more. */
export function manyRules(services: number, { counted = true } = {}): string {
  const id = (service: number, end = 0): string =>
    `${String(service).padStart(6, '0')}${String(end).padStart(10, 'A')}`
  const count = counted ? '[3:180] ' : ''
  const chains: string[] = []
  const dispatch: string[] = []
  const own: string[] = []
  for (let service = 0; service < services; service += 1) {
    const svc = `KUBE-SVC-${id(service)}`
    const name = `default/svc-${service}`
    const address = `10.96.${service >> 8}.${service & 255}`
    dispatch.push(
      `KUBE-SERVICES -d ${address}/32 -p tcp -m comment --comment "${name} cluster IP" -m tcp --dport 80 -j ${svc}`,
    )
    for (let end = 1; end <= 3; end += 1) {
      const sep = `KUBE-SEP-${id(service, end)}`
      const pod = `10.244.${end}.${service % 250}`
      const chance =
        end === 3 ? '' : ` -m statistic --mode random --probability ${(1 / (4 - end)).toFixed(11)}`
      chains.push(sep)
      own.push(`${svc} -m comment --comment "${name} -> ${pod}:80"${chance} -j ${sep}`)
      own.push(`${sep} -s ${pod}/32 -m comment --comment "${name}" -j KUBE-MARK-MASQ`)
      own.push(`${sep} -p tcp -m comment --comment "${name}" -m tcp -j DNAT --to-destination ${pod}:80`)
    }
    chains.push(svc)
  }
  return [
    '*nat',
    ':PREROUTING ACCEPT [5:300]',
    ':OUTPUT ACCEPT [0:0]',
    ...['KUBE-SERVICES', 'KUBE-MARK-MASQ', 'KUBE-POSTROUTING', ...chains].map((chain) => `:${chain} - [0:0]`),
    ...[
      'PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      'OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      'KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000',
      'KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN',
      'KUBE-POSTROUTING -j MASQUERADE --random-fully',
      ...dispatch,
      ...own,
    ].map((rule) => `${count}-A ${rule}`),
    'COMMIT',
    '',
  ].join('\n')
}

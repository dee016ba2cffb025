import { expect, test } from 'vitest'
import type { ChainOrigin } from '../../../src-main/contract/lab-contract.ts'
import { chainTitle, groupChains, serviceInComment } from '../../../src-renderer/rules/chain-groups.ts'
import { listChains } from '../../../src-renderer/rules/chain-items.ts'

const web = { namespace: 'default', service: 'web', portName: '', protocol: 'tcp' }
const dns = { namespace: 'kube-system', service: 'kube-dns', portName: 'dns', protocol: 'udp' }
const origins: Record<string, ChainOrigin> = {
  'KUBE-SERVICES': { role: 'node' },
  'KUBE-MARK-MASQ': { role: 'node' },
  'KUBE-SVC-W': { role: 'cluster endpoints', ...web },
  'KUBE-EXT-W': { role: 'external traffic', ...web },
  'KUBE-SEP-B': { role: 'endpoint', ...web, endpoint: '10.244.1.10:80' },
  'KUBE-SEP-A': { role: 'endpoint', ...web, endpoint: '10.244.1.7:80' },
  'KUBE-SVC-D': { role: 'cluster endpoints', ...dns },
}
const chains = [
  'KUBE-EXT-W',
  'KUBE-MARK-MASQ',
  'KUBE-SEP-B',
  'KUBE-SEP-A',
  'KUBE-SEP-OLD',
  'KUBE-SERVICES',
  'KUBE-SVC-D',
  'KUBE-SVC-W',
  'OUTPUT',
  'PREROUTING',
  'mine',
]

test('chains stand as a packet meets them, each Service with its own', () => {
  const groups = groupChains('nat', chains, origins)
  expect(groups.map(({ title, chains: names }) => [title, ...names])).toEqual([
    ['Built-in chains', 'PREROUTING', 'OUTPUT'],
    ['Shared by all Services', 'KUBE-SERVICES', 'KUBE-MARK-MASQ'],
    ['web', 'KUBE-EXT-W', 'KUBE-SVC-W', 'KUBE-SEP-A', 'KUBE-SEP-B'],
    ['kube-system/kube-dns', 'KUBE-SVC-D'],
    ['Of Services no longer here', 'KUBE-SEP-OLD'],
    ['Added by hand', 'mine'],
  ])
})

test('every chain is in one group', () => {
  const listed = groupChains('nat', chains, origins).flatMap((group) => group.chains)
  expect(listed.toSorted()).toEqual(chains.toSorted())
})

test.each([
  ['KUBE-SVC-W', 'web cluster IP'],
  ['KUBE-EXT-W', 'web from outside'],
  ['KUBE-SEP-A', 'endpoint 10.244.1.7:80'],
  ['KUBE-SVC-D', 'kube-system/kube-dns:dns cluster IP'],
  ['KUBE-SERVICES', 'find the Service'],
  ['mine', undefined],
  ['toString', undefined],
])('%s means %s', (chain, title) => {
  expect(chainTitle(origins, 'nat', chain)).toBe(title)
})

test.each([
  ['default/http-svc:web cluster IP', { namespace: 'default', name: 'http-svc' }],
  ['kube-system/kube-dns -> 10.0.0.1:53', { namespace: 'kube-system', name: 'kube-dns' }],
  ['default/http-svc has no endpoints', { namespace: 'default', name: 'http-svc' }],
  ['masquerade traffic for default/web external destinations', { namespace: 'default', name: 'web' }],
  ['kubernetes service portals', undefined],
  ['either/or, said somebody', undefined],
])('the comment "%s" names %o', (comment, service) => {
  expect(serviceInComment(comment)).toEqual(service)
})

test('the list keeps what fits the filter by name, meaning or Service, under its group', () => {
  const groups = groupChains('nat', chains, origins)
  const listed = (filter: string) =>
    listChains(groups, (chain) => chainTitle(origins, 'nat', chain), filter).map((item) =>
      item.kind === 'group' ? `# ${item.title}` : item.chain,
    )
  expect(listed('1.10')).toEqual(['# Service web', 'KUBE-SEP-B'])
  expect(listed('WEB')).toEqual(['# Service web', 'KUBE-EXT-W', 'KUBE-SVC-W', 'KUBE-SEP-A', 'KUBE-SEP-B'])
  expect(listed('mine')).toEqual(['# Added by hand', 'mine'])
  expect(listed('nothing of the kind')).toEqual([])
  expect(listed('')).toHaveLength(chains.length + groups.length)
})

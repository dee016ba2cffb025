import { describe, expect, it } from 'vitest'
import {
  endpointRows,
  portWords,
  requestCommand,
  serviceFacts,
  waysIn,
} from '../../../src-renderer/frame/service-words.ts'
import { sampleLab } from '../sample-lab.ts'

const http = sampleLab('http-server.yaml')
const balanced = sampleLab('load-balancer.yaml')
const dns = sampleLab('kube-dns.yaml')

function service(lab: typeof http, name: string) {
  const found = lab.services.find(({ metadata }) => metadata.name === name)
  if (!found) throw new Error(`no Service ${name}`)
  return found
}

const commands = (lab: typeof http, name: string, node = 'worker1') =>
  waysIn(service(lab, name), lab.status.nodes, node).map(({ from, command }) => `${from}: ${command}`)

describe('ways into a Service', () => {
  it('are its cluster IP and its name', () => {
    expect(commands(http, 'http-svc')).toEqual([
      'pod: curl http://10.107.38.142/',
      'pod: curl http://http-svc/',
    ])
  })

  it('are a port of the shown node, for the client', () => {
    expect(commands(http, 'http-svc-node-port', 'worker2')).toContain('client: curl http://172.18.0.4:32054/')
  })

  it('are the first node’s where the shown one is unknown', () => {
    expect(commands(http, 'http-svc-node-port', 'gone')).toContain('client: curl http://172.18.0.2:32054/')
  })

  it('are a load balancer’s address', () => {
    expect(commands(balanced, 'welcome')).toContain('client: curl http://172.18.255.200/')
  })

  it('carry the namespace where it is another than default, and speak UDP', () => {
    const found = commands(dns, 'kube-dns')
    expect(found).toContain('pod: curl http://kube-dns.kube-system:53/')
    expect(found).toContain('pod: (echo hello >&3; timeout 1 head -n 1 <&3) 3<>/dev/udp/10.96.0.10/53')
  })

  it('are none for a headless Service', () => {
    const plain = service(http, 'http-svc')
    const headless = { ...plain, spec: { ...plain.spec, clusterIPs: ['None'] } }
    expect(waysIn(headless, http.status.nodes, 'worker1')).toEqual([])
  })
})

describe('commands', () => {
  it('put IPv6 into brackets', () => {
    expect(requestCommand('fd00::1', 80, 'TCP')).toBe('curl http://[fd00::1]/')
    expect(requestCommand('fd00::1', 8080, 'TCP')).toBe('curl http://[fd00::1]:8080/')
  })

  it('are none for what no tool speaks', () => {
    expect(requestCommand('10.96.0.1', 80, 'SCTP')).toBeUndefined()
  })
})

describe('endpoints', () => {
  it('stand with address, node, pod and state', () => {
    expect(endpointRows(service(http, 'http-svc'), http.endpointSlices)).toEqual(
      http.pods.map(({ metadata: { namespace, name }, spec, status }) => ({
        address: `${status.podIPs[0]}:80`,
        node: spec.nodeName,
        pod: { namespace, name },
        state: 'ready',
      })),
    )
  })

  it('say what their conditions mean; absent ones mean ready', () => {
    const [slice] = http.endpointSlices
    if (!slice) throw new Error('no slice')
    const states = (conditions: object) =>
      endpointRows(service(http, slice.metadata.labels['kubernetes.io/service-name'] ?? ''), [
        { ...slice, endpoints: [{ addresses: ['10.244.1.7'], conditions }] },
      ]).map(({ state }) => state)
    expect(states({})).toEqual(['ready'])
    expect(states({ ready: false })).toEqual(['not ready'])
    expect(states({ ready: false, serving: true, terminating: true })).toEqual(['terminating, still serving'])
    expect(states({ ready: false, serving: false, terminating: true })).toEqual(['terminating'])
  })

  it('are another Service’s no more than another namespace’s', () => {
    const other = service(http, 'http-svc')
    const moved = { ...other, metadata: { ...other.metadata, namespace: 'elsewhere' } }
    expect(endpointRows(moved, http.endpointSlices)).toEqual([])
  })
})

describe('words', () => {
  it('say a port', () => {
    const port = { name: '', protocol: 'TCP', port: 80, targetPort: 80, nodePort: 0 } as const
    expect(portWords(port)).toBe('80/TCP')
    expect(portWords({ ...port, name: 'web', targetPort: 'http', nodePort: 30080 })).toBe(
      'web 80 → http/TCP, node port 30080',
    )
  })

  it('say only what is not as usual', () => {
    expect(serviceFacts(service(http, 'http-svc')).map(([label]) => label)).toEqual([
      'Cluster IP',
      'Namespace',
      'Selector',
    ])
    expect(serviceFacts(service(balanced, 'members-only'))).toContainEqual(['Allowed', '192.0.2.0/24'])
  })
})

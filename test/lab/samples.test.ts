import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab, whyNoLab } from './chainwalk.ts'

/** What a pod's server says of a request. */
interface Seen {
  readonly pod: string
  readonly node: string
  readonly peer: { readonly address: string }
  readonly local: { readonly address: string; readonly port: number }
}

const CLIENT_ADDRESS = '172.18.0.254'
/** curl's exit statuses. */
const REFUSED = 7
const TIMED_OUT = 28

describe.skipIf(whyNoLab())('sample manifests', () => {
  let lab: Lab
  const samples = [
    'kube-dns',
    'node-port-local',
    'session-affinity',
    'load-balancer',
    'no-endpoints',
    'multi-port',
  ]

  beforeAll(async () => {
    lab = await startLab({ files: samples.map((name) => `lab-scripts/manifests/${name}.yaml`) })
  })
  afterAll(() => lab?.down())

  const shell = (target: string, script: string) => lab.exec(target, 'bash', '-c', script)
  const curl = (target: string, url: string, seconds = 5) =>
    lab.exec(target, 'curl', '-s', '-m', String(seconds), '-H', 'accept: application/json', url)
  const answer = async (target: string, url: string): Promise<Seen> => {
    const { code, stdout, stderr } = await curl(target, url)
    if (code !== 0) throw new Error(`curl ${url} in ${target} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout) as Seen
  }
  /** Asks again and again within one command. */
  const answers = async (target: string, url: string, times: number): Promise<Seen[]> => {
    const { stdout } = await shell(target, `for i in {1..${times}}; do curl -s -m 5 ${url}json; done`)
    const seen = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Seen)
    expect(seen).toHaveLength(times)
    return seen
  }
  const rules = async (target: string, table: string): Promise<string[]> =>
    (await lab.exec(target, 'iptables', '-t', table, '-S')).stdout.split('\n')
  const packets = async (target: string, table: string, chain: string, comment: string): Promise<number> => {
    const { stdout } = await lab.exec(target, 'iptables', '-t', table, '-vnxL', chain)
    const line = stdout.split('\n').find((text) => text.includes(comment))
    if (!line) throw new Error(`${chain} has no rule with "${comment}":\n${stdout}`)
    return Number(line.trim().split(/\s+/)[0])
  }

  describe('kube-dns.yaml', () => {
    const echo = (address: string) =>
      `exec 3<>/dev/udp/${address}/53; echo "hello $$" >&3; timeout 2 head -n 1 <&3`

    test('UDP to 10.96.0.10:53 is echoed to a pod, to a node, and by name', async () => {
      for (const [target, address] of [
        ['node/control-plane', '10.96.0.10'],
        ['deployment/session', '10.96.0.10'],
        ['node/worker1', 'kube-dns.kube-system.svc.cluster.local'],
      ] as const)
        expect((await shell(target, echo(address))).stdout, target).toMatch(/^hello \d+\n$/)
    })

    test('TCP to the same address and port is answered by both pods in turn', async () => {
      const seen = await answers('node/worker1', 'http://10.96.0.10:53/', 20)
      expect(new Set(seen.map(({ pod }) => pod)).size).toBe(2)
      for (const { pod } of seen) expect(pod).toMatch(/^coredns-/)
    })

    test('each protocol is counted in a chain of its own', async () => {
      const count = (protocol: string) =>
        packets('node/worker2', 'nat', 'KUBE-SERVICES', `kube-system/kube-dns:${protocol} cluster IP`)
      const before = [await count('dns'), await count('dns-tcp')]
      await shell('node/worker2', `${echo('10.96.0.10')}; ${echo('10.96.0.10')}`)
      await answer('node/worker2', 'http://10.96.0.10:53/')
      const [udp = 0, tcp = 0] = before
      expect([await count('dns'), await count('dns-tcp')]).toEqual([udp + 2, tcp + 1])
    })
  })

  describe('node-port-local.yaml', () => {
    test("the pod's node answers, and the pod sees the client's own address", async () => {
      const seen = await answer('client', 'http://172.18.0.4:30081/')
      expect(seen).toMatchObject({ node: 'worker2', peer: { address: CLIENT_ADDRESS } })
    })

    test('every other node is silent, and counts what it drops', async () => {
      for (const [node, address] of [
        ['worker1', '172.18.0.3'],
        ['control-plane', '172.18.0.2'],
      ]) {
        const dropped = () =>
          packets(`node/${node}`, 'filter', 'KUBE-EXTERNAL-SERVICES', 'default/here has no local endpoints')
        const before = await dropped()
        expect((await curl('client', `http://${address}:30081/`, 2)).code, node).toBe(TIMED_OUT)
        expect(await dropped(), node).toBeGreaterThan(before + 1)
      }
    })

    test('from inside, that node leads to the pod all the same', async () => {
      expect((await answer('node/worker1', 'http://172.18.0.3:30081/')).node).toBe('worker2')
      expect((await answer('deployment/portal-old', 'http://172.18.0.3:30081/')).node).toBe('worker2')
    })

    test('with a second replica on the same node nothing changes', async () => {
      expect((await lab.run('scale', 'deployment/here', '--replicas', '2')).code).toBe(0)
      const seen = await answers('client', 'http://172.18.0.4:30081/', 20)
      expect(new Set(seen.map(({ pod }) => pod)).size).toBe(2)
      expect((await curl('client', 'http://172.18.0.3:30081/', 1)).code).toBe(TIMED_OUT)
    })
  })

  describe('session-affinity.yaml', () => {
    test('one client stays with one pod: 8 of 8', async () => {
      for (const target of ['node/worker1', 'node/worker2', 'deployment/portal-old']) {
        const seen = await answers(target, 'http://sticky/', 8)
        expect(new Set(seen.map(({ pod }) => pod)).size, target).toBe(1)
      }
    })

    test('without affinity the same pods take turns', async () => {
      const seen = await answers('node/worker1', 'http://spread/', 40)
      expect(new Set(seen.map(({ pod }) => pod)).size).toBe(3)
    })

    test('the choice is written down on the node that made it', async () => {
      const [seen] = await answers('node/control-plane', 'http://sticky/', 1)
      const chosen = (await rules('node/control-plane', 'nat'))
        .find(
          (rule) =>
            rule.includes(`"default/sticky -> ${seen?.local.address}:8080"`) && rule.includes('--rcheck'),
        )
        ?.match(/--seconds 60 .*--name (KUBE-SEP-\w+)/)
      const { stdout } = await shell('node/control-plane', 'grep -H . /proc/net/xt_recent/KUBE-SEP-*')
      expect(stdout.trim().split('\n')).toEqual([
        expect.stringMatching(`^/proc/net/xt_recent/${chosen?.[1]}:src=172\\.18\\.0\\.2 `),
      ])
    })
  })

  describe('load-balancer.yaml', () => {
    test('a client inside the source ranges is answered', async () => {
      expect((await answer('client', 'http://172.18.255.200/')).pod).toMatch(/^shop-/)
    })

    test('one outside them waits in vain; the verdict falls in KUBE-PROXY-FIREWALL', async () => {
      const { stdout } = await lab.exec('client', 'ip', 'route', 'get', '172.18.255.201')
      const node = { '172.18.0.3': 'node/worker1', '172.18.0.4': 'node/worker2' }[
        /via (\S+)/.exec(stdout)?.[1] ?? ''
      ]
      if (!node) throw new Error(`the client has no way to the address: ${stdout}`)
      const dropped = () =>
        packets(node, 'filter', 'KUBE-PROXY-FIREWALL', 'default/members-only traffic not accepted')
      const before = await dropped()
      expect((await curl('client', 'http://172.18.255.201/', 1)).code).toBe(TIMED_OUT)
      expect(await dropped()).toBeGreaterThan(before)
    })

    test('no interface has the address', async () => {
      for (const target of ['client', 'node/worker1', 'node/worker2'])
        expect((await lab.exec(target, 'ip', 'address')).stdout).not.toContain('172.18.255.')
    })

    test('its node port answers whoever asks', async () => {
      expect((await answer('client', 'http://172.18.0.3:30082/')).pod).toMatch(/^shop-/)
    })
  })

  describe('no-endpoints.yaml', () => {
    test('the ClusterIP and the node port are refused at once', async () => {
      for (const [target, url] of [
        ['node/worker1', 'http://store/'],
        ['deployment/store', 'http://store/'],
        ['client', 'http://172.18.0.3:30083/'],
      ] as const) {
        const { code, stdout } = await shell(target, `curl -s -m 5 -w '%{time_total}' ${url}; exit $?`)
        expect(code, target).toBe(REFUSED)
        expect(Number(stdout), target).toBeLessThan(0.5)
      }
    })

    test('there are REJECT rules for it in filter, and nothing in nat', async () => {
      const about = async (table: string) =>
        (await rules('node/worker1', table)).filter((rule) => rule.includes('default/store'))
      const filter = await about('filter')
      expect(filter).toHaveLength(2)
      for (const rule of filter) expect(rule).toMatch(/"default\/store has no endpoints" .*-j REJECT/)
      expect(await about('nat')).toEqual([])
    })

    test('with the right selector it answers', async () => {
      await lab.apply(`
apiVersion: v1
kind: Service
metadata: {name: store}
spec:
  type: NodePort
  selector: {app: store}
  ports: [{port: 80, targetPort: http, nodePort: 30083}]
`)
      expect((await answer('node/worker1', 'http://store/')).pod).toMatch(/^store-/)
      expect((await answer('client', 'http://172.18.0.3:30083/')).pod).toMatch(/^store-/)
    })
  })

  describe('multi-port.yaml', () => {
    test('a named target port is looked up in each pod', async () => {
      const seen = await answers('node/worker1', 'http://portal/', 30)
      const found = new Map(seen.map(({ pod, local }) => [pod.split('-').slice(0, 2).join('-'), local.port]))
      expect(Object.fromEntries(found)).toEqual({ 'portal-old': 8080, 'portal-new': 8888 })
    })

    test('the second port leads to the other container', async () => {
      for (const { local } of await answers('node/worker1', 'http://portal:9100/', 4))
        expect(local.port).toBe(9090)
    })

    test('there are two slices, for endpoints whose ports differ cannot share one', async () => {
      const { stdout } = await lab.run('get', 'endpointslice')
      expect(stdout.split('\n').filter((line) => line.startsWith('portal-'))).toHaveLength(2)
    })
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, type LabUser, startLab, whyNoLab } from './chainwalk.ts'

const CLIENT = '172.18.0.254'
const REFUSED = 7
const TIMED_OUT = 28

interface Answer {
  readonly pod: string
  readonly peer: { readonly address: string }
}

const ways: readonly (readonly [LabUser, 'bridge' | 'routed'])[] = [
  ['root', 'bridge'],
  ['root', 'routed'],
  ['learner', 'bridge'],
  ['learner', 'routed'],
]

describe.each(ways)('traffic as on a real node, as %s, pods on %s links', (as, attachment) => {
  const skip = whyNoLab(as) !== undefined
  let lab: Lab

  beforeAll(async () => {
    if (skip) return
    lab = await startLab({ as, files: ['test/lab/traffic.yaml'], more: ['--attachment', attachment] })
  })
  afterAll(async () => {
    await lab?.down()
  })

  const curl = (target: string, address: string) =>
    lab.exec(target, 'curl', '-sS', '--max-time', '2', `http://${address}/json`)

  /** Who answered, and as whom that pod saw the sender. */
  const ask = async (target: string, address: string): Promise<string> => {
    const { code, stdout, stderr } = await curl(target, address)
    if (code !== 0) throw new Error(`curl ${address} in ${target} ended with ${code}: ${stderr}`)
    const { pod, peer } = JSON.parse(stdout) as Answer
    return `${pod} saw ${peer.address}`
  }

  const packets = async (node: string, table: string, chain: string, part: string): Promise<number> => {
    const { stdout } = await lab.exec(node, 'iptables', '-t', table, '-vnxL', chain)
    const row = stdout.split('\n').find((line) => line.includes(part))
    if (!row) throw new Error(`no row with ${part} in:\n${stdout}`)
    return Number(row.trim().split(/\s+/)[0])
  }

  test.skipIf(skip)('pod to pod: no NAT, on one node and across', async () => {
    expect(await ask('pod/a', '10.244.1.11')).toBe('b saw 10.244.1.10')
    expect(await ask('pod/a', '10.244.2.10')).toBe('c saw 10.244.1.10')
    expect(await ask('pod/c', '10.244.1.10')).toBe('a saw 10.244.2.10')
  })

  test.skipIf(skip)(
    'pod to ClusterIP: the sender is kept, on the same node, across, and masqueraded to itself',
    async () => {
      expect(await ask('pod/a', '10.96.1.2')).toBe('b saw 10.244.1.10')
      expect(await ask('pod/a', '10.96.1.3')).toBe('c saw 10.244.1.10')
      expect(await ask('pod/a', '10.96.1.1')).toBe('a saw 10.244.1.1')
      expect(await ask('pod/a', 'to-b.default.svc.cluster.local')).toBe('b saw 10.244.1.10')
    },
  )

  test.skipIf(skip)('node to ClusterIP: masqueraded to the address it leaves by', async () => {
    expect(await ask('node/worker1', '10.96.1.1')).toBe('a saw 10.244.1.1')
    expect(await ask('node/worker1', '10.96.1.3')).toBe('c saw 172.18.0.3')
    expect(await ask('node/control-plane', '10.96.1.3')).toBe('c saw 172.18.0.2')
  })

  test.skipIf(skip)(
    'client to NodePort, policy Cluster: every node answers with its own address',
    async () => {
      expect(await ask('client', '172.18.0.2:30080')).toBe('c saw 172.18.0.2')
      expect(await ask('client', '172.18.0.3:30080')).toBe('c saw 172.18.0.3')
      expect(await ask('client', '172.18.0.4:30080')).toBe('c saw 10.244.2.1')
    },
  )

  test.skipIf(skip)('node to its own NodePort, by address and by localhost', async () => {
    expect(await ask('node/worker1', '172.18.0.3:30080')).toBe('c saw 172.18.0.3')
    expect(await ask('node/worker1', '127.0.0.1:30080')).toBe('c saw 172.18.0.3')
    expect(await ask('node/worker2', '127.0.0.1:30080')).toBe('c saw 10.244.2.1')
  })

  test.skipIf(skip)(
    'client to NodePort, policy Local: the sender is kept, and a node without a pod is silent',
    async () => {
      expect(await ask('client', '172.18.0.4:30081')).toBe(`c saw ${CLIENT}`)
      expect((await curl('client', '172.18.0.3:30081')).code).toBe(TIMED_OUT)
      expect(
        await packets(
          'node/worker1',
          'filter',
          'KUBE-EXTERNAL-SERVICES',
          'default/local-c has no local endpoints',
        ),
      ).toBeGreaterThan(0)
      // Inside the cluster there is a short cut on such a node.
      expect(await ask('pod/a', '172.18.0.3:30081')).toBe('c saw 10.244.1.10')
    },
  )

  test.skipIf(skip)('client to an external IP and to a load balancer', async () => {
    expect(await ask('client', '198.51.100.7')).toMatch(/^c saw 172\.18\.0\.3$/)
    const { stdout } = await lab.run('get', 'svc', 'balanced')
    const address = /LoadBalancer\s+\S+\s+(\S+)/.exec(stdout)?.[1] ?? ''
    expect(address).toMatch(/^172\.18\.255\./)
    expect(await ask('client', address)).toBe(`c saw ${CLIENT}`)
  })

  test.skipIf(skip)('UDP through ClusterIP and NodePort', async () => {
    const echo = (target: string, address: string, port: number) =>
      lab.exec(
        target,
        'bash',
        '-c',
        `exec 3<>/dev/udp/${address}/${port}; echo ping >&3; timeout 2 dd bs=64 count=1 status=none <&3`,
      )
    expect((await echo('pod/a', '10.96.1.3', 53)).stdout).toBe('ping\n')
    expect((await echo('client', '172.18.0.3', 30053)).stdout).toBe('ping\n')
  })

  test.skipIf(skip)('no endpoints: refused at once, and the REJECT rule counts it', async () => {
    const before = await packets('node/worker1', 'filter', 'KUBE-SERVICES', 'default/nobody has no endpoints')
    expect((await curl('pod/a', '10.96.1.5')).code).toBe(REFUSED)
    expect((await curl('node/worker1', '10.96.1.5')).code).toBe(REFUSED)
    const after = await packets('node/worker1', 'filter', 'KUBE-SERVICES', 'default/nobody has no endpoints')
    expect(after - before).toBe(2)
    expect((await curl('client', '172.18.0.3:30082')).code).toBe(REFUSED)
  })

  test.skipIf(skip)('session affinity sticks to one pod for each sender', async () => {
    const loop = 'for i in 1 2 3 4 5 6 7 8; do curl -sS --max-time 2 http://10.96.1.7/json; done'
    for (const sender of ['pod/a', 'pod/c']) {
      const { stdout } = await lab.exec(sender, 'sh', '-c', loop)
      const pods = stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Answer).pod)
      expect(pods).toHaveLength(8)
      expect(new Set(pods).size).toBe(1)
    }
  })

  test.skipIf(skip)(
    'a terminating pod keeps its connections, new ones go elsewhere; scaled to 0 is refused',
    async () => {
      const pods = JSON.parse((await lab.run('get', 'pod', '-o', 'json')).stdout) as {
        items: { metadata: { name: string }; status: { podIP: string } }[]
      }
      const web = pods.items.filter(({ metadata }) => metadata.name.startsWith('web-'))
      expect(web).toHaveLength(3)
      const [first] = web
      const name = first?.metadata.name ?? ''
      // One connection, two requests with a pause between: the second must be answered by the same, ending pod.
      const held = lab.start(
        'pod/a',
        'bash',
        '-c',
        `exec 3<>/dev/tcp/${first?.status.podIP}/80
       printf 'GET /json HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3
       until read -t 5 -u 3 line; [[ $line == {* ]]; do :; done; echo "first $line"
       sleep 1
       printf 'GET /json HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3
       until read -t 5 -u 3 line; [[ $line == {* ]]; do :; done; echo "second $line"`,
      )
      await held.says('first {')
      expect((await lab.run('pod', name, 'terminating')).code).toBe(0)
      const { stdout } = await held.ended
      expect(stdout).toMatch(new RegExp(`second \\{"pod":"${name}"`))
      const loop = 'for i in $(seq 12); do curl -sS --max-time 2 http://10.96.1.8/json; done'
      const answers = (await lab.exec('pod/a', 'sh', '-c', loop)).stdout.trim().split('\n')
      expect(answers).toHaveLength(12)
      expect(answers.filter((line) => line.includes(name))).toEqual([])

      expect((await lab.run('scale', 'deployment/web', '--replicas', '0')).code).toBe(0)
      for (const { metadata } of web) await lab.run('pod', metadata.name, 'deleted')
      expect((await curl('pod/a', '10.96.1.8')).code).toBe(REFUSED)
    },
  )

  test.skipIf(skip)('what iptables counts and what the lab reads are the same numbers', async () => {
    const tool = await lab.exec('node/worker1', 'iptables', '-t', 'nat', '-vnL', '--line-numbers')
    const ours = await lab.run('counters', 'node/worker1', '-t', 'nat', '--line-numbers')
    expect(ours.stdout).toBe(tool.stdout)
    const exact = await lab.exec('node/worker1', 'iptables', '-t', 'filter', '-vnxL')
    expect((await lab.run('counters', 'node/worker1', '-t', 'filter', '-x')).stdout).toBe(exact.stdout)
    const one = await lab.exec('node/worker1', 'iptables', '-t', 'nat', '-vnL', 'KUBE-SERVICES')
    expect((await lab.run('counters', 'node/worker1', 'KUBE-SERVICES', '-t', 'nat')).stdout).toBe(one.stdout)
  })
})

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, root, startLab, whyNoLab } from './chainwalk.ts'

const WORKER1 = '172.18.0.3'
const WORKER2 = '172.18.0.4'
const CLIENT = '172.18.0.254'
/** Of the http-server example: one pod on worker1, two on worker2. */
const POD_ON_1 = '10.244.1.7'
const POD_ON_2 = '10.244.2.8'
const CLUSTER_IP = '10.107.38.142'
const NODE_PORT = 32054

/** curl's exit statuses. */
const ANSWERED = 0
const REFUSED = 7
const TIMED_OUT = 28

/** A host outside the pod network that answers: worker2 itself, also on port 22. */
const HOST_SERVER = `
apiVersion: v1
kind: Pod
metadata: {name: host-server}
spec:
  nodeName: worker2
  hostNetwork: true
  containers:
    - {name: web, image: registry.k8s.io/e2e-test-images/agnhost:2.47, ports: [{containerPort: 8080}, {containerPort: 22}]}
`

const scripts = readdirSync(join(root, 'lab-scripts/iptables')).filter((file) => file !== 'common.sh')

describe.skipIf(whyNoLab())('iptables scripts', () => {
  let lab: Lab
  /** The rules of both workers before any script ran. */
  let untouched: string[][]
  /** The pod with the address POD_ON_1. */
  let pod = ''

  const rulesOf = async (target: string): Promise<string[]> =>
    (await lab.exec(target, 'iptables-save')).stdout.split('\n').filter((line) => line.startsWith('-A'))
  const rulesOfWorkers = () => Promise.all([rulesOf('node/worker1'), rulesOf('node/worker2')])

  beforeAll(async () => {
    lab = await startLab({
      files: ['lab-scripts/manifests/http-server.yaml', 'lab-scripts/manifests/kube-dns.yaml'],
    })
    await lab.apply(HOST_SERVER)
    const { stdout } = await lab.run('get', 'pod', '-o', 'wide')
    pod = `pod/${
      stdout
        .split('\n')
        .find((line) => line.includes(` ${POD_ON_1} `))
        ?.split(/\s+/)[0]
    }`
    untouched = await rulesOfWorkers()
  })
  afterAll(() => lab?.down())
  afterEach(async () => {
    const left = await rulesOfWorkers()
    // One failed test must not be the next one's fault.
    for (const node of ['worker1', 'worker2'])
      await shell(`node/${node}`, 'iptables-save -c | grep -v "chainwalk: " | iptables-restore -c')
    expect(left).toEqual(untouched)
  })

  const run = async (target: string, name: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await lab.exec(target, 'sh', `lab/iptables/${name}.sh`, ...args)
    expect(stderr).toBe('')
    expect(code, stdout).toBe(0)
    return stdout
  }
  /** Switches a script on, twice: the second time changes nothing. Every rule is its own, and was printed as a command. */
  const switchOn = async (target: string, name: string, ...args: string[]): Promise<void> => {
    const before = await rulesOf(target)
    const output = await run(target, name, ...args)
    const after = await rulesOf(target)
    const added = after.filter((rule) => !before.includes(rule))
    expect(after.filter((rule) => before.includes(rule))).toEqual(before)
    expect(added.length).toBeGreaterThan(0)
    for (const rule of added) expect(rule).toContain(`--comment "chainwalk: ${name}"`)
    const commands = output.split('\n').filter((line) => /^\+ iptables -t \w+ -[AI] /.test(line))
    expect(commands).toHaveLength(added.length)
    for (const command of commands) expect(command).toContain(`--comment "chainwalk: ${name}"`)
    await run(target, name, ...args)
    expect(await rulesOf(target)).toEqual(after)
  }

  const shell = (target: string, script: string) => lab.exec(target, 'bash', '-c', script)
  const curl = (target: string, url: string) =>
    lab.exec(target, 'curl', '-s', '-m', '1', '-H', 'accept: application/json', `http://${url}/`)
  const outcome = async (target: string, url: string): Promise<number> => {
    const { code, stderr } = await curl(target, url)
    expect(stderr, `curl ${url} in ${target}`).toBe('') // -s: whatever comes is the lab's
    return code
  }
  const peer = async (target: string, url: string): Promise<string> => {
    const { code, stdout } = await curl(target, url)
    expect(code).toBe(ANSWERED)
    return (JSON.parse(stdout) as { peer: { address: string } }).peer.address
  }
  /** What tcpdump shows of the first packet that fits, while `work` goes on. */
  const capture = async (target: string, filter: string, work: () => Promise<unknown>): Promise<string> => {
    const tcpdump = lab.start(target, 'tcpdump', '-l', '-nn', '-v', '-c', '1', '-i', 'eth0', filter)
    await tcpdump.says('listening on')
    await work()
    try {
      await tcpdump.says('1 packet captured')
    } finally {
      await tcpdump.stop()
    }
    return (await tcpdump.ended).stdout
  }
  const packets = async (target: string, table: string, chain: string, text: string): Promise<number> => {
    const { stdout } = await lab.exec(target, 'iptables', '-t', table, '-vnxL', chain)
    const line = stdout.split('\n').find((rule) => rule.includes(text))
    if (!line) throw new Error(`${chain} has no rule with "${text}":\n${stdout}`)
    return Number(line.trim().split(/\s+/)[0])
  }

  test.each(scripts)('%s --help prints its head, a wrong call its usage', async (file) => {
    const help = await lab.exec('node/worker1', 'sh', `lab/iptables/${file}`, '--help')
    expect(help).toMatchObject({ code: 0, stderr: '' })
    for (const part of [`  sh ${file} `, 'Where: table ', 'See it', 'Undo: '])
      expect(help.stdout).toContain(part)
    for (const line of help.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(110)
    const calls = ['', 'nonsense', 'on a b c', 'off too much'].map(
      (wrong) => `sh lab/iptables/${file} ${wrong}; echo "status $?"`,
    )
    const { stdout, stderr } = await shell('node/worker1', calls.join('\n'))
    expect(stdout).toBe('status 2\n'.repeat(calls.length))
    expect(stderr.match(/^usage:$/gm)).toHaveLength(calls.length)
    expect(stderr).toContain(`usage:\n  sh ${file} `)
  })

  test('masquerade-pods: a host outside can answer a pod only when it sees the node', async () => {
    const toClient = () => curl(pod, CLIENT)
    const seenByClient = () => capture('client', 'tcp dst port 80', toClient)
    expect(await outcome(pod, CLIENT)).toBe(TIMED_OUT)
    expect(await seenByClient()).toMatch(new RegExp(`${POD_ON_1}\\.\\d+ > ${CLIENT}\\.80:`))
    expect(await peer(pod, `${WORKER2}:8080`)).toBe(POD_ON_1)

    await switchOn('node/worker1', 'masquerade-pods', 'on')
    expect(await outcome(pod, CLIENT)).toBe(REFUSED) // the client's answer came back
    expect(await seenByClient()).toMatch(new RegExp(`${WORKER1}\\.\\d+ > ${CLIENT}\\.80:`))
    expect(await peer(pod, `${WORKER2}:8080`)).toBe(WORKER1)
    expect(await peer(pod, POD_ON_2)).toBe(POD_ON_1) // between pods nothing changes
    const events = lab.start('node/worker1', 'conntrack', '-E', '-d', CLIENT)
    await Promise.all([
      events.says(new RegExp(`src=${POD_ON_1} dst=${CLIENT} .*src=${CLIENT} dst=${WORKER1} `)),
      shell(pod, `for i in 1 2 3; do curl -s -m 1 http://${CLIENT}/; sleep 0.5; done`),
    ])
    await events.stop()

    await run('node/worker1', 'masquerade-pods', 'off')
    expect(await outcome(pod, CLIENT)).toBe(TIMED_OUT)
    expect(await peer(pod, `${WORKER2}:8080`)).toBe(POD_ON_1)
  })

  test('masquerade-pods: says so where there are no pods', async () => {
    const { code, stderr } = await lab.exec('client', 'sh', 'lab/iptables/masquerade-pods.sh', 'on')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('run this in a node') })
  })

  test.each([
    ['another node', POD_ON_2],
    ['this node', POD_ON_1],
  ])('node-port-dnat: a port of the node leads to a pod on %s', async (_, address) => {
    const askers = ['client', 'node/worker2', 'node/worker1']
    const outcomes = () => Promise.all(askers.map((asker) => outcome(asker, `${WORKER1}:30999`)))
    expect(await outcomes()).toEqual([REFUSED, REFUSED, REFUSED])
    await switchOn('node/worker1', 'node-port-dnat', 'on', '30999', `${address}:80`)
    for (const asker of askers) {
      const { code, stdout } = await curl(asker, `${WORKER1}:30999`)
      expect(code, asker).toBe(ANSWERED)
      expect(JSON.parse(stdout).local, asker).toEqual({ address, port: 80 })
    }
    expect(await peer('client', `${WORKER1}:30999`)).toBe(address === POD_ON_2 ? WORKER1 : '10.244.1.1')
    expect(await outcome('node/worker1', '127.0.0.1:30999')).toBe(ANSWERED)
    await run('node/worker1', 'node-port-dnat', 'off')
    expect(await outcomes()).toEqual([REFUSED, REFUSED, REFUSED])
  })

  test('ban: one address gets neither to the node nor through it; everybody else does', async () => {
    const targets = [`${WORKER1}:9`, `${WORKER1}:${NODE_PORT}`]
    const outcomes = (asker: string) => Promise.all(targets.map((url) => outcome(asker, url)))
    expect(await outcomes('client')).toEqual([REFUSED, ANSWERED])
    await switchOn('node/worker1', 'ban', 'add', CLIENT)
    expect(await outcomes('client')).toEqual([TIMED_OUT, TIMED_OUT])
    expect(await outcomes('node/worker2')).toEqual([REFUSED, ANSWERED])
    expect(await outcome('client', `${WORKER2}:${NODE_PORT}`)).toBe(ANSWERED)
    const dropped = (chain: string) => packets('node/worker1', 'filter', chain, 'chainwalk: ban')
    expect(await dropped('INPUT')).toBeGreaterThan(0)
    const before = await dropped('FORWARD')
    await lab.exec('client', 'curl', '-s', '-m', '2', `http://${WORKER1}:${NODE_PORT}/`)
    expect(await dropped('FORWARD')).toBeGreaterThan(before + 1) // an unanswered SYN is sent again

    await switchOn('node/worker1', 'ban', 'add', WORKER2)
    expect(await outcomes('node/worker2')).toEqual([TIMED_OUT, TIMED_OUT])
    const list = await run('node/worker1', 'ban', 'list')
    expect(list.match(/DROP .*chainwalk: ban/g)).toHaveLength(4)

    await run('node/worker1', 'ban', 'remove', CLIENT)
    expect(await outcomes('client')).toEqual([REFUSED, ANSWERED])
    expect(await outcomes('node/worker2')).toEqual([TIMED_OUT, TIMED_OUT])
    await run('node/worker1', 'ban', 'remove', WORKER2)
    expect(await outcomes('node/worker2')).toEqual([REFUSED, ANSWERED])
  })

  test('ban: an open connection stalls, and goes on when the ban is over', async () => {
    const talk = lab.start(
      'client',
      'bash',
      '-c',
      `exec 3<>/dev/tcp/${WORKER1}/${NODE_PORT}
      hear() { while read -r -t "$1" -u 3 line; do case $line in host*) echo "$2: answer"; return;; esac; done; echo "$2: silence"; }
      ask() { printf 'GET / HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n' >&3; }
      wait_for() { for i in {1..100}; do [ -e /tmp/$1 ] && return; sleep 0.1; done; }
      ask; hear 2 before
      wait_for banned; ask; hear 1 banned
      wait_for unbanned; hear 5 after`,
    )
    await talk.says('before: answer')
    await run('node/worker1', 'ban', 'add', CLIENT)
    await lab.exec('client', 'touch', '/tmp/banned')
    await talk.says('banned: silence')
    await run('node/worker1', 'ban', 'remove', CLIENT)
    await lab.exec('client', 'touch', '/tmp/unbanned')
    await talk.says('after: answer')
    expect((await talk.ended).code).toBe(0)
  })

  test('ssh-only-from: port 22 answers one address, and no other', async () => {
    const ssh = `${WORKER2}:22`
    const askers = ['client', 'node/worker1', pod, 'node/worker2']
    const outcomes = () => Promise.all(askers.map((asker) => outcome(asker, ssh)))
    expect(await outcomes()).toEqual([ANSWERED, ANSWERED, ANSWERED, ANSWERED])
    await switchOn('node/worker2', 'ssh-only-from', 'on', CLIENT)
    expect(await outcomes()).toEqual([ANSWERED, TIMED_OUT, TIMED_OUT, TIMED_OUT])
    expect(await outcome('node/worker1', `${WORKER2}:8080`)).toBe(ANSWERED) // other ports are as before
    await switchOn('node/worker2', 'ssh-only-from', 'on', WORKER1)
    expect(await outcomes()).toEqual([ANSWERED, ANSWERED, TIMED_OUT, TIMED_OUT])
    await run('node/worker2', 'ssh-only-from', 'off')
    expect(await outcomes()).toEqual([ANSWERED, ANSWERED, ANSWERED, ANSWERED])
  })

  test('ssh-only-from: shows itself without a server, too', async () => {
    await switchOn('node/worker1', 'ssh-only-from', 'on', CLIENT)
    expect(await outcome('client', `${WORKER1}:22`)).toBe(REFUSED)
    expect(await outcome('node/control-plane', `${WORKER1}:22`)).toBe(TIMED_OUT)
    await run('node/worker1', 'ssh-only-from', 'off')
    expect(await outcome('node/control-plane', `${WORKER1}:22`)).toBe(REFUSED)
  })

  test('log: counts connections, not packets, and hands them to tcpdump', async () => {
    const url = `${WORKER1}:${NODE_PORT}`
    const counts = () =>
      Promise.all(
        ['LOG flags', 'nflog-group 5'].map((text) => packets('node/worker1', 'mangle', 'PREROUTING', text)),
      )
    await switchOn('node/worker1', 'log', 'on', String(NODE_PORT))
    const tcpdump = lab.start('node/worker1', 'tcpdump', '-l', '-nn', '-i', 'nflog:5')
    await tcpdump.says('listening on nflog:5')
    expect(await outcome('client', url)).toBe(ANSWERED)
    expect(await counts()).toEqual([1, 1])
    await tcpdump.says(new RegExp(`IP ${CLIENT}\\.\\d+ > ${WORKER1}\\.${NODE_PORT}: Flags \\[S\\]`))
    // Two requests over one connection are one new connection; another port is none.
    expect((await lab.exec('client', 'curl', '-s', '-m', '2', `http://${url}/`, `http://${url}/`)).code).toBe(
      0,
    )
    expect(await outcome('client', `${WORKER1}:9`)).toBe(REFUSED)
    expect(await counts()).toEqual([2, 2])
    await tcpdump.says(/( > (.|\n)*){2}/)
    const { stdout } = await tcpdump.stop()
    expect(stdout.match(/ > /g)).toHaveLength(2)
    await run('node/worker1', 'log', 'off')
    expect(await outcome('client', url)).toBe(ANSWERED)
  })

  test("notrack, TCP: no conntrack entry, so no DNAT; a pod's own address works as before", async () => {
    const served = () => packets('node/worker1', 'nat', 'KUBE-SERVICES', 'default/http-svc cluster IP')
    const entries = async () =>
      (await lab.exec('node/worker1', 'conntrack', '-L', '-p', 'tcp', '-s', POD_ON_1, '--dport', '80')).stdout
    const afresh = () => lab.exec('node/worker1', 'conntrack', '-F')
    await afresh()
    expect(await outcome(pod, CLUSTER_IP)).toBe(ANSWERED)
    expect(await outcome(pod, POD_ON_2)).toBe(ANSWERED)
    expect(await entries()).toMatch(
      new RegExp(`dst=${CLUSTER_IP} (.|\n)*dst=${POD_ON_2} |dst=${POD_ON_2} (.|\n)*dst=${CLUSTER_IP} `),
    )

    await switchOn('node/worker1', 'notrack', 'on', 'tcp', '80')
    await afresh()
    const before = await served()
    expect(await outcome(pod, CLUSTER_IP)).toBe(TIMED_OUT)
    expect(await outcome(pod, POD_ON_2)).toBe(ANSWERED)
    expect(await outcome('node/worker1', CLUSTER_IP)).toBe(TIMED_OUT)
    expect(await entries()).toBe('')
    expect(await served()).toBe(before)

    await run('node/worker1', 'notrack', 'off')
    expect(await outcome(pod, CLUSTER_IP)).toBe(ANSWERED)
    expect(await served()).toBe(before + 1)
  })

  test('notrack, UDP: the same for DNS', async () => {
    const echo = async () =>
      (await shell(pod, 'exec 3<>/dev/udp/10.96.0.10/53; echo hello >&3; timeout 1 head -n 1 <&3')).stdout
    const entries = async () =>
      (await lab.exec('node/worker1', 'conntrack', '-L', '-p', 'udp', '-s', POD_ON_1)).stdout
    expect(await echo()).toBe('hello\n')
    expect(await entries()).toContain('dst=10.96.0.10 ')
    await switchOn('node/worker1', 'notrack', 'on', 'udp', '53')
    await lab.exec('node/worker1', 'conntrack', '-F')
    expect(await echo()).toBe('')
    expect(await entries()).toBe('')
    await run('node/worker1', 'notrack', 'off')
    expect(await echo()).toBe('hello\n')
  })

  test('ttl: the step through the node disappears; with 1 nothing gets past the next router', async () => {
    const seenByClient = async () =>
      /ttl (\d+)/.exec(await capture('client', 'tcp dst port 80', () => curl(pod, CLIENT)))?.[1]
    expect(await seenByClient()).toBe('63')
    await switchOn('node/worker1', 'ttl', 'on', '64')
    expect(await seenByClient()).toBe('64')
    expect(await outcome(pod, POD_ON_2)).toBe(ANSWERED)

    await run('node/worker1', 'ttl', 'on', '1') // in place of 64
    expect(await seenByClient()).toBe('1')
    expect(await outcome('node/worker1', `${WORKER2}:8080`)).toBe(ANSWERED)
    const complaint = await capture('node/worker1', 'icmp', async () => {
      expect(await outcome(pod, POD_ON_2)).not.toBe(ANSWERED)
    })
    expect(complaint).toMatch(new RegExp(`${WORKER2} > ${POD_ON_1}: ICMP time exceeded in-transit`))

    await run('node/worker1', 'ttl', 'off')
    expect(await seenByClient()).toBe('63')
    expect(await outcome(pod, POD_ON_2)).toBe(ANSWERED)
  })

  test('off removes the rules of its own script only, and none where there are none', async () => {
    for (const [name, ...args] of [
      ['ban', 'add', '192.0.2.9'],
      ['ssh-only-from', 'on', '192.0.2.9'],
      ['log', 'on', '1'],
      ['ttl', 'on', '64'],
      ['masquerade-pods', 'on'],
      ['node-port-dnat', 'on', '30999', `${POD_ON_1}:80`],
      ['notrack', 'on', 'udp', '9'],
    ] as const)
      await run('node/worker1', name, ...args)
    for (const name of ['ssh-only-from', 'log', 'ttl', 'masquerade-pods', 'node-port-dnat', 'notrack'])
      for (const times of [1, 2]) {
        await run('node/worker1', name, 'off')
        const left = await rulesOf('node/worker1')
        expect(
          left.filter((rule) => rule.includes(`"chainwalk: ${name}"`)),
          `${name}, ${times}`,
        ).toEqual([])
        expect(left.filter((rule) => rule.includes('"chainwalk: ban"'))).toHaveLength(2)
      }
    await run('node/worker1', 'ban', 'remove', '192.0.2.9')
  })

  test('an apply in between leaves the rules of the scripts alone', async () => {
    await switchOn('node/worker1', 'ban', 'add', CLIENT)
    expect((await lab.run('scale', 'deployment/http-server', '--replicas', '4')).code).toBe(0)
    expect(await outcome('client', `${WORKER1}:${NODE_PORT}`)).toBe(TIMED_OUT)
    expect((await lab.run('scale', 'deployment/http-server', '--replicas', '3')).code).toBe(0)
    await run('node/worker1', 'ban', 'remove', CLIENT)
    expect(await outcome('client', `${WORKER1}:${NODE_PORT}`)).toBe(ANSWERED)
  })
})

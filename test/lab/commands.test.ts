import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn as spawnPty } from 'node-pty'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, type LabUser, programFor, root, startLab, whyNoLab } from './chainwalk.ts'

const manifest = join(root, 'lab-scripts/manifests/http-server.yaml')
const skip = whyNoLab() !== undefined

/** Any `chainwalk` command, with what it printed. */
function chainwalk(words: readonly string[], input = '') {
  const [file = '', ...before] = programFor('root').words
  const { status, stdout, stderr } = spawnSync(file, [...before, ...words], {
    cwd: root,
    input,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { code: status, stdout, stderr }
}

/** Runs iptables commands in an empty network namespace of their own. */
function inEmptyNamespace(
  script: string,
  input = '',
): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync('unshare', ['--net', 'sh', '-ec', script], {
    input,
    encoding: 'utf8',
  })
  return { code: status, stdout, stderr }
}

const rulesOf = (save: string): string[] => save.split('\n').filter((line) => line.startsWith('-A'))

const users: readonly LabUser[] = ['root', 'learner']

describe.each(users)('chainwalk demo as %s', (user) => {
  test.skipIf(whyNoLab(user) !== undefined)(
    'shows twelve answers, counters that add up, and the NodePort',
    () => {
      const { words, folder, cleanUp } = programFor(user)
      const [file = '', ...before] = words
      const { status, stdout, stderr } = spawnSync(file, [...before, 'demo'], {
        cwd: folder,
        encoding: 'utf8',
      })
      cleanUp()
      expect(stderr).toBe('')
      expect(status).toBe(0)
      const first = stdout.slice(0, stdout.indexOf('From outside'))
      expect(first.match(/ {2}answer from \S+ on worker[12], which saw 10\.244\./g)).toHaveLength(12)
      const spread = /12 answers: (.*)/.exec(first)?.[1]?.split(', ') ?? []
      expect(spread).toHaveLength(3)
      expect(spread.reduce((sum, each) => sum + Number(each.split(' ')[1]), 0)).toBe(12)
      expect(first).toMatch(/> KUBE-SVC-GM62ZXCOIF6ZCRWU +12\n/)
      const endpoints = [...first.matchAll(/> KUBE-SEP-\S+ +(\d+) /g)].map(([, count]) => Number(count))
      expect(endpoints).toHaveLength(3)
      expect(endpoints.reduce((sum, count) => sum + count)).toBe(12)
      const outside = stdout.slice(stdout.indexOf('From outside'))
      expect(outside).toMatch(
        /172\.18\.0\.2:32054\/.*\n {2}answer from \S+ on worker[12], which saw 172\.18\.0\.2/,
      )
    },
    60_000,
  )
})

describe('rules: no lab, no privilege', () => {
  const rules = (...words: string[]) => chainwalk(['rules', '-f', manifest, ...words])

  test.skipIf(skip)('what it prints can be restored, in both writings', () => {
    const restore = rules()
    expect(restore.code).toBe(0)
    expect(inEmptyNamespace('iptables-nft-restore --noflush --test', restore.stdout)).toMatchObject({
      code: 0,
    })
    const save = rules('--format', 'save')
    const loaded = inEmptyNamespace('iptables-nft-restore; iptables-nft-save', save.stdout)
    expect(loaded.code).toBe(0)
    expect(rulesOf(loaded.stdout)).toEqual(rulesOf(save.stdout))
  })

  test('an ordinary user gets the same', () => {
    const { words, folder, cleanUp } = programFor('learner')
    const [file = '', ...before] = words
    const { stdout, status } = spawnSync(
      file,
      [...before, 'rules', '-f', join(folder, 'lab-scripts/manifests/http-server.yaml')],
      { encoding: 'utf8' },
    )
    cleanUp()
    expect(status).toBe(0)
    expect(stdout).toBe(rules().stdout)
  })

  test('takes a node and its configuration', () => {
    const golden = join(root, 'test/golden/024-etp-local-without-local')
    const { stdout } = chainwalk([
      'rules',
      '-f',
      `${golden}/manifests.yaml`,
      '--config',
      `${golden}/node.json`,
    ])
    expect(stdout).toBe(readFileSync(`${golden}/expected.rules`, 'utf8'))
    const dual = join(root, 'test/golden/076-dual-stack')
    const six = ['--config', `${dual}/node.json`, '--family', 'ipv6', '--format', 'save']
    expect(chainwalk(['rules', '-f', `${dual}/manifests.yaml`, ...six]).stdout).toBe(
      readFileSync(`${dual}/expected.ip6.save`, 'utf8'),
    )
  })

  test('refuses what is wrong with file, line, object and field, and exit status 2', () => {
    const yaml = 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ports: [{port: 80000}]\n'
    const refused = chainwalk(['rules', '-f', '-'], yaml)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('-:5: Service "web": spec.ports[0].port: Invalid value: 80000')
    expect(chainwalk(['rules', '-f', 'nothing.yaml'])).toMatchObject({
      code: 2,
      stderr: 'chainwalk: nothing.yaml: no such file\n',
    })
    expect(rules('--node', 'worker9').stderr).toContain('there is no node "worker9"; there is control-plane')
    const config = join(tmpdir(), `chainwalk-config-${process.pid}.json`)
    writeFileSync(config, '{"masqueradeBit": 40, "nodeNames": "x"}')
    const wrong = rules('--config', config)
    rmSync(config)
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('masqueradeBit: must be a number from 0 to 31, found 40')
    expect(wrong.stderr).toContain('nodeNames: unknown setting')
  })
})

describe('usage', () => {
  const commands = [
    'doctor',
    'demo',
    'up',
    'status',
    'down',
    'apply',
    'delete',
    'get',
    'scale',
    'pod',
    'exec',
  ]
  test.each([...commands, 'shell', 'rules', 'counters', 'export'])('%s --help says how', (command) => {
    const { code, stdout } = chainwalk([command, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: chainwalk ${command}`)
  })

  test('a wrong word is exit status 2, a lab that is not there is 1 with what to do', () => {
    expect(chainwalk(['nonsense']).code).toBe(2)
    expect(chainwalk(['up', '--workers', 'many']).code).toBe(2)
    expect(chainwalk(['up', '--name', 'No Name']).code).toBe(2)
    const missing = chainwalk(['get', 'pod', '--name', 'nowhere'])
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain('no lab named "nowhere" is running')
    expect(missing.stderr).toContain('chainwalk up')
  })
})

describe.skipIf(skip)('a lab from the command line', () => {
  let lab: Lab
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'chainwalk-commands-'))
    lab = await startLab({ files: [manifest] })
  })
  afterAll(async () => {
    await lab?.down()
    rmSync(folder, { recursive: true })
  })

  test("the node's tables hold every line of the example's listing", async () => {
    const expected = readFileSync(join(root, 'test/seed/expected-rules.txt'), 'utf8').trim().split('\n')
    const nat = (await lab.exec('node/worker1', 'iptables-save', '-t', 'nat')).stdout.split('\n')
    const filter = (await lab.exec('node/worker1', 'iptables-save', '-t', 'filter')).stdout.split('\n')
    const found = expected.filter((line) => (line.startsWith('-A INPUT') ? filter : nat).includes(line))
    expect(found).toEqual(expected)
    expect(expected.length).toBeGreaterThan(15)
  })

  test('get pod,svc prints the names, addresses and ports of the example', async () => {
    const { stdout } = await lab.run('get', 'pod,svc', '-o', 'wide')
    expect(stdout).toMatch(/pod\/http-server-\w{8,10}-\w{5} +1\/1 +Running +0 +\d+s +10\.244\.1\.7 +worker1 /)
    expect(stdout).toMatch(/ 10\.244\.2\.8 +worker2 /)
    expect(stdout).toMatch(/ 10\.244\.2\.9 +worker2 /)
    expect(stdout).toMatch(
      /service\/http-svc +ClusterIP +10\.107\.38\.142 +<none> +80\/TCP +\d+s +app=http-server/,
    )
    expect(stdout).toMatch(/service\/http-svc-node-port +NodePort +10\.108\.51\.223 +<none> +80:32054\/TCP /)
    const json = JSON.parse((await lab.run('get', 'svc', 'http-svc', '-o', 'json')).stdout) as {
      spec: { clusterIP: string }
    }
    expect(json.spec.clusterIP).toBe('10.107.38.142')
    const none = await lab.run('get', 'deploy', '-n', 'kube-system')
    expect(none).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No resources found in kube-system namespace.\n',
    })
  })

  test('a second lab of the same name is refused, one of another name lives beside it', async () => {
    const second = chainwalk(['up', '--detach', '--name', lab.name])
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`a lab named "${lab.name}" is already running`)
    expect(second.stderr).toContain(`chainwalk down --name ${lab.name}`)
    const other = await startLab({ workers: 1 })
    try {
      expect((await other.run('get', 'node')).stdout.match(/worker\d/g)).toEqual(['worker1'])
      expect((await other.run('get', 'pod')).stderr).toContain('No resources found')
      expect((await lab.run('get', 'pod')).stdout.match(/Running/g)).toHaveLength(3)
      expect((await other.exec('node/worker1', 'iptables-save')).stdout).not.toContain('KUBE-SVC')
    } finally {
      await other.down()
    }
  })

  test('exec passes standard input, output, errors and the exit status through', async () => {
    const [file = '', ...before] = programFor('root').words
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
    const { stdout } = spawnSync(file, [...before, 'exec', '--name', lab.name, 'client', '--', 'cat'], {
      input: bytes,
      maxBuffer: 1 << 20,
    })
    expect(stdout.equals(bytes)).toBe(true)
    expect(await lab.exec('client', 'sh', '-c', 'echo out; echo err >&2; exit 42')).toEqual({
      code: 42,
      stdout: 'out\n',
      stderr: 'err\n',
    })
    expect((await lab.exec('client', 'no-such-command')).code).toBe(127)
    expect((await lab.exec('client', 'sh', '-c', 'kill -9 $$')).code).toBe(137)
    const much = await lab.exec('client', 'seq', '1', '200000')
    expect(much.stdout.split('\n')).toHaveLength(200_001)
    expect(much.stdout.endsWith('199999\n200000\n')).toBe(true)
  })

  test('targets go by unique prefix and by deployment; others are told what there is', async () => {
    expect((await lab.exec('node/control', 'hostname')).stdout).toBe('control-plane\n')
    expect((await lab.exec('deployment/http-server', 'hostname')).stdout).toMatch(/^http-server-/)
    const unclear = await lab.exec('node/worker', 'true')
    expect(unclear).toMatchObject({ code: 2 })
    expect(unclear.stderr).toContain('node/worker can mean worker1, worker2')
    expect((await lab.exec('pod/nobody', 'true')).stderr).toContain(
      'pod/nobody does not exist; there is http-server-',
    )
    expect((await lab.exec('planet/mars', 'true')).code).toBe(2)
  })

  test('a shell is a terminal of its own: prompt, size, exit status', async () => {
    const [file = '', ...before] = programFor('root').words
    const pty = spawnPty(file, [...before, 'shell', '--name', lab.name, 'node/worker1'], {
      cols: 90,
      rows: 20,
    })
    let text = ''
    pty.onData((data) => {
      text += data
    })
    const ended = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)))
    await expect.poll(() => text, { timeout: 30_000 }).toContain('root@worker1:~#')
    pty.write('stty size; tty\r')
    await expect.poll(() => text, { timeout: 30_000 }).toMatch(/20 90\r+\n\/dev\/pts\/\d+/)
    pty.resize(100, 30)
    pty.write('until [ "$(stty size)" = "30 100" ]; do sleep 0.1; done; echo re""sized\r')
    await expect.poll(() => text, { timeout: 30_000 }).toContain('resized')
    pty.write('echo one; sleep 100; echo two\r')
    await expect.poll(() => text, { timeout: 30_000 }).toContain('\rone\r')
    pty.write('\u0003')
    await expect.poll(() => text, { timeout: 30_000 }).toMatch(/\^C[\s\S]*# $/)
    pty.write('exit 3\r')
    expect(await ended).toBe(3)
    expect(chainwalk(['shell', 'client', '--name', lab.name]).stderr).toContain('a shell needs a terminal')
  })

  test('the machine is out of reach: files are read-only, homes and /tmp are fresh', async () => {
    const { stdout } = await lab.exec(
      'node/worker1',
      'sh',
      '-c',
      `for path in /etc /usr /opt /root/lab; do touch $path/x 2>/dev/null && echo "$path can be written"; done
       touch /tmp/x /root/x /run/x && echo fresh; test -e ${folder} && echo "the machine's /tmp is there"
       cat /etc/hostname; ls /sys/class/net | xargs`,
    )
    expect(stdout).toBe('fresh\nworker1\ncni0 eth0 lo veth0001\n')
  })

  test('apply --dry-run --diff shows what would change and changes nothing', async () => {
    const before = await lab.exec('node/worker1', 'iptables-save', '-t', 'nat')
    const file = join(folder, 'more.yaml')
    writeFileSync(
      file,
      'apiVersion: v1\nkind: Service\nmetadata: {name: more}\nspec:\n  clusterIP: 10.96.7.7\n  selector: {app: http-server}\n  ports: [{port: 8080, targetPort: 80}]\n',
    )
    const dry = await lab.run('apply', '-f', file, '--dry-run', '--diff')
    expect(dry.code).toBe(0)
    expect(dry.stdout).toContain('service/more created (dry run)')
    expect(dry.stdout).toMatch(/node\/worker1: 11 rules more, 0 rules less/)
    expect(dry.stdout).toMatch(/\+ -A KUBE-SERVICES -d 10\.96\.7\.7\/32 -p tcp .* --dport 8080 -j KUBE-SVC-/)
    expect(rulesOf((await lab.exec('node/worker1', 'iptables-save', '-t', 'nat')).stdout)).toEqual(
      rulesOf(before.stdout),
    )

    expect((await lab.run('apply', '-f', file)).stdout).toBe('service/more created\n')
    expect((await lab.run('apply', '-f', file)).stdout).toBe('service/more unchanged\n')
    expect(
      (await lab.exec('deployment/http-server', 'curl', '-sS', '--max-time', '3', 'http://10.96.7.7:8080/'))
        .stdout,
    ).toContain('pod ')
    expect((await lab.run('delete', '-f', file)).stdout).toBe('service/more deleted\n')
    expect(rulesOf((await lab.exec('node/worker1', 'iptables-save', '-t', 'nat')).stdout).sort()).toEqual(
      rulesOf(before.stdout).sort(),
    )
  })

  test('a broken manifest is refused whole: file, line, object and field, all at once', async () => {
    const file = join(folder, 'broken.yaml')
    writeFileSync(
      file,
      'apiVersion: v1\nkind: Service\nmetadata: {name: good}\nspec: {ports: [{port: 80}]}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec:\n  type: NodePort\n  clusterIP: 10.107.38.142\n  ports:\n  - port: 80\n    nodePort: 32054\n  - port: "81"\n---\nkind: Gateway\napiVersion: gateway.networking.k8s.io/v1\nmetadata: {name: gate}\n',
    )
    const refused = await lab.run('apply', '-f', file)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/broken\.yaml:15: Service "bad": spec\.ports\[1\]\.port: /)
    expect((await lab.run('get', 'svc', 'good')).code).toBe(1)
    writeFileSync(file, readFileSync(file, 'utf8').replace('  - port: "81"\n', ''))
    const clash = await lab.run('apply', '-f', file)
    expect(clash.code).toBe(2)
    expect(clash.stderr).toContain('already allocated')
    expect((await lab.run('get', 'svc', 'good')).code).toBe(1)
  })

  test('a chain that somebody broke by hand is mended by the next change', async () => {
    await lab.exec(
      'node/worker1',
      'sh',
      '-c',
      'iptables -t nat -F KUBE-SVC-GM62ZXCOIF6ZCRWU; iptables -t nat -F KUBE-SERVICES',
    )
    expect((await lab.run('scale', 'deployment', 'http-server', '--replicas', '4')).code).toBe(0)
    expect((await lab.run('scale', 'deployment/http-server', '--replicas', '3')).code).toBe(0)
    const { stdout } = await lab.exec('node/worker1', 'iptables-save', '-t', 'nat')
    expect(stdout).toContain(
      '-A KUBE-SVC-GM62ZXCOIF6ZCRWU -m comment --comment "default/http-svc -> 10.244.2.9:80"',
    )
  })

  test('exports: each can be loaded again and gives the same rules', async () => {
    const kernel = rulesOf((await lab.exec('node/worker1', 'iptables-save')).stdout).sort()
    const exported = async (format: string) =>
      (await lab.run('export', '--node', 'worker1', '--format', format)).stdout
    for (const format of ['save', 'restore']) {
      const loaded = inEmptyNamespace('iptables-nft-restore; iptables-nft-save', await exported(format))
      expect(loaded).toMatchObject({ code: 0 })
      expect(rulesOf(loaded.stdout).sort()).toEqual(kernel)
    }
    const script = join(folder, 'rules.sh')
    expect((await lab.run('export', '--node', 'worker1', '--format', 'script', '-o', script)).code).toBe(0)
    expect(readFileSync(script, 'utf8')).toContain('# endpoint 10.244.1.7:80 of Service default/http-svc TCP')
    const ran = inEmptyNamespace(
      `PATH=/usr/sbin:$PATH; iptables() { iptables-nft "$@"; }; . ${script} && iptables-nft-save`,
    )
    expect(ran).toMatchObject({ code: 0 })
    expect(rulesOf(ran.stdout).sort()).toEqual(kernel)
    expect(await exported('nft')).toContain('KUBE-SERVICES')
    const json = JSON.parse(await exported('json')) as {
      nodes: { tables: { chains: { chain: string; origin?: { service?: string } }[] }[] }[]
    }
    const chain = json.nodes[0]?.tables
      .flatMap(({ chains }) => chains)
      .find(({ chain: name }) => name === 'KUBE-SVC-GM62ZXCOIF6ZCRWU')
    expect(chain?.origin?.service).toBe('http-svc')
  })

  test('a bundle starts the same lab again, hand-made rules and all', async () => {
    const ban = ['-s', '172.18.0.254/32', '-p', 'tcp', '-m', 'tcp', '--dport', '32054', '-j', 'DROP']
    await lab.exec('node/worker1', 'iptables', '-t', 'raw', '-A', 'PREROUTING', ...ban)
    await lab.exec('node/worker1', 'iptables', '-I', 'FORWARD', '2', '-j', 'LOG', '--log-prefix', 'seen: ')
    const bundle = join(folder, 'lab.chainwalk')
    expect((await lab.run('export', '--format', 'bundle', '-o', bundle)).code).toBe(0)
    const again = await startLab({ files: [bundle] })
    try {
      for (const table of ['raw', 'filter', 'nat']) {
        const save = async (of: Lab) =>
          rulesOf((await of.exec('node/worker1', 'iptables-save', '-t', table)).stdout)
        expect((await save(again)).sort()).toEqual((await save(lab)).sort())
      }
      const forward = (await again.exec('node/worker1', 'iptables', '-S', 'FORWARD')).stdout.split('\n')
      expect(forward[2]).toBe('-A FORWARD -j LOG --log-prefix "seen: "')
    } finally {
      await again.down()
    }
  })

  test('counters --watch prints again when a number changes', async () => {
    const [file = '', ...before] = programFor('root').words
    const child: ChildProcess = spawn(file, [
      ...before,
      ...[
        'counters',
        '--name',
        lab.name,
        'node/worker2',
        'KUBE-SVC-GM62ZXCOIF6ZCRWU',
        '--watch',
        '-o',
        'json',
      ],
    ])
    let text = ''
    child.stdout?.on('data', (data) => {
      text += data
    })
    const looks = () => text.split(/^\[$/m).length - 1
    await expect.poll(looks, { timeout: 10_000 }).toBe(1)
    await lab.exec('node/worker2', 'curl', '-sS', '--max-time', '3', 'http://10.107.38.142/')
    await expect.poll(looks, { timeout: 10_000 }).toBeGreaterThan(1)
    child.kill('SIGINT')
    await new Promise((resolve) => child.once('exit', resolve))
  })
})

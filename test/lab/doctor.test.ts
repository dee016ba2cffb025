import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Check } from '../../src-main/domain/doctor/check.ts'
import { findTool } from '../../src-main/system/command/find-tool.ts'
import { trySandbox } from '../../src-main/system/doctor/try-sandbox.ts'
import { root as checkout } from './chainwalk.ts'

const isRoot = process.getuid?.() === 0
const inCi = Boolean(process.env['CI'])
const USER = 'chainwalk-test'
const LIMIT_MS = 30_000

/** A folder that any user may read, with what `doctor` needs of the built program. */
let copy = ''
let hasMadeUser = false
let user = { uid: 0, gid: 0 }

interface Report {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  readonly ok: boolean
  readonly checks: readonly Check[]
}

function idOf(flag: '-u' | '-g'): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, USER], { encoding: 'utf8' })
  return status === 0 ? Number(stdout) : undefined
}

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'chainwalk-doctor-'))
  chmodSync(copy, 0o755)
  const packages = ['koffi', '@koromix', 'node-pty', '@lydell'].map((name) => `node_modules/${name}`)
  for (const part of ['out', 'package.json', ...packages])
    cpSync(join(checkout, part), join(copy, part), { recursive: true, dereference: true })
  if (!isRoot) return
  if (idOf('-u') === undefined) {
    const { status, stderr } = spawnSync('useradd', ['--no-create-home', USER], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`useradd ended with ${status}: ${stderr}`)
    hasMadeUser = true
  }
  user = { uid: idOf('-u') ?? 0, gid: idOf('-g') ?? 0 }
})

afterAll(() => {
  rmSync(copy, { recursive: true, force: true })
  if (hasMadeUser) spawnSync('userdel', [USER])
})

/** What a doctor could leave behind on the machine. */
function readTraces() {
  return {
    links: spawnSync('ip', ['-o', 'link', 'show'], { encoding: 'utf8' }).stdout.replace(/ qlen .*/g, ''),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8'),
    probes: readdirSync('/proc').filter((pid) => {
      if (!/^\d+$/.test(pid)) return false
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`${copy}/`)
      } catch {
        return false // it has just ended
      }
    }),
    files: ['/run', '/run/netns'].flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : [])),
  }
}

let before: ReturnType<typeof readTraces>
beforeEach(() => {
  before = readTraces()
})
afterEach(() => {
  expect(readTraces()).toEqual(before)
})

const asUser = () => ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups']
const doctor = (...words: string[]) => [process.execPath, join(copy, 'out/main/cli.cjs'), 'doctor', ...words]

function run(argv: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const [file = '', ...args] = argv
  const { status, stdout, stderr } = spawnSync(file, args, {
    encoding: 'utf8',
    cwd: '/',
    env,
    timeout: LIMIT_MS,
  })
  return { status: status ?? -1, stdout, stderr }
}

function read({ status, stdout, stderr }: ReturnType<typeof run>): Report {
  try {
    return { status, stdout, stderr, ...(JSON.parse(stdout) as Pick<Report, 'ok' | 'checks'>) }
  } catch {
    throw new Error(`doctor ended with ${status} and no JSON:\n${stdout}${stderr}`)
  }
}

const diagnose = (before: readonly string[] = [], env?: NodeJS.ProcessEnv): Report =>
  read(run([...before, ...doctor('--json')], env))

function find({ checks }: Report, id: string): Check {
  const found = checks.find((check) => check.id === id)
  if (!found) throw new Error(`no check ${id}`)
  return found
}

const idsBy = ({ checks }: Report, status: Check['status']): string[] =>
  checks.filter((check) => check.status === status).map(({ id }) => id)

/** A machine that runs the lab's tests can run a lab, whatever it may lack besides. */
function expectReady(report: Report): void {
  expect(idsBy(report, 'failed')).toEqual([])
  expect(report).toMatchObject({ status: 0, ok: true })
  for (const id of ['sandbox', 'capabilities', 'files', 'veth', 'bridge', 'sysctls', 'rule-dnat', 'terminal'])
    expect(find(report, id)).toMatchObject({ status: 'ok' })
}

test('writes lines for people, without colour to a pipe', () => {
  const { status, stdout } = run(doctor())
  expect(status).toBe(0)
  expect(stdout).not.toContain('\u001b')
  expect(stdout).toMatch(/^ok +Node\.js +\d+\.\d+\.\d+$/m)
  expect(stdout).toMatch(/^this machine can run a lab as (root|an ordinary user)/m)
})

describe.skipIf(!isRoot && !inCi)('as root and as an ordinary user', () => {
  test('finds the machine ready for root', () => {
    const report = diagnose()
    expectReady(report)
    expect(find(report, 'sandbox').found).toBe('as root')
    expect(find(report, 'tcpdump').status).toBe('ok')
  })

  test('finds the machine ready for an ordinary user, with the same checks', () => {
    const report = diagnose(asUser())
    expectReady(report)
    expect(find(report, 'sandbox').found).toBe('as an ordinary user')
    expect(find(report, 'tcpdump').status).toBe('ok')
    expect(report.checks.map(({ id }) => id)).toEqual(diagnose().checks.map(({ id }) => id))
  })

  test('finds that root may do nothing without CAP_SYS_ADMIN, as in a container', () => {
    const report = diagnose(['setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin'])
    expect(report).toMatchObject({ status: 3, ok: false })
    expect(idsBy(report, 'failed')).toEqual(expect.arrayContaining(['sandbox', 'capabilities']))
    expect(find(report, 'sandbox').found).toContain('root has no CAP_SYS_ADMIN')
    expect(find(report, 'rule-nat').status).toBe('unknown')
  })
})

describe.skipIf(!isRoot && !inCi)('without a tool', () => {
  let folder = ''
  const pathWithout = (...tools: string[]): NodeJS.ProcessEnv => {
    folder = join(copy, `bin-without-${tools.join('-')}`)
    mkdirSync(folder)
    for (const name of new Set(['/usr/bin', '/bin'].flatMap((from) => readdirSync(from))))
      if (!tools.includes(name))
        symlinkSync(existsSync(`/usr/bin/${name}`) ? `/usr/bin/${name}` : `/bin/${name}`, join(folder, name))
    return { ...process.env, PATH: folder }
  }
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  test('names the package of what is missing, and a lab is possible', () => {
    const report = diagnose(asUser(), pathWithout('curl', 'ping'))
    expect(idsBy(report, 'warning')).toEqual(expect.arrayContaining(['tool-curl', 'tool-ping']))
    expect(find(report, 'tool-curl').remedy).toMatch(/\bcurl\b/)
    if (findTool('apt-get'))
      expect(find(report, 'tool-ping').remedy).toBe(
        'sudo apt-get install -y --no-install-recommends iputils-ping',
      )
    expect(find(report, 'terminal').status).toBe('ok')
    expect(report.status).toBe(0)
  })

  test('says that there is no lab without unshare', () => {
    const env = pathWithout('unshare')
    const report = diagnose([], env)
    expect(report).toMatchObject({ status: 3, ok: false })
    expect(idsBy(report, 'failed')).toEqual(['tool-unshare'])
    expect(find(report, 'sandbox')).toMatchObject({ status: 'unknown', found: 'unshare is not installed' })
  })
})

/** Covers a file in a mount namespace of the command's own: no program can run or load it there. */
const covering = (path: string): string[] => [
  ...['unshare', '--mount', 'sh', '-c', `mount -n --bind /dev/null '${path}' && exec "$@"`, 'sh'],
]

function findFile(folders: readonly string[], name: string): string | undefined {
  const { stdout } = spawnSync('find', [...folders.filter(existsSync), '-name', name], { encoding: 'utf8' })
  return stdout.split('\n')[0] || undefined
}

const nftProgram = findTool('iptables-nft')
const statistic = findFile(['/usr/lib', '/usr/lib64'], 'libxt_statistic.so')

describe.skipIf(!isRoot && !inCi)('with a part of iptables missing', () => {
  test.skipIf(!nftProgram || !findTool('iptables-legacy'))('knows legacy iptables alone', () => {
    const report = diagnose(covering(realpathSync(nftProgram ?? '')))
    expect(find(report, 'iptables')).toMatchObject({ status: 'warning' })
    expect(find(report, 'iptables').found).toContain('legacy back end only')
  })

  test.skipIf(!statistic)('names the one extension that is not there', () => {
    const report = diagnose(covering(statistic ?? ''))
    expect(idsBy(report, 'failed')).toEqual(['rule-statistic'])
    expect(find(report, 'rule-statistic').found).toContain("Couldn't load match `statistic'")
    expect(find(report, 'rule-addrtype').status).toBe('ok')
    expect(report.status).toBe(3)
  })
})

/**
 * Runs a command as the ordinary user where a namespace limit is 0. The limits belong to a user namespace: one is
 * made for this, with all users in it, and the machine's own stay as they are.
 */
async function whereLimitIsZero(limit: string, argv: readonly string[]): Promise<Report> {
  // Without a user there are no capabilities after an exec: the second sh is the first to have them.
  const limited = `echo 0 > /proc/sys/user/${limit} && exec "$@"`
  const script = `echo ready; read go; exec sh -c '${limited}' sh "$@"`
  const child: ChildProcess = spawn('unshare', ['--user', 'sh', '-c', script, 'sh', ...argv], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  let stdout = ''
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (stdout === '' && text === 'ready\n') {
      for (const map of ['uid_map', 'gid_map']) writeFileSync(`/proc/${child.pid}/${map}`, '0 0 65536\n')
      child.stdin?.end('go\n')
    } else stdout += text
  })
  const status = await new Promise<number>((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve(code ?? -1)
    })
  })
  return read({ status, stdout, stderr })
}

describe.skipIf(!isRoot && !inCi)('with a limit of 0', () => {
  test.each(['max_user_namespaces', 'max_net_namespaces'])('names user.%s', async (limit) => {
    const report = await whereLimitIsZero(limit, [...asUser(), ...doctor('--json')])
    expect(report).toMatchObject({ status: 3, ok: false })
    const id = limit.replaceAll('_', '-')
    expect(idsBy(report, 'failed')).toEqual(expect.arrayContaining([id, 'sandbox']))
    for (const check of [find(report, id), find(report, 'sandbox')])
      expect(check.remedy).toMatch(new RegExp(`^sudo sysctl -w user\\.${limit}=15000\n`))
  })
})

describe.skipIf(!isRoot && !inCi)('a program that goes wrong in the sandbox', () => {
  const program = (text: string): string => {
    const path = join(copy, 'broken.mjs')
    writeFileSync(path, text)
    return path
  }
  const start = `process.stdout.write('{"probe":"start","capabilities":"ff"}\\n')`

  test('is stopped when it hangs, and what it told before is kept', async () => {
    const hangs = program(
      `${start}; process.stdout.write('{"probe":"veth","result":{"outcome":"works"}}\\n{"pro')
      while (true);`,
    )
    const result = await trySandbox(hangs, 1500)
    expect(result).toMatchObject({ state: 'entered', probes: { veth: { outcome: 'works' } } })
    expect(result).toMatchObject({ brokenOff: 'no end after 1500 ms' })
  })

  test('is told from a machine that refuses the sandbox', async () => {
    const dies = program(`${start}; throw new Error('worn out')`)
    expect(await trySandbox(dies)).toMatchObject({
      state: 'entered',
      brokenOff: expect.stringContaining('Error: worn out') as string,
    })
    expect(await trySandbox(join(copy, 'missing.mjs'))).toMatchObject({
      state: 'refused',
      said: expect.stringContaining('Cannot find module') as string,
    })
  })
})

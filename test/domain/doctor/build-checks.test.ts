import { describe, expect, it } from 'vitest'
import { buildChecks, isReady } from '../../../src-main/domain/doctor/build-checks.ts'
import type { Check } from '../../../src-main/domain/doctor/check.ts'
import type { MachineFacts } from '../../../src-main/domain/doctor/machine-facts.ts'
import { facts, refused, root, sandbox, sysctls, without } from './healthy-facts.ts'

function find(checks: readonly Check[], id: string): Check {
  const found = checks.find((check) => check.id === id)
  if (!found) throw new Error(`no check ${id}`)
  return found
}

const judge = (changes: Partial<MachineFacts>, id: string): Check => find(buildChecks(facts(changes)), id)

const firstLineOf = (check: Check): string | undefined => check.remedy?.split('\n')[0]

const idsBy = (checks: readonly Check[], status: Check['status']): string[] =>
  checks.filter((check) => check.status === status).map(({ id }) => id)

describe('a machine without obstacles', () => {
  it.each([
    ['as an ordinary user', {}],
    ['as root', root],
  ])('passes every check %s', (_, changes) => {
    const checks = buildChecks(facts(changes))
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([])
    expect(checks.every(({ remedy }) => remedy === null)).toBe(true)
    expect(isReady(checks)).toBe(true)
  })

  it('has the same checks in the same order whatever the machine is like', () => {
    const ids = (changes: Partial<MachineFacts>) => buildChecks(facts(changes)).map(({ id }) => id)
    const all = ids({})
    expect(new Set(all).size).toBe(all.length)
    expect(ids(root)).toEqual(all)
    expect(ids({ sandbox: refused('unshare: unshare failed: Operation not permitted') })).toEqual(all)
    expect(ids({ sandbox: { state: 'not-tried', reason: '' }, iptables: [], tools: without() })).toEqual(all)
  })
})

describe('user namespaces', () => {
  const notPermitted = refused('unshare: unshare failed: Operation not permitted')

  it('names the switch of Debian and hardened kernels', () => {
    const checks = buildChecks(
      facts({ sysctls: sysctls({ 'kernel.unprivileged_userns_clone': 0 }), sandbox: notPermitted }),
    )
    const remedy = 'sudo sysctl -w kernel.unprivileged_userns_clone=1'
    for (const id of ['userns-clone', 'sandbox']) {
      expect(find(checks, id).status).toBe('failed')
      expect(firstLineOf(find(checks, id))).toBe(remedy)
    }
    expect(find(checks, 'sandbox').remedy).toContain('/etc/sysctl.d/')
    expect(idsBy(checks, 'failed')).toEqual(['userns-clone', 'sandbox'])
    expect(find(checks, 'rule-dnat')).toMatchObject({ status: 'unknown', found: 'the sandbox did not start' })
  })

  it('names max_user_namespaces', () => {
    const checks = buildChecks(
      facts({
        sysctls: sysctls({ 'user.max_user_namespaces': 0 }),
        sandbox: refused('unshare: unshare failed: No space left on device'),
      }),
    )
    expect(idsBy(checks, 'failed')).toEqual(['max-user-namespaces', 'sandbox'])
    expect(firstLineOf(find(checks, 'sandbox'))).toBe('sudo sysctl -w user.max_user_namespaces=15000')
  })

  it('names max_net_namespaces, also to root, who needs no sudo', () => {
    const checks = buildChecks(
      facts({
        ...root,
        sysctls: sysctls({ 'user.max_net_namespaces': 0, 'user.max_user_namespaces': 0 }),
        sandbox: refused('unshare: unshare failed: No space left on device'),
      }),
    )
    expect(idsBy(checks, 'failed')).toEqual(['max-net-namespaces', 'sandbox'])
    expect(firstLineOf(find(checks, 'sandbox'))).toBe('sysctl -w user.max_net_namespaces=15000')
  })

  it('warns where only small labs fit', () => {
    const check = judge({ sysctls: sysctls({ 'user.max_net_namespaces': 20 }) }, 'max-net-namespaces')
    expect(check.status).toBe('warning')
  })

  it.each([
    ['is refused', refused('unshare: write failed /proc/self/uid_map: Operation not permitted')],
    ['comes up without capabilities', { ...sandbox(), capabilities: '0000000000000000' }],
    ['shows capabilities that are denied', sandbox({ files: 'mount  on /: Permission denied (EACCES)' })],
  ] as const)("names Ubuntu's AppArmor where the namespace %s", (_, tried) => {
    const check = judge(
      { sysctls: sysctls({ 'kernel.apparmor_restrict_unprivileged_userns': 1 }), sandbox: tried },
      'apparmor-userns',
    )
    expect(check.status).toBe('failed')
    expect(firstLineOf(check)).toBe('sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0')
    expect(check.remedy).toContain('as root')
  })

  it('is content with AppArmor where a profile lets Chainwalk pass, and for root', () => {
    const restricted = sysctls({ 'kernel.apparmor_restrict_unprivileged_userns': 1 })
    expect(judge({ sysctls: restricted }, 'apparmor-userns').status).toBe('ok')
    expect(judge({ ...root, sysctls: restricted }, 'apparmor-userns').status).toBe('ok')
  })

  it('fails without capabilities inside, whatever the reason', () => {
    const check = judge(
      { sandbox: { ...sandbox(), capabilities: '0000000000000000' } as MachineFacts['sandbox'] },
      'capabilities',
    )
    expect(check.status).toBe('failed')
    expect(firstLineOf(check)).toContain('sudo npx chainwalk')
  })

  it('says what an old unshare and a kernel without namespaces mean', () => {
    expect(
      judge({ sandbox: refused("unshare: unrecognized option '--kill-child'") }, 'sandbox').remedy,
    ).toContain('util-linux')
    expect(
      judge({ sandbox: refused('unshare: unshare failed: Invalid argument') }, 'sandbox').remedy,
    ).toContain('CONFIG_USER_NS')
  })

  it('says when the program inside broke off or a package is missing', () => {
    const broken = (brokenOff: string) =>
      judge({ sandbox: { ...sandbox(), brokenOff } as MachineFacts['sandbox'] }, 'sandbox')
    expect(broken('no end after 10000 ms')).toMatchObject({ status: 'failed' })
    expect(broken("it ended with status 1: Error: Cannot find module 'koffi'").remedy).toBe('npm ci')
  })
})

describe('containers and WSL', () => {
  it.each(['docker', 'podman', 'flatpak', 'snap'])('sends users out of %s where nothing starts', (name) => {
    const checks = buildChecks(
      facts({ container: name, sandbox: refused('unshare: unshare failed: Operation not permitted') }),
    )
    expect(idsBy(checks, 'failed')).toEqual(['container', 'sandbox'])
    expect(find(checks, 'container').found).toContain(name)
    expect(find(checks, 'container').remedy).toContain('on the machine itself')
  })

  it('names the missing CAP_SYS_ADMIN of root in docker', () => {
    const checks = buildChecks(
      facts({
        uid: 0,
        capabilities: '00000000a80425fb', // what docker leaves
        container: 'docker',
        sandbox: refused('unshare: unshare failed: Operation not permitted'),
      }),
    )
    expect(find(checks, 'capabilities').found).toBe('root without CAP_SYS_ADMIN')
    expect(find(checks, 'sandbox').found).toBe('root has no CAP_SYS_ADMIN in this docker container')
  })

  it('does not blame a container for a limit', () => {
    const checks = buildChecks(
      facts({
        container: 'docker',
        sysctls: sysctls({ 'user.max_net_namespaces': 0 }),
        sandbox: refused('unshare: unshare failed: No space left on device'),
      }),
    )
    expect(idsBy(checks, 'failed')).toEqual(['max-net-namespaces', 'sandbox'])
    expect(find(checks, 'container').status).toBe('unknown')
  })

  it('names a container that masks /proc', () => {
    const check = judge(
      { ...root, container: 'docker', sandbox: refused('unshare: mount /proc failed: Permission denied') },
      'sandbox',
    )
    expect(check.remedy).toContain('--privileged')
  })

  it('accepts a container in which a sandbox starts', () => {
    expect(judge({ container: 'docker' }, 'container').status).toBe('ok')
  })

  it('refuses WSL 1 and lets the probes decide on WSL 2', () => {
    const one = judge(
      {
        kernelRelease: '4.4.0-19041-Microsoft',
        wslDistribution: 'Ubuntu',
        sandbox: refused('unshare: unshare failed: Invalid argument'),
      },
      'wsl',
    )
    expect(one.status).toBe('failed')
    expect(firstLineOf(one)).toBe('wsl.exe --set-version Ubuntu 2')
    expect(judge({ kernelRelease: '5.15.167.4-microsoft-standard-WSL2' }, 'wsl').status).toBe('ok')
  })
})

describe('versions', () => {
  it.each([
    ['18.20.4', 'failed'],
    ['20.18.3', 'failed'],
    ['20.19.0', 'ok'],
    ['22.1.0', 'ok'],
  ])('Node.js %s is %s', (nodeVersion, status) => {
    expect(judge({ nodeVersion }, 'node').status).toBe(status)
  })

  it.each([
    ['4.15.0-213-generic', 'failed'],
    ['4.19.0-27-amd64', 'warning'],
    ['4.18.0-553.el8_10.x86_64', 'warning'],
    ['5.4.0-200-generic', 'ok'],
    ['6.13.0', 'ok'],
  ])('kernel %s is %s', (kernelRelease, status) => {
    expect(judge({ kernelRelease }, 'kernel').status).toBe(status)
  })
})

describe('tools', () => {
  it.each([
    ['apt', 'conntrack', 'sudo apt-get install -y --no-install-recommends conntrack'],
    ['dnf', 'conntrack', 'sudo dnf install -y conntrack-tools'],
    ['pacman', 'conntrack', 'sudo pacman -S --needed --noconfirm conntrack-tools'],
    ['zypper', 'conntrack', 'sudo zypper --non-interactive install conntrack-tools'],
    ['apt', 'ping', 'sudo apt-get install -y --no-install-recommends iputils-ping'],
    ['dnf', 'ss', 'sudo dnf install -y iproute'],
    ['zypper', 'nft', 'sudo zypper --non-interactive install nftables'],
    [undefined, 'curl', "install curl with your distribution's package manager"],
  ] as const)('with %s a missing %s is a warning with its command', (packageManager, tool, remedy) => {
    const checks = buildChecks(facts({ packageManager, tools: without(tool) }))
    expect(idsBy(checks, 'warning')).toEqual([`tool-${tool}`])
    expect(find(checks, `tool-${tool}`).remedy).toBe(remedy)
    expect(isReady(checks)).toBe(true)
  })

  it.each(['unshare', 'setpriv'])('without %s there is no lab', (tool) => {
    const reason = `${tool} is not installed`
    const checks = buildChecks(facts({ tools: without(tool), sandbox: { state: 'not-tried', reason } }))
    expect(idsBy(checks, 'failed')).toEqual([`tool-${tool}`])
    expect(find(checks, 'sandbox')).toMatchObject({ status: 'unknown', found: reason })
  })

  it('without iptables there is no lab', () => {
    const check = judge({ iptables: [], packageManager: 'dnf' }, 'iptables')
    expect(check).toMatchObject({ status: 'failed', remedy: 'sudo dnf install -y iptables-nft' })
  })

  it('names what legacy iptables alone costs', () => {
    const iptables = [{ command: 'iptables', version: 'iptables v1.8.9 (legacy)' }] as const
    const check = judge({ iptables }, 'iptables')
    expect(check.status).toBe('warning')
    expect(check.found).toContain('no live traces')
    // Before 1.8 there was one back end only, and no word for it.
    const old = [{ command: 'iptables', version: 'iptables v1.6.1' }] as const
    expect(judge({ iptables: old }, 'iptables')).toMatchObject({ status: 'warning' })
  })

  it('takes the nft back end by name beside a legacy default', () => {
    const iptables = [
      { command: 'iptables-nft', version: 'iptables v1.8.7 (nf_tables)' },
      { command: 'iptables', version: 'iptables v1.8.7 (legacy)' },
    ] as const
    expect(judge({ iptables }, 'iptables')).toMatchObject({
      status: 'ok',
      found: '1.8.7 (nft back end, iptables-nft)',
    })
  })

  it.each([
    ['1.8.2', 'warning'],
    ['1.8.4', 'ok'],
    ['1.8.11', 'ok'],
    ['1.9.0', 'ok'],
  ])('iptables %s is %s', (version, status) => {
    const iptables = [{ command: 'iptables', version: `iptables v${version} (nf_tables)` }] as const
    expect(judge({ iptables }, 'iptables').status).toBe(status)
  })
})

describe('what was tried inside the sandbox', () => {
  it('warns without br_netfilter and says what a lab does instead', () => {
    const checks = buildChecks(facts({ sandbox: sandbox({ 'bridge-netfilter': 'missing' }) }))
    expect(idsBy(checks, 'warning')).toEqual(['bridge-netfilter'])
    const check = find(checks, 'bridge-netfilter')
    expect(check.found).toContain('pods will hang on routed links')
    expect(firstLineOf(check)).toBe('sudo modprobe br_netfilter')
  })

  it('does not load br_netfilter again where the kernel keeps it to itself', () => {
    const check = judge(
      {
        sysctls: sysctls({ 'net.bridge.bridge-nf-call-iptables': 1 }),
        sandbox: sandbox({ 'bridge-netfilter': 'missing' }),
      },
      'bridge-netfilter',
    )
    expect(check.remedy).not.toContain('modprobe')
  })

  const noModule = (rule: string) =>
    `iptables-nft-restore ended with 4: iptables-nft-restore v1.8.9 (nf_tables): \nline 2: RULE_APPEND failed (No such file or directory): rule in chain ${rule}`

  it.each([
    ['statistic', 'failed', 'sudo modprobe -a nft_compat xt_statistic'],
    ['comment', 'failed', 'sudo modprobe -a nft_compat xt_comment'],
    ['set-mark', 'failed', 'sudo modprobe -a nft_compat xt_mark'],
    ['addrtype', 'failed', 'sudo modprobe -a nft_compat xt_addrtype'],
    ['dnat', 'failed', 'sudo modprobe -a nft_compat xt_nat'],
    ['masquerade', 'failed', 'sudo modprobe -a nft_compat xt_MASQUERADE'],
    ['recent', 'warning', 'sudo modprobe -a nft_compat xt_recent'],
    ['log', 'warning', 'sudo modprobe -a nft_compat xt_LOG'],
    ['nflog', 'warning', 'sudo modprobe -a nft_compat xt_NFLOG'],
  ] as const)('a kernel without %s: %s, with the module to load', (rule, status, command) => {
    const checks = buildChecks(facts({ sandbox: sandbox({ [`rule-${rule}`]: noModule('OUTPUT') }) }))
    expect(idsBy(checks, status)).toEqual([`rule-${rule}`])
    expect(firstLineOf(find(checks, `rule-${rule}`))).toBe(command)
    expect(find(checks, `rule-${rule}`).found).toMatch(/RULE_APPEND failed .* rule in chain OUTPUT$/)
  })

  it('asks for the legacy tables where there is only legacy iptables', () => {
    const check = judge(
      {
        iptables: [{ command: 'iptables', version: 'iptables v1.8.9 (legacy)' }],
        sandbox: sandbox({
          'rule-nat': "iptables-restore v1.8.9 (legacy): iptables-restore: unable to initialize table 'nat'",
        }),
      },
      'rule-nat',
    )
    expect(firstLineOf(check)).toContain('modprobe -a iptable_nat iptable_filter')
  })

  it('tells an extension that iptables lacks from one that the kernel lacks', () => {
    const said =
      "iptables-nft-restore v1.8.9 (nf_tables): Couldn't load match `statistic':No such file or directory"
    const check = judge({ sandbox: sandbox({ 'rule-statistic': said }) }, 'rule-statistic')
    expect(firstLineOf(check)).toBe('sudo apt-get install -y --no-install-recommends iptables')
  })

  it('names where Fedora keeps further modules', () => {
    const check = judge({ packageManager: 'dnf', sandbox: sandbox({ veth: 'EOPNOTSUPP' }) }, 'veth')
    expect(check.remedy).toContain('sudo dnf install -y kernel-modules-extra')
  })

  it('says how a lab lives without tcpdump, traces, conntrack and terminals', () => {
    const checks = buildChecks(
      facts({
        sandbox: sandbox({
          tcpdump:
            "tcpdump ended with 1: tcpdump: Couldn't change to 'root' uid=0 gid=0: Operation not permitted",
          trace: 'nft ended with 1',
          connections: 'list connections: EPERM',
          terminal: 'forkpty(3) failed',
        }),
      }),
    )
    expect(idsBy(checks, 'warning')).toEqual(['connections', 'trace', 'tcpdump', 'terminal'])
    expect(checks.filter(({ status }) => status === 'warning').every(({ remedy }) => remedy)).toBe(true)
    expect(isReady(checks)).toBe(true)
  })

  it('knows the size of one batch of rules, for users only', () => {
    expect(judge({}, 'rule-batch').found).toContain('about 295')
    expect(judge(root, 'rule-batch').found).toBe('no limit for root')
    const small = judge({ sysctls: sysctls({ 'net.core.wmem_default': 65536 }) }, 'rule-batch')
    expect(small.status).toBe('warning')
    expect(firstLineOf(small)).toBe('sudo sysctl -w net.core.wmem_default=212992')
  })

  it('passes on why something was not tried', () => {
    const skipped = { outcome: 'skipped', reason: 'not tried: nft is not installed' } as const
    expect(judge({ sandbox: sandbox({ trace: skipped }) }, 'trace')).toMatchObject({
      status: 'unknown',
      found: skipped.reason,
    })
  })

  it('gives every failure and warning something to do', () => {
    const all = sandbox()
    if (all.state !== 'entered') throw new Error('not a sandbox')
    for (const name of Object.keys(all.probes)) {
      const checks = buildChecks(facts({ sandbox: sandbox({ [name]: 'refused (EPERM)' }) }))
      const bad = checks.filter(({ status }) => status === 'failed' || status === 'warning')
      expect(bad.map(({ id }) => id)).toContain(name)
      expect(bad.filter(({ remedy }) => !remedy)).toEqual([])
    }
  })
})

it('warns where memory is short', () => {
  expect(judge({ availableMemoryBytes: 200 * 1024 ** 2 }, 'memory').status).toBe('warning')
  expect(judge({ availableMemoryBytes: undefined }, 'memory').status).toBe('unknown')
})

import { type Check, check, type Finding, failed, ok, unknown, warning } from './check.ts'
import { inOneLine, LEAVE_CONTAINER } from './find-start-cause.ts'
import { selectIptables } from './judge-tools.ts'
import type { MachineFacts, ProbeName } from './machine-facts.ts'
import { asRoot, installCommand, loadModules, setSysctl } from './remedies.ts'
import { type RuleProbeName, ruleProbeNames, ruleProbes } from './rule-probes.ts'

/** The checks of what was tried inside the sandbox. */
export function probeChecks(facts: MachineFacts): Check[] {
  return [
    check('files', 'read-only files', judge(facts, 'files', filesFail)),
    check('network-namespace', 'network namespaces', judge(facts, 'network-namespace', netnsFails)),
    check('veth', 'veth cables', judge(facts, 'veth', linkFails(['veth']))),
    check('bridge', 'bridges', judge(facts, 'bridge', linkFails(['bridge', 'stp', 'llc']))),
    check('sysctls', 'sysctls of a namespace', judge(facts, 'sysctls', sysctlsFail)),
    check('bridge-netfilter', 'br_netfilter', judge(facts, 'bridge-netfilter', bridgeNetfilterFails)),
    check('nf-tables', 'nf_tables over netlink', judge(facts, 'nf-tables', nfTablesFail)),
    ...ruleProbeNames.map((name) =>
      check(`rule-${name}`, ruleTitles[name], judge(facts, `rule-${name}`, ruleFails(name))),
    ),
    check('rule-batch', 'rules in one call', judgeRuleBatch(facts)),
    check('connections', 'conntrack table', judge(facts, 'connections', connectionsFail)),
    check('trace', 'packet traces', judge(facts, 'trace', traceFails)),
    check('tcpdump', 'tcpdump starts', judge(facts, 'tcpdump', tcpdumpFails)),
    check('terminal', 'terminals', judge(facts, 'terminal', terminalFails)),
  ]
}

const ruleTitles: Readonly<Record<RuleProbeName, string>> = {
  nat: 'table nat',
  comment: '-m comment',
  tcp: '-m tcp',
  statistic: '-m statistic',
  mark: '-m mark',
  'set-mark': '-j MARK',
  conntrack: '-m conntrack',
  addrtype: '-m addrtype',
  recent: '-m recent',
  dnat: '-j DNAT',
  masquerade: '-j MASQUERADE',
  reject: '-j REJECT',
  sctp: '-m sctp',
  log: '-j LOG',
  nflog: '-j NFLOG',
}

type JudgeFailure = (facts: MachineFacts, said: string) => Finding

function judge(facts: MachineFacts, probe: ProbeName, onFailure: JudgeFailure): Finding {
  const { sandbox } = facts
  if (sandbox.state !== 'entered') return unknown('the sandbox did not start')
  const result = sandbox.probes[probe]
  if (!result) return unknown('not tried: the sandbox ended before')
  switch (result.outcome) {
    case 'works':
      return ok('works')
    case 'skipped':
      return unknown(result.reason)
    case 'fails':
      return onFailure(facts, inOneLine(result.said))
  }
}

const filesFail: JudgeFailure = ({ container }, said) =>
  failed(
    said,
    container
      ? LEAVE_CONTAINER
      : 'the kernel or a security module refuses to mount inside the sandbox; start the lab as root',
  )

const netnsFails: JudgeFailure = (facts, said) =>
  failed(
    said,
    /ENOSPC|No space left/.test(said)
      ? setSysctl(facts, 'user.max_net_namespaces', 15000)
      : 'use a kernel with CONFIG_NET_NS, outside of a container that forbids it',
  )

const linkFails =
  (modules: readonly string[]): JudgeFailure =>
  (facts, said) =>
    failed(said, loadModules(facts, modules))

const sysctlsFail: JudgeFailure = (_, said) =>
  failed(said, 'something keeps /proc/sys read-only, as containers do; run Chainwalk outside of it')

const bridgeNetfilterFails: JudgeFailure = (facts, said) =>
  warning(
    `${said}: pods will hang on routed links instead of the bridge cni0`,
    facts.sysctls['net.bridge.bridge-nf-call-iptables'] === undefined
      ? loadModules(facts, ['br_netfilter'])
      : 'br_netfilter is loaded, but this kernel keeps it from other namespaces: a lab needs 5.3 or newer for it',
  )

const nfTablesFail: JudgeFailure = (facts, said) =>
  failed(said, loadModules(facts, ['nf_tables', 'nft_compat']))

const ruleFails =
  (name: RuleProbeName): JudgeFailure =>
  (facts, said) => {
    const { modules, without } = ruleProbes[name]
    const legacy = !selectIptables(facts.iptables)?.version.includes('nf_tables')
    const remedy = /Couldn't load (match|target)/.test(said)
      ? `${installCommand(facts, 'iptables')}\nthe iptables that is installed lacks this extension: reinstall it`
      : loadModules(facts, [...(legacy ? ['iptable_nat', 'iptable_filter'] : ['nft_compat']), ...modules])
    return without === 'no-services'
      ? failed(`no Service can be loaded: ${said}`, remedy)
      : warning(`${without}: ${said}`, remedy)
  }

/** About 720 bytes a rule with its chain, measured: 296 rules fit the usual 212992. */
const BATCH_BYTES_A_RULE = 720
/** Rules that the lab writes in one call. */
const CHUNK_RULES = 200

function judgeRuleBatch(facts: MachineFacts): Finding {
  if (facts.uid === 0) return ok('no limit for root')
  const bytes = facts.sysctls['net.core.wmem_default']
  if (bytes === undefined) return unknown('net.core.wmem_default cannot be read')
  const rules = Math.floor(bytes / BATCH_BYTES_A_RULE)
  if (rules < CHUNK_RULES)
    return warning(
      `about ${rules} (net.core.wmem_default is ${bytes}): larger Services may fail to load`,
      setSysctl(facts, 'net.core.wmem_default', 212992),
    )
  return ok(`about ${rules}; larger sets are written in parts (net.core.wmem_default is ${bytes})`)
}

const connectionsFail: JudgeFailure = (facts, said) =>
  warning(
    `connections are not shown, and counters are late: ${said}`,
    loadModules(facts, ['nf_conntrack_netlink']),
  )

const traceFails: JudgeFailure = (facts, said) =>
  warning(`packets cannot be traced: ${said}`, loadModules(facts, ['nf_tables', 'nft_ct']))

const tcpdumpFails: JudgeFailure = (facts, said) => {
  if (said.includes('-Z root')) return warning(said, 'write `tcpdump -Z root …` in the shells of a lab')
  const remedy =
    facts.uid === 0
      ? installCommand(facts, 'tcpdump')
      : `start the lab as root: ${asRoot(facts, 'npx chainwalk up')}`
  return warning(`packets cannot be recorded: ${said}`, remedy)
}

const terminalFails: JudgeFailure = (_, said) =>
  warning(`no interactive shells: ${said}`, 'npm ci\ncommands still run: chainwalk exec TARGET -- COMMAND')

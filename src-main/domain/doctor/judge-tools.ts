import { type Check, check, type Finding, failed, ok, warning } from './check.ts'
import type { IptablesProgram, MachineFacts, ToolName } from './machine-facts.ts'
import { installCommand } from './remedies.ts'

/** What a lab is like without the tool; `no-lab` where there is none. */
const without: Readonly<Record<ToolName, 'no-lab' | string>> = {
  unshare: 'no-lab',
  setpriv: 'no-lab',
  ip: 'links and routes cannot be looked at in shells',
  ss: 'sockets cannot be looked at in shells',
  curl: 'no requests from shells, demo and lessons',
  tcpdump: 'packets cannot be recorded',
  conntrack: 'connections cannot be looked at or deleted in shells',
  nft: 'rules cannot be looked at as nftables has them',
  ping: 'hosts cannot be pinged',
}

export function toolCheck(facts: MachineFacts, tool: ToolName): Check {
  return check(`tool-${tool}`, tool, judgeTool(facts, tool))
}

function judgeTool(facts: MachineFacts, tool: ToolName): Finding {
  if (facts.tools.has(tool)) return ok('installed')
  const remedy = installCommand(facts, tool)
  const lost = without[tool]
  return lost === 'no-lab' ? failed('not installed', remedy) : warning(`not installed: ${lost}`, remedy)
}

export function iptablesCheck(facts: MachineFacts): Check {
  return check('iptables', 'iptables', judgeIptables(facts))
}

function judgeIptables(facts: MachineFacts): Finding {
  const { iptables } = facts
  if (iptables.length === 0) return failed('not installed', installCommand(facts, 'iptables'))
  const nft = iptables.find(isNft)
  const chosen = nft ?? iptables[0]
  const version = chosen ? parseVersion(chosen.version) : undefined
  const found = `${version?.join('.') ?? chosen?.version} (${nft ? `nft back end, ${nft.command}` : 'legacy back end only'})`
  if (!nft)
    return warning(
      `${found}: no live traces, and every change of a rule costs the whole table`,
      installCommand(facts, 'iptables'),
    )
  if (version && isOlder(version, OLDEST))
    return warning(
      `${found}; before ${OLDEST.join('.')} its nft back end loses or changes some rules`,
      'use a newer release of your distribution, or iptables from its backports',
    )
  return ok(found)
}

const OLDEST = [1, 8, 4] as const

/** `iptables v1.8.9 (nf_tables)`; versions before 1.8 name no back end, for they had one only. */
const isNft = ({ version }: IptablesProgram): boolean => version.includes('nf_tables')

/** The program that a lab writes its rules with: the nft back end by its own name, else whatever there is. */
export function selectIptables(programs: readonly IptablesProgram[]): IptablesProgram | undefined {
  return programs.find(isNft) ?? programs[0]
}

function parseVersion(text: string): readonly number[] | undefined {
  const match = /v(\d+)\.(\d+)\.(\d+)/.exec(text)
  return match?.slice(1).map(Number)
}

function isOlder(version: readonly number[], than: readonly number[]): boolean {
  for (const [i, part] of than.entries()) {
    const own = version[i] ?? 0
    if (own !== part) return own < part
  }
  return false
}

import { LabError } from '../../contract/errors.ts'
import { findTool } from '../command/find-tool.ts'
import { runOrFail, type Where } from '../command/run-command.ts'

export type Backend = 'nft' | 'legacy'

/** The machine's own iptables, by the names that tell its back ends apart. */
export interface IptablesTool {
  readonly backend: Backend
  /** iptables-save's text; `-c` for counters. */
  save(where: Where, args?: readonly string[]): Promise<string>
  /** `iptables-restore --noflush`. Fails with the tool's own words. It starts at once, whenever the text comes. */
  restore(where: Where, text: string | Promise<string>): Promise<void>
}

/** The nft back end where it is installed; with legacy alone a lab works, but the kernel cannot show traces. */
export function findIptables(wanted: Backend | 'auto' = 'auto'): IptablesTool {
  const backends: readonly Backend[] = wanted === 'auto' ? ['nft', 'legacy'] : [wanted]
  const backend = backends.find((name) => findTool(`iptables-${name}-restore`))
  if (!backend)
    throw new LabError(
      'unavailable',
      `iptables${wanted === 'auto' ? '' : ` (${wanted})`} is not installed; \`chainwalk doctor\` says what to install`,
    )
  return {
    backend,
    save: (where, args = []) => runOrFail([`iptables-${backend}-save`, ...args], { where }),
    restore: async (where, text) => {
      await runOrFail([`iptables-${backend}-restore`, '-w', '5', '--noflush', '--counters'], {
        input: text,
        where,
      })
    },
  }
}

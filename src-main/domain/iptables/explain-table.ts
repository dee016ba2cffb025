import { ownValue } from '../own-value.ts'
/** One sentence, with a full stop, for those who have never seen iptables; undefined for a table not known here. */
export function explainTable(table: string): string | undefined {
  return ownValue(TABLES, table)
}

/** As explainTable, for a hook (PREROUTING): a place on a packet's way where the kernel asks the rules. */
export function explainHook(hook: string): string | undefined {
  return ownValue(HOOKS, hook)
}

const TABLES: Readonly<Record<string, string>> = {
  raw: 'The raw table is asked first, before connection tracking; its rules can leave packets out of it.',
  mangle: 'The mangle table marks packets and changes fields of their headers.',
  nat: 'The nat table changes where connections go or come from; only the first packet of a connection is asked, the others follow it.',
  filter: 'The filter table decides whether a packet goes on or is refused or discarded.',
  security: 'The security table sets marks for SELinux, after the filter table has decided.',
}

const HOOKS: Readonly<Record<string, string>> = {
  PREROUTING: 'PREROUTING meets every packet that comes in by an interface, before its way is decided.',
  INPUT: 'INPUT meets packets whose way ends at a process of this node.',
  FORWARD: 'FORWARD meets packets that come in by one interface and go out by another.',
  OUTPUT: 'OUTPUT meets packets that a process of this node has just sent.',
  POSTROUTING:
    'POSTROUTING meets every packet that is about to leave by an interface, after its way is decided.',
}

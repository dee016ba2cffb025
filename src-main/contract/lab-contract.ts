import type { ConnectionEntry, ConnectionFilter } from '../domain/conntrack/connection-entry.ts'
import type { Kind, KubernetesObject } from '../domain/kubernetes/objects.ts'
import type { Problem } from '../domain/kubernetes/problem.ts'
import type { TraceResult } from '../domain/trace/journey.ts'
import type { ChainListing, CounterSample } from './counter-messages.ts'

/** Where a command runs, in full: `client`, `node/NAME` or `pod/NAMESPACE/NAME`. */
export type TargetId = string

export interface ObjectRef {
  /** A kind or one of kubectl's short forms: `pod`, `svc`, `deploy` … */
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

export interface ManifestFile {
  /** As the user named it; "-" for standard input. Only used to say where a problem is. */
  readonly file: string
  readonly text: string
}

export interface ObjectChange {
  readonly verb: 'created' | 'configured' | 'unchanged' | 'deleted' | 'scaled'
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** The rule difference of one node, as lines `+ -A …` and `- -A …` under their table and chain. */
export interface NodeRuleDiff {
  readonly node: string
  readonly added: number
  readonly removed: number
  readonly text: string
}

export interface ApplyResult {
  readonly changes: readonly ObjectChange[]
  /** Only warnings; errors fail the request with the code `bad-input` and `details: {problems}`. */
  readonly problems: readonly Problem[]
  /** Present when asked for. */
  readonly diff?: readonly NodeRuleDiff[]
}

export interface LabStatus {
  readonly name: string
  /** Process id of the holder as seen inside its own sandbox is of no use outside; this is uptime in ms. */
  readonly uptimeMs: number
  readonly version: string
  readonly rootless: boolean
  /** How pods hang on their node: ports of the bridge cni0, or routed links where br_netfilter is missing. */
  readonly attachment: 'bridge' | 'routed'
  /** Which iptables the machine has; with `legacy` the kernel cannot show traces in a namespace. */
  readonly iptables: 'nft' | 'legacy'
  readonly nodes: readonly { readonly name: string; readonly address: string; readonly podCIDR: string }[]
  readonly client: { readonly address: string }
  readonly pods: number
  readonly services: number
  /** Resident memory of the holder, workloads included, in bytes. */
  readonly memoryBytes: number
}

export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

export interface TerminalInfo {
  readonly stream: number
  readonly target: TargetId
  readonly hostname: string
}

/** One rule by its place; numbers count from 1. */
export interface RulePlace {
  readonly table: string
  readonly chain: string
  readonly number: number
  /** After `-A CHAIN`. */
  readonly text: string
}

/** A link as it stands in the kernel; both ends of a cable are links of their own. */
export interface LinkInfo {
  /** `HOST NAME`, unique in the lab; HOST is a target id or `switch`. */
  readonly id: string
  readonly host: TargetId | 'switch'
  readonly name: string
  readonly kind: 'veth' | 'bridge' | 'loopback' | 'other'
  readonly up: boolean
  /** With prefix length. */
  readonly addresses: readonly string[]
  /** The bridge that it is a port of, by link name on the same host. */
  readonly bridge?: string
  readonly hairpin?: boolean
  /** The other end of a cable. */
  readonly peer?: string
}

/** Bytes and packets as seen from the link's own host, as decimal strings. */
export interface LinkCounters {
  readonly id: string
  readonly rxPackets: string
  readonly txPackets: string
  readonly rxBytes: string
  readonly txBytes: string
}

export type Hook = 'PREROUTING' | 'INPUT' | 'FORWARD' | 'OUTPUT' | 'POSTROUTING'

/** How many packets came to one table at one hook: counted by the lab's own nft table beside iptables' tables. */
export interface HookCell {
  readonly hook: Hook
  readonly table: string
  readonly packets: string
  readonly bytes: string
  /** Rules in iptables' chain of that table at that hook; 0 when there is none. */
  readonly rules: number
}

/** Where one rule comes from, for people: the object, and what part the rule plays for it. */
export interface TargetRules {
  readonly target: TargetId
  /** iptables-save text of the kernel, with counters. */
  readonly text: string
  /** Chains that Chainwalk wrote, with the Kubernetes object each serves; chains not listed are a person's own. */
  readonly origins: Readonly<Record<string, ChainOrigin>>
  /** Rules that stand in the kernel and that kube-proxy did not write. */
  readonly handMade: readonly RulePlace[]
  /** Rules that kube-proxy wrote and that somebody took away; `number` is where each belongs. */
  readonly missing: readonly RulePlace[]
}

export interface ChainOrigin {
  readonly role: string
  readonly namespace?: string
  readonly service?: string
  readonly portName?: string
  readonly protocol?: string
  readonly endpoint?: string
}

export interface RuleSetVersion {
  readonly node: string
  readonly version: number
  /** RFC 3339. */
  readonly time: string
  /** What made it: an apply, a scale, a pod condition, or a change typed by hand on the node. */
  readonly cause: string
  readonly added: number
  readonly removed: number
}

/** A host's conntrack table as it stands. */
export interface ConnectionTable {
  /** Entries in the kernel's table. */
  readonly total: number
  /** Those that the filter lets through; more than `entries` holds where the list was cut. */
  readonly matching: number
  /** 2,000 at most. */
  readonly entries: readonly ConnectionEntry[]
}

/** A rule with the target LOG. */
export interface SilentRule extends RulePlace {
  readonly target: TargetId
}

/** How far a packet capture has come. */
export interface CaptureState {
  readonly capture: number
  readonly host: TargetId | 'switch'
  readonly link: string
  readonly packets: number
  /** Of the pcap file. */
  readonly bytes: number
  readonly running: boolean
  /** It ended by itself because it held 10,000 packets or 16 MB. */
  readonly isCut: boolean
  /** Packets that the kernel had no room for; known at the end. */
  readonly dropped: number
}

/** A stream's data is base64 where it is bytes (exec) and text where it is a terminal. */
export interface Requests {
  'lab/status': { params: Record<string, never>; result: LabStatus }
  'lab/stop': { params: Record<string, never>; result: null }
  'objects/apply': {
    params: { manifests: readonly ManifestFile[]; dryRun?: boolean; diff?: boolean }
    result: ApplyResult
  }
  'objects/delete': {
    params: {
      refs?: readonly ObjectRef[]
      manifests?: readonly ManifestFile[]
      dryRun?: boolean
      diff?: boolean
    }
    result: ApplyResult
  }
  'objects/scale': { params: { ref: ObjectRef; replicas: number }; result: ApplyResult }
  'objects/list': {
    params: { kinds: readonly string[]; namespace?: string; name?: string }
    /** `now` is the lab's clock (RFC 3339), for ages. One group for each kind that was asked for. */
    result: {
      now: string
      groups: readonly { readonly kind: Kind; readonly objects: readonly KubernetesObject[] }[]
    }
  }
  /** What `kubectl get` prints for them; `found` is false where there is nothing (the text says so). */
  'objects/print': {
    params: {
      kinds: readonly string[]
      namespace?: string
      name?: string
      format: 'table' | 'wide' | 'json' | 'yaml'
    }
    result: { text: string; found: boolean }
  }
  'pods/set-condition': {
    params: {
      namespace: string
      name: string
      condition: 'ready' | 'not-ready' | 'terminating' | 'deleted'
    }
    result: ApplyResult
  }
  /** Expands a unique prefix, `deployment/NAME` (its first pod) and short kinds to a full target. */
  'targets/resolve': { params: { target: string }; result: { target: TargetId; hostname: string } }
  'exec/start': {
    params: { target: TargetId; argv: readonly string[]; stdin: boolean; env?: Record<string, string> }
    result: { stream: number }
  }
  /** `keep`: the terminal outlives its client, for a window that reconnects; else it ends with it. */
  'terminals/open': {
    params: { target: TargetId; size: TerminalSize; argv?: readonly string[]; keep?: boolean }
    result: { stream: number }
  }
  /** Kept terminals that still run, oldest first. */
  'terminals/list': { params: Record<string, never>; result: readonly TerminalInfo[] }
  /**
   * From now on the terminal's output comes to this client, too. `screen` is what stands on it (with scrollback), as
   * the escape sequences that draw it.
   */
  'terminals/attach': {
    params: { stream: number; size: TerminalSize }
    result: { screen: string }
  }
  'streams/write': { params: { stream: number; data: string }; result: null }
  /** End of standard input. */
  'streams/end': { params: { stream: number }; result: null }
  'streams/resize': { params: { stream: number; size: TerminalSize }; result: null }
  /** Flow control: so many units of `streams/data` have been dealt with (bytes for exec, characters for terminals). */
  'streams/ack': { params: { stream: number; amount: number }; result: null }
  'streams/kill': { params: { stream: number; signal: string }; result: null }
  'rules/read': { params: { target: TargetId }; result: TargetRules }
  /** Writes kube-proxy's rules of a node anew, so that what is missing comes back. Rules elsewhere stay. */
  'rules/restore': { params: { node: string }; result: null }
  'rules/history': { params: { node: string }; result: readonly RuleSetVersion[] }
  'rules/diff': {
    params: { node: string; from: number; to: number }
    result: NodeRuleDiff
  }
  /** Restore text by node, as a bundle's `handMadeRules` has it. */
  'rules/restore-hand-made': { params: { rules: Readonly<Record<string, string>> }; result: null }
  /** Rule sets to take home; every node's where none is named. */
  'rules/export': {
    params: { node?: string; format: 'save' | 'restore' | 'script' | 'nft' | 'json' | 'bundle' }
    result: { text: string }
  }
  /** Listings as `iptables -vnL` has them, counters read from the kernel now. Without a chain all of the table, without a table all tables. */
  'counters/read': {
    params: { target: TargetId; table?: string; chain?: string }
    result: { chains: readonly ChainListing[] }
  }
  /** `iptables -Z`, of a table or a chain where named. */
  'counters/zero': { params: { target: TargetId; table?: string; chain?: string }; result: null }
  'counters/subscribe': {
    params: { target: TargetId; table: string; chains: readonly string[]; intervalMs: number }
    result: { subscription: number }
  }
  'counters/unsubscribe': { params: { subscription: number }; result: null }
  /** Packets at each hook and table of a node; unsubscribed like counters. */
  'hooks/subscribe': {
    params: { target: TargetId; intervalMs: number }
    result: { subscription: number }
  }
  'topology/read': { params: Record<string, never>; result: { links: readonly LinkInfo[] } }
  /** Traffic of every link; unsubscribed like counters. */
  'links/subscribe': { params: { intervalMs: number }; result: { subscription: number } }
  /**
   * Runs a command as `exec/start` does and traces its packets until `trace/stop`, or until the client goes. One trace
   * runs at a time (`conflict`); with iptables-legacy there is none (`unavailable`).
   */
  'trace/start': {
    params: Requests['exec/start']['params']
    result: { trace: number; stream: number }
  }
  /** Ask when the command has ended (`streams/exit`), or sooner to cut the trace. */
  'trace/stop': { params: { trace: number }; result: TraceResult }
  'conntrack/read': { params: { target: TargetId; filter?: ConnectionFilter }; result: ConnectionTable }
  /** Read again each interval; timeouts count down, so a sample comes every second. Unsubscribed like counters. */
  'conntrack/subscribe': {
    params: { target: TargetId; filter?: ConnectionFilter; intervalMs: number }
    result: { subscription: number }
  }
  /**
   * Packets of one link (`any` for all of a host) from when this is answered, until `capture/stop`, the bound or the
   * client's end. `filter` is a pcap expression such as `tcp port 80`. The stream's stdout (base64, to be
   * acknowledged) is text as `tcpdump -n` prints it; its exit follows the last line. `unavailable` without tcpdump,
   * `bad-input` for a link or filter that tcpdump does not take.
   */
  'capture/start': {
    params: { host: TargetId | 'switch'; link: string; filter?: string }
    result: { capture: number; stream: number }
  }
  /** The packets so far as a pcap file (base64); also after the end, as long as the client stays. */
  'capture/pcap': { params: { capture: number }; result: CaptureState & { readonly pcap: string } }
  /** Answered when the last packet has been written; the pcap stays. */
  'capture/stop': { params: { capture: number }; result: CaptureState }
  /**
   * Lines of the NFLOG rules (and of net.netfilter.nf_conntrack_log_invalid) of one host, or of the client and every
   * node; `group` as in --nflog-group (default 0). LOG rules write none in a network namespace: those that stand there
   * now are listed, so that a person can be told. Unsubscribed like counters. `conflict` where a program in the host
   * reads that group already.
   */
  'log/subscribe': {
    params: { target?: TargetId; group?: number }
    result: { subscription: number; silentRules: readonly SilentRule[] }
  }
  /** Requests once a second to the lab's Services, from a pod, a node and the client; until stopped. */
  'traffic/set': { params: { running: boolean }; result: null }
}

export interface Events {
  'streams/data': { stream: number; channel: 'stdout' | 'stderr' | 'terminal'; data: string }
  'streams/exit': { stream: number; code: number; signal: string | null }
  'counters/sample': CounterSample
  'hooks/sample': { subscription: number; target: TargetId; atMs: number; cells: readonly HookCell[] }
  'links/sample': { subscription: number; atMs: number; links: readonly LinkCounters[] }
  'conntrack/sample': ConnectionTable & { subscription: number; target: TargetId; atMs: number }
  /** Once, however a capture ended; `capture/pcap` has its packets. */
  'capture/ended': CaptureState
  /**
   * `text` as the kernel's log would have it, with a blank behind the prefix: `PREFIX IN=eth0 OUT= MAC=… SRC=…`. `missed` lines before it were left
   * out because too many came at once.
   */
  'log/line': { subscription: number; target: TargetId; atMs: number; text: string; missed: number }
  /** A kept terminal was opened or has ended; ask for the list. */
  'terminals/changed': Record<string, never>
  /** Something of the cluster or of a node's rules is different now; ask again for what you show. */
  'lab/changed': { objects: boolean; nodes: readonly string[] }
  /** Long work: what is being done, and how far. */
  'lab/progress': { text: string; done: number; total: number }
}

export type RequestName = keyof Requests
export type EventName = keyof Events

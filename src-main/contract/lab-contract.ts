import type { Kind, KubernetesObject } from '../domain/kubernetes/objects.ts'
import type { Problem } from '../domain/kubernetes/problem.ts'
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

/** Where one rule comes from, for people: the object, and what part the rule plays for it. */
export interface TargetRules {
  readonly target: TargetId
  /** iptables-save text of the kernel, with counters. */
  readonly text: string
  /** Chains that Chainwalk wrote, with the Kubernetes object each serves; chains not listed are a person's own. */
  readonly origins: Readonly<Record<string, ChainOrigin>>
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
  'terminals/open': {
    params: { target: TargetId; size: TerminalSize; argv?: readonly string[] }
    result: { stream: number }
  }
  'streams/write': { params: { stream: number; data: string }; result: null }
  /** End of standard input. */
  'streams/end': { params: { stream: number }; result: null }
  'streams/resize': { params: { stream: number; size: TerminalSize }; result: null }
  /** Flow control: so many units of `streams/data` have been dealt with (bytes for exec, characters for terminals). */
  'streams/ack': { params: { stream: number; amount: number }; result: null }
  'streams/kill': { params: { stream: number; signal: string }; result: null }
  'rules/read': { params: { target: TargetId }; result: TargetRules }
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
  'counters/subscribe': {
    params: { target: TargetId; table: string; chains: readonly string[]; intervalMs: number }
    result: { subscription: number }
  }
  'counters/unsubscribe': { params: { subscription: number }; result: null }
}

export interface Events {
  'streams/data': { stream: number; channel: 'stdout' | 'stderr' | 'terminal'; data: string }
  'streams/exit': { stream: number; code: number; signal: string | null }
  'counters/sample': CounterSample
  /** Something of the cluster or of a node's rules is different now; ask again for what you show. */
  'lab/changed': { objects: boolean; nodes: readonly string[] }
  /** Long work: what is being done, and how far. */
  'lab/progress': { text: string; done: number; total: number }
}

export type RequestName = keyof Requests
export type EventName = keyof Events

import type { LabStatus } from '../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../src-main/contract/rpc.ts'
import type { Deployment, EndpointSlice, Pod, Service } from '../src-main/domain/kubernetes/objects.ts'
import { connectLab } from './connect-lab.ts'
import { messageOf } from './frame/message-of.ts'

export { messageOf }

export type ConnectionState = 'connecting' | 'connected' | 'lost'

export const VIEWS = ['path', 'topology', 'rules', 'trace', 'manifests'] as const
export type View = (typeof VIEWS)[number]

/** What a person has picked; the inspector says it in words, views light it up. */
export type Selection =
  | { readonly kind: 'node'; readonly node: string }
  | { readonly kind: 'client' }
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'service'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'hook'; readonly hook: string; readonly table: string }
  | { readonly kind: 'chain'; readonly table: string; readonly chain: string }
  | { readonly kind: 'rule'; readonly table: string; readonly chain: string; readonly number: number }
  | { readonly kind: 'link'; readonly id: string }
  | TraceStep

/** A step of a traced packet, where it is in the rules; 0 where no rule of the chain decided. */
export interface TraceStep {
  readonly kind: 'step'
  readonly node: string
  readonly hook: string
  readonly table: string
  readonly chain: string
  readonly number: number
}

/** Long work of the lab: what is being done, and how far. */
export interface Progress {
  readonly text: string
  readonly done: number
  readonly total: number
}

/** Milliseconds between tries to come back to a lab that is gone. */
const RETRY_MS = 1000
/** Progress that no word follows for so long is over. */
const PROGRESS_MS = 3000

/** What the whole window shares: the connection, the lab's objects, and what is picked. */
export class LabState {
  connection = $state.raw<LabConnection | undefined>()
  state = $state<ConnectionState>('connecting')
  status = $state.raw<LabStatus | undefined>()
  pods = $state.raw<readonly Pod[]>([])
  services = $state.raw<readonly Service[]>([])
  deployments = $state.raw<readonly Deployment[]>([])
  endpointSlices = $state.raw<readonly EndpointSlice[]>([])
  view = $state<View>('path')
  /** The node whose rules Path and Rules show. */
  node = $state('worker1')
  selection = $state.raw<Selection | undefined>()
  /** Counts up when the rules of a node may be others than before; views ask again when theirs moves. */
  ruleVersions = $state<Record<string, number>>({})
  /** Counts up when objects changed. */
  objectVersion = $state(0)
  /** The last failure that no view shows in its own place. */
  notice = $state<string | undefined>()
  progress = $state.raw<Progress | undefined>()
  /** Why the lab could not be reached the last time. */
  lostReason = $state<string | undefined>()

  #refreshing: Promise<void> | undefined
  #stale = false
  #progressTimer: ReturnType<typeof setTimeout> | undefined

  /** Keeps the window connected until it closes; never rejects. */
  async run(): Promise<never> {
    for (;;) {
      try {
        await this.#live(await connectLab())
        this.lostReason = undefined
      } catch (error) {
        this.lostReason = messageOf(error)
      }
      this.connection = undefined
      this.progress = undefined
      this.state = 'lost'
      await new Promise((resolve) => {
        setTimeout(resolve, RETRY_MS)
      })
    }
  }

  /** The target id of the shown node. */
  get target(): string {
    return `node/${this.node}`
  }

  /** Asks again for the lab's status and objects. While an answer is awaited, more wishes become one. */
  refresh(connection: LabConnection): Promise<void> {
    if (this.#refreshing !== undefined) {
      this.#stale = true
      return this.#refreshing
    }
    const read = async (): Promise<void> => {
      do {
        this.#stale = false
        await this.#read(connection)
      } while (this.#stale)
    }
    this.#refreshing = read().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Does what a person asked for; a failure becomes the notice. */
  async attempt(work: (connection: LabConnection) => Promise<unknown>): Promise<void> {
    if (!this.connection) return
    try {
      await work(this.connection)
    } catch (error) {
      this.notice = messageOf(error)
    }
  }

  async #read(connection: LabConnection): Promise<void> {
    const [status, { groups }] = await Promise.all([
      connection.request('lab/status', {}),
      connection.request('objects/list', { kinds: ['pod', 'service', 'deployment', 'endpointslice'] }),
    ])
    this.status = status
    if (!status.nodes.some(({ name }) => name === this.node))
      this.node =
        status.nodes.find(({ name }) => name !== 'control-plane')?.name ?? status.nodes[0]?.name ?? ''
    const objects = groups.flatMap((group) => group.objects)
    this.pods = objects.filter((object) => object.kind === 'Pod')
    this.services = objects.filter((object) => object.kind === 'Service')
    this.deployments = objects.filter((object) => object.kind === 'Deployment')
    this.endpointSlices = objects.filter((object) => object.kind === 'EndpointSlice')
    this.objectVersion += 1
  }

  async #live(connection: LabConnection): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      connection.onClose(resolve)
    })
    connection.on('lab/changed', ({ objects, nodes }) => {
      for (const node of nodes) this.ruleVersions[node] = (this.ruleVersions[node] ?? 0) + 1
      if (objects) void this.refresh(connection).catch(() => undefined) // the end of the connection shows itself
    })
    connection.on('lab/progress', (progress) => {
      this.progress = progress.done < progress.total ? progress : undefined
      clearTimeout(this.#progressTimer)
      this.#progressTimer = setTimeout(() => {
        this.progress = undefined
      }, PROGRESS_MS)
    })
    await this.refresh(connection)
    this.connection = connection
    this.state = 'connected'
    await ended
  }
}

import type { LinkInfo } from '../../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../../src-main/contract/rpc.ts'
import type { LabState } from '../lab-state.svelte.ts'
import { perLab } from '../per-lab.svelte.ts'
import { type LinkRate, RateWindow, reversed } from './link-rates.ts'

const SAMPLE_MS = 500
/** Links change without the lab's doing, too: somebody types `ip link set eth0 down`. */
const REREAD_MS = 3000

/** Packets, as decimal strings. */
export interface LinkTotal {
  readonly rx: string
  readonly tx: string
}

/** The lab's links and their traffic, read while anybody looks. */
export class TopologyFeed {
  links = $state.raw<readonly LinkInfo[]>([])
  rates = $state.raw<ReadonlyMap<string, LinkRate>>(new Map())
  /** Since the link stands. */
  totals = $state.raw<ReadonlyMap<string, LinkTotal>>(new Map())
  state = $state<'loading' | 'ready' | 'failed'>('loading')
  failure = $state('')

  /** Of one end of a cable, from its own counters or, where nobody reads these, from the other end's. */
  rateOf(link: LinkInfo, peer: LinkInfo | undefined): LinkRate | undefined {
    const own = this.rates.get(link.id)
    if (own || !peer) return own
    const other = this.rates.get(peer.id)
    return other && reversed(other)
  }

  totalOf(link: LinkInfo, peer: LinkInfo | undefined): LinkTotal | undefined {
    const own = this.totals.get(link.id)
    if (own || !peer) return own
    const other = this.totals.get(peer.id)
    return other && { rx: other.tx, tx: other.rx }
  }

  readonly #lab: LabState
  #watchers = 0
  #stop: (() => void) | undefined

  constructor(lab: LabState) {
    this.#lab = lab
  }

  /** Starts to read for one more who looks; the answer ends that. */
  watch(): () => void {
    this.#watchers += 1
    if (this.#watchers === 1) this.#stop = $effect.root(() => this.#follow())
    return () => {
      this.#watchers -= 1
      if (this.#watchers > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  #follow(): void {
    $effect(() => {
      const { connection } = this.#lab
      if (!connection) return
      void this.#lab.objectVersion
      void this.#read(connection)
    })
    $effect(() => {
      const { connection } = this.#lab
      if (!connection) return
      const timer = setInterval(() => void this.#read(connection), REREAD_MS)
      const stopSampling = this.#sample(connection)
      return () => {
        clearInterval(timer)
        stopSampling()
      }
    })
  }

  async #read(connection: LabConnection): Promise<void> {
    try {
      const { links } = await connection.request('topology/read', {})
      if (JSON.stringify(links) !== JSON.stringify(this.links)) this.links = links
      this.state = 'ready'
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error)
      if (this.links.length === 0) this.state = 'failed'
    }
  }

  #sample(connection: LabConnection): () => void {
    const window = new RateWindow()
    let lastAt = performance.now()
    let subscription: number | undefined
    let isEnded = false
    const end = (id: number): void => {
      connection.request('counters/unsubscribe', { subscription: id }).catch(() => undefined) // the lab may be gone
    }
    const stopListening = connection.on('links/sample', ({ subscription: of, atMs, links }) => {
      if (of !== subscription) return
      lastAt = performance.now()
      this.rates = window.add(atMs, links)
      this.totals = new Map(
        links.map(({ id, rxPackets, txPackets }) => [id, { rx: rxPackets, tx: txPackets }]),
      )
    })
    // The lab is silent while nothing moves; the rates fall all the same.
    const timer = setInterval(() => {
      const since = performance.now() - lastAt
      if (since > SAMPLE_MS * 1.2 && [...this.rates.values()].some(isMoving)) this.rates = window.later(since)
    }, SAMPLE_MS)
    connection
      .request('links/subscribe', { intervalMs: SAMPLE_MS })
      .then((answer) => {
        subscription = answer.subscription
        if (isEnded) end(answer.subscription)
      })
      .catch((error: unknown) => {
        this.failure = error instanceof Error ? error.message : String(error)
      })
    return () => {
      isEnded = true
      stopListening()
      clearInterval(timer)
      this.rates = new Map()
      if (subscription !== undefined) end(subscription)
    }
  }
}

const isMoving = ({ rxPackets, txPackets, fresh }: LinkRate): boolean =>
  rxPackets > 0 || txPackets > 0 || fresh > 0

/** One feed for the picture and the inspector. */
export const topologyFeed = perLab((lab) => new TopologyFeed(lab))

/** Attaches to an element; watches the feed while the element is on the screen and the page in front. */
export function watchWhileVisible(feed: TopologyFeed): (element: Element) => () => void {
  return (element) => {
    let isOnScreen = false
    let stop: (() => void) | undefined
    const settle = (): void => {
      const wanted = isOnScreen && !document.hidden
      if (wanted && !stop) stop = feed.watch()
      else if (!wanted) {
        stop?.()
        stop = undefined
      }
    }
    const observer = new IntersectionObserver((entries) => {
      isOnScreen = entries.at(-1)?.isIntersecting ?? false
      settle()
    })
    observer.observe(element)
    document.addEventListener('visibilitychange', settle)
    return () => {
      observer.disconnect()
      document.removeEventListener('visibilitychange', settle)
      stop?.()
    }
  }
}

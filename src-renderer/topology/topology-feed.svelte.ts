import type { LinkInfo } from '../../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../../src-main/contract/rpc.ts'
import { messageOf } from '../frame/message-of.ts'
import type { LabState } from '../lab-state.svelte.ts'
import { perLab } from '../per-lab.svelte.ts'
import { subscribe } from '../subscribe.ts'
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
      this.failure = messageOf(error)
      if (this.links.length === 0) this.state = 'failed'
    }
  }

  #sample(connection: LabConnection): () => void {
    const window = new RateWindow()
    let lastAt = performance.now()
    const end = subscribe(connection, 'links/subscribe', { intervalMs: SAMPLE_MS }, 'links/sample', {
      take: ({ atMs, links }) => {
        lastAt = performance.now()
        this.rates = window.add(atMs, links)
        this.totals = new Map(
          links.map(({ id, rxPackets, txPackets }) => [id, { rx: rxPackets, tx: txPackets }]),
        )
      },
      failed: (error) => {
        this.failure = messageOf(error)
      },
    })
    // The lab is silent while nothing moves; the rates fall all the same.
    const timer = setInterval(() => {
      const since = performance.now() - lastAt
      if (since > SAMPLE_MS * 1.2 && [...this.rates.values()].some(isMoving)) this.rates = window.later(since)
    }, SAMPLE_MS)
    return () => {
      end()
      clearInterval(timer)
      this.rates = new Map()
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

import type { SilentRule, TargetId } from '../../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../../src-main/contract/rpc.ts'
import { messageOf } from '../frame/message-of.ts'
import { subscribe } from '../subscribe.ts'

const KEPT = 400

export interface ShownLine {
  readonly id: number
  readonly target: TargetId
  /** `14:05:09`, the window's clock. */
  readonly time: string
  readonly text: string
  /** Lines before it that were left out, for too many came at once. */
  readonly missed: number
}

/** The lines of NFLOG rules that came while they were looked at, and the rules that stay silent. */
export class LogSession {
  /** Empty: the client and every node. */
  target = $state<TargetId>('')
  lines = $state.raw<readonly ShownLine[]>([])
  silent = $state.raw<readonly SilentRule[]>([])
  problem = $state<string | undefined>()
  isFollowing = $state(false)
  #last = 0

  /** Gives back the end of it. */
  follow(connection: LabConnection, target: TargetId): () => void {
    this.problem = undefined
    const stop = subscribe(connection, 'log/subscribe', wishFor(target), 'log/line', {
      take: ({ target: from, text, missed }) => {
        this.#last += 1
        const time = new Date().toLocaleTimeString('en-GB')
        this.lines = [...this.lines, { id: this.#last, target: from, time, text, missed }].slice(-KEPT)
      },
      answered: ({ silentRules }) => {
        this.silent = silentRules
        this.isFollowing = true
      },
      failed: (error) => {
        this.problem = messageOf(error)
      },
    })
    return () => {
      this.isFollowing = false
      stop()
    }
  }

  /** Looks again for LOG rules, while the lines go on. */
  findSilent(connection: LabConnection, target: TargetId): () => void {
    const stop = subscribe(connection, 'log/subscribe', wishFor(target), 'log/line', {
      take: () => undefined,
      answered: ({ silentRules }) => {
        this.silent = silentRules
        stop()
      },
      failed: () => undefined, // the following itself says why
    })
    return stop
  }

  clear(): void {
    this.lines = []
  }
}

const wishFor = (target: TargetId): { target?: TargetId } => (target === '' ? {} : { target })

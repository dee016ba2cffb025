import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Where } from '../system/command/run-command.ts'
import { LAB_FILES } from '../system/sandbox/enter-sandbox.ts'
import { tagSockets } from '../system/trace-monitor/socket-tagger.ts'
import type { SenderMatch } from './trace-table.ts'

/** Above the priorities that the kernel gives by itself (0 to 7), and no class of a queue. */
const FIRST_TAG = 0x43570000
const TAGS = 0x10000
const POLL_MS = 2
const PATIENCE_MS = 5000

let last = 0

/**
 * A command that waits before it begins, until the lab makes its sockets: that is how its packets are told from those
 * of everything else on its host. It works as root and rootless, and for all that the command starts; a cgroup, a user
 * id or a firewall mark of the command's own would each need a right or a map that a rootless lab does not have.
 */
export class TaggedLaunch {
  readonly #file: string
  readonly #tag: number

  constructor() {
    last += 1
    this.#tag = FIRST_TAG + (last % TAGS)
    mkdirSync(`${LAB_FILES}/launch`, { recursive: true })
    this.#file = `${LAB_FILES}/launch/${last}`
  }

  /** What stands before the command's own words. */
  get words(): readonly string[] {
    const program = join(dirname(process.argv[1] ?? ''), 'launch-tagged.cjs')
    return [process.execPath, program, this.#file]
  }

  get env(): Readonly<Record<string, string>> {
    return process.versions['electron'] ? { ELECTRON_RUN_AS_NODE: '1' } : {}
  }

  get match(): SenderMatch {
    return `meta priority 0x${this.#tag.toString(16)}`
  }

  /** Waits for the command to be ready; false where this kernel does not let its sockets be made by the lab. */
  async tag(where: Where): Promise<boolean> {
    const start = performance.now()
    let told: string | undefined
    while (told === undefined && performance.now() - start < PATIENCE_MS) {
      told = this.#read()
      if (told === undefined) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    const [processId, listener] = (told ?? '-').split(' ').map(Number)
    if (!processId || listener === undefined) return false
    tagSockets(where, { processId, listener }, this.#tag)
    return true
  }

  /** Lets the command begin. */
  release(): void {
    rmSync(this.#file, { force: true })
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.#file, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
}

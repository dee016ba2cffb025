import type { TargetId, TerminalSize } from '../../src-main/contract/lab-contract.ts'
import { Acknowledger } from './acknowledge.ts'

/** What a terminal is drawn on: xterm in the window. */
export interface Screen {
  write(data: string, drawn: () => void): void
  reset(): void
  focus(): void
  readonly size: TerminalSize
}

/** Dim text that the window itself writes between a shell's. */
const aside = (text: string): string => `\r\n\x1b[2m[${text}]\x1b[0m\r\n`

/** One terminal of the dock: where it runs, the stream that it shows, and what is still to be drawn. */
export class TerminalTab {
  readonly id: number
  readonly target: TargetId
  /** Undefined while it is being opened, and after its end. */
  stream = $state.raw<number | undefined>()
  ended = $state(false)
  readonly #acknowledger = new Acknowledger()
  readonly #acknowledge: (stream: number, amount: number) => void
  #screen: Screen | undefined
  #pending = ''

  constructor(id: number, target: TargetId, acknowledge: (stream: number, amount: number) => void) {
    this.id = id
    this.target = target
    this.#acknowledge = acknowledge
  }

  get size(): TerminalSize | undefined {
    return this.#screen?.size
  }

  focus(): void {
    this.#screen?.focus()
  }

  /** Draws on a screen from now on. Returns the function that takes it away. */
  mount(screen: Screen): () => void {
    this.#screen = screen
    const pending = this.#pending
    this.#pending = ''
    if (pending) this.write(pending)
    return () => {
      if (this.#screen === screen) this.#screen = undefined
    }
  }

  write(data: string): void {
    const screen = this.#screen
    if (!screen) {
      this.#pending += data
      return
    }
    const { stream } = this
    screen.write(data, () => {
      const amount = this.#acknowledger.drew(data.length)
      if (amount > 0 && stream !== undefined && stream === this.stream) this.#acknowledge(stream, amount)
    })
  }

  /** Shows another stream, or the same one over a new connection; what stands on its screen comes with it. */
  show(stream: number, drawn: string): void {
    this.stream = stream
    this.ended = false
    this.#acknowledger.reset()
    this.#pending = ''
    if (!drawn) return
    this.#screen?.reset()
    this.#draw(drawn)
  }

  end(status: string): void {
    this.stream = undefined
    this.ended = true
    this.#draw(aside(`${status} — Enter opens a new one`))
  }

  say(text: string): void {
    this.#draw(aside(text))
  }

  /** Text that is none of the stream's own, so that nobody waits for its acknowledgement. */
  #draw(text: string): void {
    if (this.#screen) this.#screen.write(text, () => undefined)
    else this.#pending += text
  }
}

import { tick } from 'svelte'
import { LabError } from '../../src-main/contract/errors.ts'
import type { TargetId } from '../../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../../src-main/contract/rpc.ts'
import { messageOf } from '../frame/message-of.ts'
import { readPreference, writePreference } from '../frame/preferences.ts'
import { parseRememberedTabs, planFreshTabs, planOthersTabs, planReconnectedTabs } from './restore-tabs.ts'
import { activeTab, closeTab, joinSides, NO_SIDES, type Sides, selectTab, splitWith } from './split-sides.ts'
import { TerminalTab } from './terminal-tab.svelte.ts'

/** Until a terminal has been laid out. */
const USUAL_SIZE = { cols: 80, rows: 24 }
/** Readline's "kill the line": what was half typed does not mix with what is typed for the learner. */
const KILL_LINE = '\x15'

/** The terminals of the window, and what they show. */
export class DockState {
  tabs = $state.raw<readonly TerminalTab[]>([])
  sides = $state.raw<Sides>(NO_SIDES)
  visible = $state(true)
  /** Text of the screen for screen readers, at the price of speed. */
  readable = $state(readPreference('terminal-readable') === true)
  readonly active = $derived(this.tabs.find(({ id }) => id === activeTab(this.sides)))

  #lab = ''
  #connection: LabConnection | undefined
  /** Output of streams whose opening or attaching has not been answered yet. */
  readonly #early = new Map<number, string>()
  readonly #claiming = new Set<TerminalTab>()
  /** Terminals have come or gone while tabs were being given their streams. */
  #hasChanged = false
  /** Terminals of other windows that have not been looked at here: their size is for those who work in them. */
  readonly #waiting = new Set<TerminalTab>()
  /** Streams that this window has closed: until their shells have ended, the lab still lists them. */
  readonly #closed = new Set<number>()
  #lastId = 0
  /** Keys for shells that have not written their prompt yet. */
  readonly #awaitingPrompt = new Map<TerminalTab, string>()

  /**
   * Shows a terminal in a target: one that is there already, or a new one. A command gets a terminal of its own
   * and runs as if it had been typed.
   */
  open(target: TargetId, command?: string): void {
    const there = command === undefined ? this.tabs.find((tab) => tab.target === target) : undefined
    if (there) this.select(there)
    else this.openNew(target, command)
  }

  openNew(target: TargetId, command?: string): void {
    const tab = this.#add(target)
    if (command !== undefined) this.#awaitingPrompt.set(tab, `${command}\r`)
    this.select(tab)
    void this.#start(tab)
  }

  /** Types a command into a target's terminal; the person reads it and presses Enter, or has it run at once. */
  type(target: TargetId, text: string, run = false): void {
    const keys = KILL_LINE + text + (run ? '\r' : '')
    const { active } = this
    const tab = active?.target === target ? active : this.tabs.find((each) => each.target === target)
    if (tab && !tab.ended) {
      this.select(tab)
      this.send(tab, keys)
      return
    }
    const fresh = tab ?? this.#add(target)
    this.#awaitingPrompt.set(fresh, keys)
    this.select(fresh)
    void this.#start(fresh)
  }

  /** What the keyboard sends to a terminal. One that has ended takes Enter as the wish for a new shell. */
  send(tab: TerminalTab, data: string): void {
    if (tab.stream !== undefined) this.#ask('streams/write', { stream: tab.stream, data })
    else if (!tab.ended) this.#awaitingPrompt.set(tab, (this.#awaitingPrompt.get(tab) ?? '') + data)
    else if (data.includes('\r')) void this.#start(tab)
  }

  resized(tab: TerminalTab): void {
    if (tab.stream !== undefined && tab.size)
      this.#ask('streams/resize', { stream: tab.stream, size: tab.size })
  }

  select(tab: TerminalTab): void {
    this.sides = selectTab(this.sides, tab.id)
    this.visible = true
    this.#attachShown()
    this.#remember()
    this.#focus(tab)
  }

  close(tab: TerminalTab): void {
    const place = this.tabs.indexOf(tab)
    this.tabs = this.tabs.filter((other) => other !== tab)
    this.sides = closeTab(
      this.sides,
      tab.id,
      this.tabs.map(({ id }) => id),
      place,
    )
    this.#awaitingPrompt.delete(tab)
    this.#waiting.delete(tab)
    this.#attachShown()
    if (tab.stream !== undefined) this.#kill(tab.stream)
    this.#remember()
    if (this.active) this.#focus(this.active)
  }

  /** Two terminals side by side, or one again. */
  toggleSplit(): void {
    const { active } = this
    if (this.sides.shown.length > 1) {
      this.sides = joinSides(this.sides)
    } else if (active) {
      const other = this.tabs.find((tab) => tab !== active)
      const beside = other ?? this.#add(active.target)
      this.sides = splitWith(this.sides, beside.id)
      if (!other) void this.#start(beside)
    }
    this.#attachShown()
    this.visible = true
    this.#remember()
    if (this.active) this.#focus(this.active)
  }

  setReadable(readable: boolean): void {
    this.readable = readable
    writePreference('terminal-readable', readable)
  }

  /** The keyboard has come to a terminal: with two side by side it says which one is meant, of two windows whose size. */
  focused(tab: TerminalTab): void {
    if (this.sides.shown.includes(tab.id)) this.sides = selectTab(this.sides, tab.id)
    this.resized(tab)
  }

  /** Brings the terminals of a lab into the window. Returns the function that leaves them. */
  connect(connection: LabConnection, lab: string): () => void {
    this.#connection = connection
    this.#lab = lab
    this.#closed.clear()
    this.#waiting.clear()
    let isRestored = false
    const stops = [
      connection.on('streams/data', ({ stream, channel, data }) => {
        if (channel === 'terminal') this.#receive(stream, data)
      }),
      connection.on('streams/exit', ({ stream, code, signal }) => {
        this.#find(stream)?.end(signal ? `ended by ${signal}` : `ended with status ${code}`)
      }),
      connection.on('terminals/changed', () => {
        if (isRestored) void this.#showOthers(connection)
      }),
    ]
    void this.#restore(connection).then(() => {
      isRestored = true
      return this.#showOthers(connection)
    })
    return () => {
      for (const stop of stops) stop()
      if (this.#connection === connection) this.#connection = undefined
    }
  }

  async #restore(connection: LabConnection): Promise<void> {
    const alive = await connection.request('terminals/list', {}).catch(() => []) // a lab that has gone shows itself
    if (this.#connection !== connection) return
    if (this.tabs.length > 0) {
      for (const { tab, attach } of planReconnectedTabs(this.tabs, alive)) {
        if (attach) void this.#attach(tab)
        else if (!tab.ended) {
          tab.say('the lab was started anew — this is a new shell')
          void this.#start(tab)
        }
      }
      return
    }
    const remembered = parseRememberedTabs(readPreference(`terminals/${this.#lab}`))
    const wanted = planFreshTabs(remembered, alive)
    const tabs = wanted.map(({ target, stream }) => {
      const tab = this.#add(target)
      tab.stream = stream
      return tab
    })
    const shown = (remembered?.shown ?? [])
      .map((place) => remembered?.tabs[place]?.stream)
      .flatMap((stream) => tabs.find((tab) => stream !== undefined && tab.stream === stream)?.id ?? [])
    const first = tabs[0]?.id
    this.sides =
      shown.length > 0
        ? { shown, focused: Math.min(remembered?.focused ?? 0, shown.length - 1) }
        : { shown: first === undefined ? [] : [first], focused: 0 }
    if (this.active) this.#focus(this.active)
    for (const tab of tabs) void (tab.stream === undefined ? this.#start(tab) : this.#attach(tab))
  }

  /** Brings terminals that another window has opened into this one, and leaves its keyboard where it is. */
  async #showOthers(connection: LabConnection): Promise<void> {
    this.#hasChanged = true
    // Which of the lab's terminals are this window's own is known when all of its tabs have their streams.
    if (this.#claiming.size > 0) return
    this.#hasChanged = false
    const alive = await connection.request('terminals/list', {}).catch(() => []) // a lab that has gone shows itself
    if (this.#connection !== connection) return
    if (this.#claiming.size > 0) {
      this.#hasChanged = true
      return
    }
    for (const tab of this.#waiting) {
      if (alive.some(({ stream }) => stream === tab.stream)) continue
      this.#waiting.delete(tab)
      this.tabs = this.tabs.filter((other) => other !== tab)
    }
    for (const { target, stream } of planOthersTabs(this.tabs, alive, this.#closed)) {
      const tab = this.#add(target)
      tab.stream = stream
      this.#waiting.add(tab)
      if (this.sides.shown.length === 0) this.sides = selectTab(this.sides, tab.id)
    }
    this.#attachShown()
  }

  #attachShown(): void {
    for (const tab of this.#waiting)
      if (this.sides.shown.includes(tab.id)) {
        this.#waiting.delete(tab)
        void this.#attach(tab)
      }
  }

  async #start(tab: TerminalTab): Promise<void> {
    tab.stream = undefined
    await this.#claim(tab, async (connection) => {
      const { target } = tab
      const { stream } = await connection.request('terminals/open', {
        target,
        size: tab.size ?? this.active?.size ?? USUAL_SIZE,
        keep: true,
      })
      return { stream, screen: '' }
    })
  }

  async #attach(tab: TerminalTab): Promise<void> {
    const { stream } = tab
    if (stream === undefined) return
    await this.#claim(tab, async (connection) => ({
      stream,
      ...(await connection.request('terminals/attach', {
        stream,
        size: tab.size ?? this.active?.size ?? USUAL_SIZE,
      })),
    }))
  }

  /** Gives a tab its stream, and the output that came before the answer. */
  async #claim(
    tab: TerminalTab,
    ask: (connection: LabConnection) => Promise<{ stream: number; screen: string }>,
  ): Promise<void> {
    const connection = this.#connection
    if (!connection) return
    tab.ended = false
    this.#claiming.add(tab)
    try {
      const { stream, screen } = await ask(connection)
      if (this.#connection !== connection) return
      if (!this.tabs.includes(tab)) {
        this.#kill(stream) // closed while it was being opened
        return
      }
      this.#claiming.delete(tab)
      tab.show(stream, screen)
      const early = this.#early.get(stream)
      this.#early.delete(stream)
      if (early !== undefined) this.#receive(stream, early)
      this.resized(tab)
      this.#remember()
    } catch (error) {
      // One whose lab has gone waits for it to come back.
      if (!(error instanceof LabError && error.code === 'closed')) tab.end(messageOf(error))
    } finally {
      this.#claiming.delete(tab)
      if (this.#claiming.size === 0) {
        this.#early.clear()
        if (this.#hasChanged) void this.#showOthers(connection)
      }
    }
  }

  #receive(stream: number, data: string): void {
    const tab = this.#find(stream)
    if (!tab || this.#claiming.has(tab)) {
      if (this.#claiming.size > 0) this.#early.set(stream, (this.#early.get(stream) ?? '') + data)
      return
    }
    tab.write(data)
    const keys = this.#awaitingPrompt.get(tab)
    if (keys === undefined) return
    this.#awaitingPrompt.delete(tab)
    this.send(tab, keys)
  }

  #find(stream: number): TerminalTab | undefined {
    return this.tabs.find((tab) => tab.stream === stream)
  }

  #add(target: TargetId): TerminalTab {
    this.#lastId += 1
    const tab = new TerminalTab(this.#lastId, target, (stream, amount) => {
      this.#ask('streams/ack', { stream, amount })
    })
    this.tabs = [...this.tabs, tab]
    return tab
  }

  /** Once it is to be seen: what is hidden takes no keyboard. */
  #focus(tab: TerminalTab): void {
    void tick().then(() => {
      if (tab === this.active) tab.focus()
    })
  }

  /** For requests whose failure shows itself: the stream's end, or the connection's. */
  #ask(...[name, params]: Parameters<LabConnection['request']>): void {
    void this.#connection?.request(name, params).catch(() => undefined)
  }

  #kill(stream: number): void {
    this.#closed.add(stream)
    this.#ask('streams/kill', { stream, signal: 'SIGHUP' })
  }

  #remember(): void {
    const running = this.tabs.flatMap(({ id, stream, target }) =>
      stream === undefined ? [] : [{ id, stream, target }],
    )
    writePreference(`terminals/${this.#lab}`, {
      tabs: running.map(({ stream, target }) => ({ stream, target })),
      shown: this.sides.shown.map((tab) => running.findIndex(({ id }) => id === tab)),
      focused: this.sides.focused,
    })
  }
}

import type { TerminalSize } from '../../contract/lab-contract.ts'

/** As many lines as the window's own terminals keep. */
const SCROLLBACK_LINES = 5000

/** What stands on a terminal, for whoever looks at it later. */
export interface TerminalScreen {
  write(data: string): void
  resize(size: TerminalSize): void
  /** The escape sequences that draw the screen, with its scrollback. */
  draw(): Promise<string>
  close(): void
}

/** A terminal without a picture, kept by xterm's own parser. */
export async function openTerminalScreen(size: TerminalSize): Promise<TerminalScreen> {
  const [{ default: headless }, { SerializeAddon }] = await Promise.all([
    import('@xterm/headless'),
    import('@xterm/addon-serialize'),
  ])
  const terminal = new headless.Terminal({ ...size, scrollback: SCROLLBACK_LINES, allowProposedApi: true })
  const serializer = new SerializeAddon()
  terminal.loadAddon(serializer)
  return {
    write: (data) => terminal.write(data),
    resize: ({ cols, rows }) => terminal.resize(cols, rows),
    draw: async () => {
      // Writing is asynchronous: what was written before must stand on the screen.
      await new Promise<void>((resolve) => terminal.write('', resolve))
      return serializer.serialize()
    },
    close: () => terminal.dispose(),
  }
}

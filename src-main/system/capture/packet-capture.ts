import { type ChildProcess, spawn } from 'node:child_process'
import { LabError } from '../../contract/errors.ts'
import { findTool } from '../command/find-tool.ts'
import type { Where } from '../command/run-command.ts'
import { type PcapBounds, PcapRecorder } from './pcap-recorder.ts'

/** What tcpdump prints of its captures, read from a pcap file on standard input. */
export const tcpdumpTextWords = ['-n', '-l', '-r', '-'] as const

/**
 * Each packet at once, to standard output. In that mode each takes a place as long as the longest one kept: 16 kB (-s)
 * of 16 MB (-B, in KiB) leave room for a thousand that wait.
 */
const captureWords = ['-n', '--immediate-mode', '-U', '-s', '16384', '-B', '16384', '-w', '-'] as const

export interface CaptureOptions {
  readonly where: Where
  /** A link's name, or `any`. */
  readonly link: string
  /** A pcap expression; empty for everything. */
  readonly filter: string
  readonly bounds: PcapBounds
  /** Whole packets of the pcap file, its header first. */
  onPackets(bytes: Buffer): void
  /** After the last packet. */
  onEnd(): void
}

/** The machine's tcpdump; fails with `unavailable`, saying how to get it. */
export function findTcpdump(): string {
  const path = findTool('tcpdump')
  if (path) return path
  throw new LabError(
    'unavailable',
    'tcpdump is not installed, so no packets can be captured: install the package tcpdump (apt, dnf, pacman or zypper)',
  )
}

/** One running tcpdump. It ends when it is stopped or when the bounds are reached. */
export class PacketCapture {
  readonly recorder: PcapRecorder
  readonly #child: ChildProcess
  readonly #options: CaptureOptions
  readonly ended: Promise<void>
  isRunning = true
  /** Packets that the kernel had no room for; tcpdump tells at its end. */
  dropped = 0
  #said = ''

  private constructor(tcpdump: string, options: CaptureOptions) {
    this.#options = options
    this.recorder = new PcapRecorder(options.bounds)
    const filter = options.filter === '' ? [] : [options.filter]
    this.#child = options.where(() =>
      spawn(tcpdump, [...captureWords, '-i', options.link, '--', ...filter], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, LC_ALL: 'C' },
      }),
    )
    this.#child.stdout?.on('data', (data: Buffer) => this.#take(data))
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text
    })
    this.ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.isRunning = false
        this.dropped = Number(/(\d+) packets? dropped by kernel/.exec(this.#said)?.[1] ?? 0)
        resolve()
        options.onEnd()
      })
    })
  }

  /** Resolves when packets are being captured; fails with `bad-input` and tcpdump's own words where it gives up. */
  static async open(options: CaptureOptions): Promise<PacketCapture> {
    const capture = new PacketCapture(findTcpdump(), options)
    await new Promise<void>((resolve, reject) => {
      const child = capture.#child
      child.once('error', (error) => reject(new LabError('command-failed', `tcpdump: ${error.message}`)))
      child.stderr?.on('data', () => {
        if (/^tcpdump: listening on/m.test(capture.#said)) resolve()
      })
      child.once('close', () => reject(new LabError('bad-input', capture.#complaint())))
    })
    return capture
  }

  async stop(): Promise<void> {
    if (this.isRunning) this.#child.kill('SIGINT')
    await this.ended
  }

  #take(data: Buffer): void {
    const { recorder } = this
    let packets: Buffer
    try {
      packets = recorder.add(data)
    } catch (error) {
      // Here nobody hears of it but the whole lab: the capture ends, and says why.
      this.#said += `tcpdump: ${(error as Error).message}\n`
      this.#child.kill('SIGKILL')
      return
    }
    if (packets.length > 0) this.#options.onPackets(packets)
    if (recorder.isFull && this.isRunning) this.#child.kill('SIGINT')
  }

  #complaint(): string {
    const lines = this.#said.split('\n').filter((line) => line.startsWith('tcpdump: '))
    return lines.at(-1) ?? `tcpdump could not capture on ${this.#options.link}`
  }
}

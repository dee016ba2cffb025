import { LabError } from '../contract/errors.ts'
import type { CaptureState, Requests } from '../contract/lab-contract.ts'
import type { Client } from '../contract/rpc.ts'
import type { HostId } from '../domain/topology/plan-network.ts'
import { findTcpdump, PacketCapture, tcpdumpTextWords } from '../system/capture/packet-capture.ts'
import type { Where } from '../system/command/run-command.ts'
import { getLinks } from '../system/netlink/link-messages.ts'
import { openNetlinkSocket } from '../system/netlink/socket.ts'
import { SHELL_HOME, shellEnvironment } from '../system/sandbox/enter-sandbox.ts'
import type { SpawnOptions, Streams } from '../system/terminal/streams.ts'
import type { Lab } from './lab.ts'

const BOUNDS = { packets: 10_000, bytes: 16 * 1024 * 1024 } as const
/** Each keeps its packets in memory until its client goes. */
const MOST_CAPTURES = 8

/** The stream of the tcpdump that prints; packets may come before it is there, and after it has been killed. */
class PacketText {
  readonly #streams: Streams
  #stream: number | undefined
  #waiting: Buffer[] = []
  #isOver = false

  constructor(streams: Streams) {
    this.#streams = streams
  }

  open(client: Client, options: SpawnOptions): number {
    this.#stream = this.#streams.startCommand(client, options, true)
    for (const bytes of this.#waiting.splice(0)) this.print(bytes)
    if (this.#isOver) this.end()
    return this.#stream
  }

  print(bytes: Buffer): void {
    if (this.#stream === undefined) this.#waiting.push(bytes)
    else if (this.#streams.has(this.#stream)) this.#streams.write(this.#stream, bytes.toString('base64'))
  }

  end(): void {
    this.#isOver = true
    if (this.#stream !== undefined && this.#streams.has(this.#stream)) this.#streams.end(this.#stream)
  }
}

interface LabCapture {
  readonly client: Client
  readonly host: string
  readonly link: string
  readonly packets: PacketCapture
}

/** The lab's packet captures: one tcpdump writes the pcap that is kept, a second one reads it and prints it. */
export class Captures {
  readonly #lab: Lab
  readonly #captures = new Map<number, LabCapture>()
  #last = 0

  constructor(lab: Lab) {
    this.#lab = lab
  }

  async start(
    client: Client,
    { host, link, filter = '' }: Requests['capture/start']['params'],
  ): Promise<{ capture: number; stream: number }> {
    const where: Where =
      host === 'switch' ? (work) => work() : (work) => this.#lab.network.inHost(host as HostId, work)
    checkLink(where, host, link)
    this.#makeRoom()
    this.#last += 1
    const id = this.#last
    const text = new PacketText(this.#lab.streams)
    const packets = await PacketCapture.open({
      where,
      link,
      filter,
      bounds: BOUNDS,
      onPackets: (bytes) => text.print(bytes),
      onEnd: () => {
        text.end()
        if (this.#captures.has(id)) client.emit('capture/ended', this.#state(id))
      },
    })
    this.#captures.set(id, { client, host, link, packets })
    client.onGone(() => {
      this.#captures.delete(id)
      void packets.stop()
    })
    const argv = [findTcpdump(), ...tcpdumpTextWords]
    const options = { argv, where, cwd: SHELL_HOME, env: shellEnvironment(host), hidesErrors: true } as const
    return { capture: id, stream: text.open(client, options) }
  }

  pcap(id: number): Requests['capture/pcap']['result'] {
    return { ...this.#state(id), pcap: this.#find(id).packets.recorder.file().toString('base64') }
  }

  async stop(id: number): Promise<CaptureState> {
    await this.#find(id).packets.stop()
    return this.#state(id)
  }

  #state(id: number): CaptureState {
    const { host, link, packets } = this.#find(id)
    const { recorder, isRunning, dropped } = packets
    return {
      capture: id,
      host,
      link,
      packets: recorder.packets,
      bytes: recorder.bytes,
      running: isRunning,
      isCut: recorder.isFull,
      dropped,
    }
  }

  #find(id: number): LabCapture {
    const capture = this.#captures.get(id)
    if (!capture) throw new LabError('not-found', `there is no capture ${id}`)
    return capture
  }

  /** Gives up what ended longest ago. */
  #makeRoom(): void {
    if (this.#captures.size < MOST_CAPTURES) return
    const over = [...this.#captures].find(([, { packets }]) => !packets.isRunning)
    if (!over)
      throw new LabError(
        'conflict',
        `${MOST_CAPTURES} captures are running in this lab; stop one of them first`,
      )
    this.#captures.delete(over[0])
  }
}

function checkLink(where: Where, host: string, link: string): void {
  if (link === 'any') return
  const socket = where(() => openNetlinkSocket('route'))
  try {
    const names = getLinks(socket).map(({ name }) => name)
    if (!names.includes(link))
      throw new LabError('bad-input', `${host} has no link ${link}; there is any, ${names.join(', ')}`)
  } finally {
    socket.close()
  }
}

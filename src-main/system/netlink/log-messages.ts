import { type NetlinkRequest, readString, readU8, readU32be, walkAttributes, writeBody } from './codec.ts'
import { nfnetlinkFamilies, nfnetlinkHeaderLength, subsystem } from './nfnetlink.ts'
import { openNetlinkSocket } from './socket.ts'
import { type NetlinkWatch, watchNetlink } from './watch.ts'

// Numbers of include/uapi/linux/netfilter/nfnetlink_log.h.
const NFULNL_MSG_PACKET = subsystem.log | 0
const NFULNL_MSG_CONFIG = subsystem.log | 1
const NFULA_CFG = { command: 1, mode: 2, queueThreshold: 5, flags: 6 } as const
const NFULNL_CFG_CMD_BIND = 1
const NFULNL_COPY_PACKET = 2
const NFULNL_CFG_F_SEQ = 1
const NFULA = {
  mark: 2,
  inLink: 4,
  outLink: 5,
  physicalInLink: 6,
  physicalOutLink: 7,
  payload: 9,
  prefix: 10,
  sequence: 12,
  linkHeader: 16,
} as const

/** What the LOG line shows of a packet, and a good deal more; longer packets are cut. */
const COPIED_BYTES = 256

export interface LogMessage {
  readonly family: 4 | 6
  readonly prefix: string
  readonly mark: number
  /** Link indexes; 0 where the hook has none. */
  readonly inLink: number
  readonly outLink: number
  /** Ports of the bridge, 0 where the packet passes none. */
  readonly physicalInLink: number
  readonly physicalOutLink: number
  readonly linkHeader: Uint8Array
  /** From the IP header on, cut after 256 bytes. */
  readonly packet: Uint8Array
  /** Counts the group's messages: a gap is what got lost. */
  readonly sequence: number
}

/** Makes this socket the one reader of a log group; EPERM when another socket is that. */
export function bindLogGroup(group: number): NetlinkRequest {
  const body = writeBody((w) => {
    w.u8(nfnetlinkFamilies.unspecified).u8(0).u16be(group)
    w.attributeU8(NFULA_CFG.command, NFULNL_CFG_CMD_BIND)
  })
  return { type: NFULNL_MSG_CONFIG, flags: 0, body, what: `read log group ${group}` }
}

/** Every packet at once, its first bytes, and numbered. */
export function configureLogGroup(group: number): NetlinkRequest {
  const body = writeBody((w) => {
    w.u8(nfnetlinkFamilies.unspecified).u8(0).u16be(group)
    w.attribute(NFULA_CFG.mode, () => w.u32be(COPIED_BYTES).u8(NFULNL_COPY_PACKET).u8(0))
    w.attributeU32be(NFULA_CFG.queueThreshold, 1)
    w.attribute(NFULA_CFG.flags, () => w.u16be(NFULNL_CFG_F_SEQ))
  })
  return { type: NFULNL_MSG_CONFIG, flags: 0, body, what: `configure log group ${group}` }
}

/** Undefined for what is no packet of IPv4 or IPv6. */
export function decodeLogMessage(
  buffer: Buffer,
  start: number,
  end: number,
  type: number,
): LogMessage | undefined {
  if (type !== NFULNL_MSG_PACKET) return undefined
  const family = readU8(buffer, start, end)
  if (family !== nfnetlinkFamilies.ip && family !== nfnetlinkFamilies.ip6) return undefined
  const message: { -readonly [K in keyof LogMessage]: LogMessage[K] } = {
    family: family === nfnetlinkFamilies.ip ? 4 : 6,
    prefix: '',
    mark: 0,
    inLink: 0,
    outLink: 0,
    physicalInLink: 0,
    physicalOutLink: 0,
    linkHeader: new Uint8Array(),
    packet: new Uint8Array(),
    sequence: 0,
  }
  walkAttributes(buffer, start + nfnetlinkHeaderLength, end, (attribute, from, to) => {
    switch (attribute) {
      case NFULA.prefix:
        message.prefix = readString(buffer, from, to)
        break
      case NFULA.mark:
        message.mark = readU32be(buffer, from, to)
        break
      case NFULA.inLink:
        message.inLink = readU32be(buffer, from, to)
        break
      case NFULA.outLink:
        message.outLink = readU32be(buffer, from, to)
        break
      case NFULA.physicalInLink:
        message.physicalInLink = readU32be(buffer, from, to)
        break
      case NFULA.physicalOutLink:
        message.physicalOutLink = readU32be(buffer, from, to)
        break
      case NFULA.sequence:
        message.sequence = readU32be(buffer, from, to)
        break
      case NFULA.linkHeader:
        message.linkHeader = Uint8Array.from(buffer.subarray(from, to))
        break
      case NFULA.payload:
        message.packet = Uint8Array.from(buffer.subarray(from, to))
        break
    }
  })
  return message
}

export interface LogWatcher {
  onMessage(message: LogMessage): void
  onError(error: Error): void
}

/** Reads a log group of the calling thread's network namespace from now on; closing gives it up. */
export function watchLogGroup(group: number, watcher: LogWatcher): NetlinkWatch {
  const socket = openNetlinkSocket('netfilter', { isBlocking: false, receiveBufferBytes: 1024 * 1024 })
  try {
    socket.request(bindLogGroup(group))
    socket.request(configureLogGroup(group))
  } catch (error) {
    socket.close()
    throw error
  }
  return watchNetlink(socket, {
    onMessage: (buffer, start, end, type) => {
      const message = decodeLogMessage(buffer, start, end, type)
      if (message) watcher.onMessage(message)
    },
    onOverrun: () => undefined, // the sequence numbers tell how many were lost
    onError: (error) => watcher.onError(error),
  })
}

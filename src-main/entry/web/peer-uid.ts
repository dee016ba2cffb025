import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

/**
 * The user whose program is at the other end of a connection over 127.0.0.1, by the kernel's table of this network
 * namespace; undefined where it is not there (any more).
 */
export function peerUid({
  remotePort,
  localPort,
}: Pick<Socket, 'remotePort' | 'localPort'>): number | undefined {
  if (remotePort === undefined || localPort === undefined) return undefined
  return uidOf(readFileSync('/proc/net/tcp', 'latin1'), remotePort, localPort)
}

const LOOPBACK = '0100007F' // 127.0.0.1 as the table writes it on a little-endian machine
const LOOPBACK_BIG_ENDIAN = '7F000001'

/** The uid of the socket with these ports in the text of /proc/net/tcp. */
export function uidOf(table: string, port: number, peerPort: number): number | undefined {
  const row = new RegExp(
    `: ${endpoint(port)} ${endpoint(peerPort)} 0[1-9A-B] \\S+ \\S+ \\S+ +(\\d+) +\\d+ +([1-9]\\d*) `,
  ).exec(table)
  return row?.[1] === undefined ? undefined : Number(row[1])
}

function endpoint(port: number): string {
  return `(?:${LOOPBACK}|${LOOPBACK_BIG_ENDIAN}):${port.toString(16).toUpperCase().padStart(4, '0')}`
}

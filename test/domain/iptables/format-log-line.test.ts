import { describe, expect, it } from 'vitest'
import { formatLogLine, type LoggedPacket } from '../../../src-main/domain/iptables/format-log-line.ts'

const bytes = (hex: string) =>
  Uint8Array.from(hex.match(/[0-9a-f]{2}/g) ?? [], (each) => Number.parseInt(each, 16))

/** An IPv4 header of 20 bytes without checksum: length, id, flags and offset, TTL, protocol, addresses. */
function ip(fields: {
  tos?: string
  length: number
  id?: number
  fragment?: string
  ttl?: number
  protocol: number
  source?: string
  destination?: string
}): string {
  const { tos = '00', length, id = 0, fragment = '0000', ttl = 64, protocol } = fields
  const { source = 'c0000232', destination = 'c000020a' } = fields
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  return `45${tos}${hex(length, 4)}${hex(id, 4)}${fragment}${hex(ttl, 2)}${hex(protocol, 2)}0000${source}${destination}`
}

function line(packet: string, more: Partial<LoggedPacket> = {}): string {
  return formatLogLine({
    prefix: '',
    in: 'eth0',
    out: '',
    physIn: '',
    physOut: '',
    mark: 0,
    linkHeader: bytes('d2887228 4aabb601 4c6a8502 0800'),
    packet: bytes(packet),
    ...more,
  })
}

// The packet of a real kernel's line (test/cases/51-kernel-trace-log), there with sequence numbers and TCP options.
const syn = `${ip({ length: 60, id: 37994, fragment: '4000', protocol: 6 })}96e6796816450d91 00000000 a002faf0 00000000`
const head = 'IN=eth0 OUT= MAC=d2:88:72:28:4a:ab:b6:01:4c:6a:85:02:08:00 SRC=192.0.2.50 DST=192.0.2.10'

describe('the line of a LOG rule', () => {
  it('is the kernel’s for a TCP packet', () => {
    expect(line(syn)).toBe(
      `${head} LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=37994 DF PROTO=TCP SPT=38630 DPT=31080 WINDOW=64240 RES=0x00 SYN URGP=0`,
    )
  })

  it('has the prefix before it, apart by one blank, and the mark behind', () => {
    expect(line(syn, { prefix: 'new: ' })).toMatch(/^new: IN=eth0 /)
    expect(line(syn, { prefix: 'new' })).toMatch(/^new IN=eth0 /)
    expect(line(syn, { mark: 0x4000 })).toMatch(/ URGP=0 MARK=0x4000$/)
  })

  it('names the ports of a bridge; what the host sends itself has no link header', () => {
    const bridged = line(syn, { in: 'cni0', out: 'cni0', physIn: 'veth0001', physOut: 'veth0002' })
    expect(bridged).toMatch(/^IN=cni0 OUT=cni0 PHYSIN=veth0001 PHYSOUT=veth0002 MAC=d2/)
    const sent = line(syn, { in: '', out: 'eth0', linkHeader: new Uint8Array() })
    expect(sent).toMatch(/^IN= OUT=eth0 SRC=192\.0\.2\.50 /)
  })

  it('shows flags in the kernel’s order', () => {
    const all = syn.replace('a002faf0', 'a0fffaf0')
    expect(line(all)).toContain(' RES=0x00 CWR ECE URG ACK PSH RST SYN FIN URGP=0')
  })

  it('shows UDP, service bits and fragments', () => {
    const udp = `${ip({ tos: 'b8', length: 33, protocol: 17, ttl: 1 })}13881388000d0000`
    expect(line(udp)).toBe(`${head} LEN=33 TOS=0x18 PREC=0xA0 TTL=1 ID=0 PROTO=UDP SPT=5000 DPT=5000 LEN=13`)
    const later = `${ip({ length: 100, fragment: '2005', protocol: 17 })}00000000`
    expect(line(later)).toMatch(/ ID=0 MF FRAG:5 PROTO=UDP$/)
  })

  it('shows ICMP: an echo, and an error with the packet that it is about', () => {
    expect(line(`${ip({ length: 84, protocol: 1 })}0800000000630001`)).toMatch(
      / PROTO=ICMP TYPE=8 CODE=0 ID=99 SEQ=1$/,
    )
    const about = `${ip({ length: 33, protocol: 17, source: 'c000020a', destination: 'c0000232' })}1388003500150000`
    expect(line(`${ip({ length: 56, protocol: 1 })}0303000000000000${about}`, { mark: 1 })).toMatch(
      / PROTO=ICMP TYPE=3 CODE=3 \[SRC=192\.0\.2\.10 DST=192\.0\.2\.50 LEN=33 TOS=0x00 PREC=0x00 TTL=64 ID=0 PROTO=UDP SPT=5000 DPT=53 LEN=21 \] MARK=0x1$/,
    )
    expect(line(`${ip({ length: 56, protocol: 1 })}0304000000000578${about}`)).toMatch(/ \] MTU=1400$/)
  })

  it('says so where a packet is cut, and knows other protocols by number', () => {
    expect(line('4500')).toMatch(/ TRUNCATED$/)
    expect(line(`${ip({ length: 60, protocol: 6 })}96e6`)).toMatch(/ PROTO=TCP INCOMPLETE \[2 bytes\]$/)
    expect(line(ip({ length: 40, protocol: 112 }))).toMatch(/ PROTO=112$/)
  })
})

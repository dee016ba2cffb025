import { describe, expect, it } from 'vitest'
import type { LabHost } from '../../../src-main/domain/trace/lab-hosts.ts'
import { journeyLanes, laneOfHop, laneRows } from '../../../src-renderer/trace/journey-lanes.ts'
import { NODE_PORT_HOPS, NODE_PORT_JOURNEY } from './seed-journey.ts'

const hosts = new Map<string, LabHost>([
  ['172.18.0.254', { kind: 'client', name: 'client' }],
  ['172.18.0.3', { kind: 'node', name: 'worker1' }],
  ['10.244.1.7', { kind: 'pod', name: 'a', node: 'worker1' }],
  ['10.244.2.8', { kind: 'pod', name: 'b', node: 'worker2' }],
])
const ways = (...args: Parameters<typeof journeyLanes>) =>
  journeyLanes(...args).map(({ kind, name, hops }) => `${kind} ${name} ${hops}`)

describe('lanes of a journey', () => {
  it('go from the client over the switch and two nodes to the pod', () => {
    expect(ways(NODE_PORT_JOURNEY, hosts)).toEqual([
      'client client 0',
      'switch switch 0',
      'node worker1 13',
      'switch switch 0',
      'node worker2 2',
      'pod b 0',
    ])
  })

  it('have no switch between a pod and its own node, and no end for what was dropped', () => {
    const packet = {
      src: '10.244.1.7',
      sport: 5,
      dst: '10.96.0.1',
      dport: 80,
      in: 'cni0',
      out: '',
      mark: 0,
    }
    const hops = NODE_PORT_HOPS.slice(0, 2).map((hop) => ({ ...hop, packet }))
    expect(ways({ hops, verdict: 'dropped' }, hosts)).toEqual(['pod a 0', 'node worker1 2'])
  })

  it('begin at the node that sends itself', () => {
    const [first] = NODE_PORT_HOPS
    if (!first) throw new Error('no hops')
    const hops = [{ ...first, packet: { ...first.packet, src: '172.18.0.3', dst: '10.244.1.7', in: '' } }]
    expect(ways({ hops, verdict: 'delivered' }, hosts)).toEqual(['node worker1 1', 'pod a 0'])
    expect(journeyLanes({ hops, verdict: 'delivered' }, hosts)[0]?.detail).toBe('sent from here')
  })

  it('say by which links the packet came and went', () => {
    const lane = journeyLanes(NODE_PORT_JOURNEY, hosts).find(({ name }) => name === 'worker2')
    expect(lane?.detail).toBe('in by eth0, out by cni0')
  })

  it('become rows: a heading for each lane and each table, a row for each hop, the end', () => {
    const rows = laneRows(NODE_PORT_JOURNEY, journeyLanes(NODE_PORT_JOURNEY, hosts))
    const kinds = rows.map((row) => (row.kind === 'place' ? `${row.hook} ${row.table}` : row.kind))
    expect(kinds.filter((kind) => kind === 'hop')).toHaveLength(15)
    expect(kinds.filter((kind) => / /.test(kind))).toEqual([
      'PREROUTING nat',
      'FORWARD filter',
      'POSTROUTING nat',
      'PREROUTING nat',
      'FORWARD filter',
    ])
    expect(rows.at(-1)).toMatchObject({ kind: 'end', verdict: 'delivered' })
  })

  it('are found by hop', () => {
    const lanes = journeyLanes(NODE_PORT_JOURNEY, hosts)
    expect(laneOfHop(lanes, 12)?.name).toBe('worker1')
    expect(laneOfHop(lanes, 13)?.name).toBe('worker2')
    expect(laneOfHop(lanes, 15)).toBeUndefined()
  })

  it('are none for a journey without hops', () => {
    expect(journeyLanes({ hops: [], verdict: 'lost' }, hosts)).toEqual([])
  })
})

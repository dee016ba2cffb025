import { expect, it } from 'vitest'
import { journeyPackets } from '../../../src-renderer/trace/journey-packets.ts'
import { NODE_PORT_JOURNEY } from './seed-journey.ts'

it('finds a journey’s connection on a node by each header that the packet had there', () => {
  const on = (node: string) =>
    journeyPackets(NODE_PORT_JOURNEY, node).map(
      ({ source, sourcePort, destination, destinationPort }) =>
        `${source}:${sourcePort} > ${destination}:${destinationPort}`,
    )
  expect(on('worker1')).toEqual([
    '172.18.0.254:40000 > 172.18.0.3:32054',
    '172.18.0.254:40000 > 10.244.2.8:80',
    '172.18.0.3:1024 > 10.244.2.8:80',
  ])
  expect(on('worker2')).toEqual(['172.18.0.3:1024 > 10.244.2.8:80'])
  expect(on('control-plane')).toEqual([])
})

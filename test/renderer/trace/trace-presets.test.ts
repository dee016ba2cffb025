import { describe, expect, it } from 'vitest'
import { tracePresets } from '../../../src-renderer/trace/trace-presets.ts'
import { sampleLab } from '../sample-lab.ts'

const { services, status } = sampleLab('http-server.yaml')
const commands = (target: string) =>
  tracePresets(target, services, status.nodes, 'worker1').map(({ command }) => command)

describe('requests to try', () => {
  it('come from outside over the node port only', () => {
    expect(commands('client')).toEqual(['curl -sSm 3 http://172.18.0.3:32054/'])
  })

  it('come from a pod over cluster IPs and names first', () => {
    const fromPod = commands('pod/default/a')
    expect(fromPod[0]).toBe('curl -sSm 3 http://10.107.38.142/')
    expect(fromPod).toContain('curl -sSm 3 http://http-svc/')
    expect(fromPod.at(-1)).toBe('curl -sSm 3 http://172.18.0.3:32054/')
  })

  it('come from a node over its own node port', () => {
    expect(commands('node/worker2')).toContain('curl -sSm 3 http://172.18.0.4:32054/')
  })
})

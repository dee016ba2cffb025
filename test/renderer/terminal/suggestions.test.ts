import { describe, expect, it } from 'vitest'
import { Acknowledger } from '../../../src-renderer/terminal/acknowledge.ts'
import { requestLine, suggestCommands } from '../../../src-renderer/terminal/suggestions.ts'
import { listTargets, targetKind, targetName } from '../../../src-renderer/terminal/target-words.ts'
import { xtermTheme } from '../../../src-renderer/terminal/xterm-theme.ts'
import { sampleLab } from '../sample-lab.ts'

const lab = sampleLab('http-server.yaml')
const suggest = (target: string, services = lab.services) =>
  suggestCommands(target, services, lab.status.nodes, 'worker1')

describe('suggested commands', () => {
  it('reach Services from where the terminal is', () => {
    expect(suggest('client')).toContain('curl http://172.18.0.3:32054/')
    expect(suggest('pod/default/a').slice(0, 2)).toEqual([
      'curl http://10.107.38.142/',
      'curl http://http-svc/',
    ])
    expect(suggest('node/worker2')[0]).toBe('iptables -t nat -vnL KUBE-SERVICES')
  })

  it('are something also where there is no Service', () => {
    expect(suggest('client', [])[0]).toBe('ping -c 3 172.18.0.3')
    for (const target of ['client', 'node/worker1', 'pod/default/a'])
      expect(suggest(target, []).length, target).toBeGreaterThan(0)
  })

  it('are few, however many Services there are', () => {
    const many = Array.from({ length: 100 }, () => lab.services).flat()
    for (const target of ['client', 'node/worker1', 'pod/default/a'])
      expect(suggest(target, many).length, target).toBeLessThanOrEqual(4)
  })

  it('take an address out of a program’s output as one word', () => {
    expect(requestLine('http://172.18.0.3:32054/')).toBe('curl http://172.18.0.3:32054/')
    expect(requestLine('http://a/?x=1&y=$(reboot)')).toBe("curl 'http://a/?x=1&y=$(reboot)'")
    expect(requestLine("http://a/';reboot;'")).toBe("curl 'http://a/%27;reboot;%27'")
  })
})

describe('targets', () => {
  it('are called by their last name', () => {
    expect(['client', 'node/worker1', 'pod/default/a'].map(targetName)).toEqual(['client', 'worker1', 'a'])
    expect(['client', 'node/worker1', 'pod/default/a'].map(targetKind)).toEqual(['client', 'node', 'pod'])
  })

  it('are the client, every node, and every pod that runs', () => {
    const pods = lab.pods.map((pod, index) =>
      index > 0 ? pod : { ...pod, status: { ...pod.status, podIPs: [] } },
    )
    expect(listTargets(lab.status, pods).map(({ targets }) => targets.length)).toEqual([1, 3, 2])
  })
})

describe('flow control', () => {
  it('acknowledges in steps, all that was drawn and no more', () => {
    const acknowledger = new Acknowledger()
    let acknowledged = 0
    let drawn = 0
    for (let size = 1; size < 5000; size += 37) {
      drawn += size
      const amount = acknowledger.drew(size)
      expect(amount === 0 || amount >= 16 * 1024).toBe(true)
      acknowledged += amount
      expect(acknowledged).toBeLessThanOrEqual(drawn)
      expect(drawn - acknowledged).toBeLessThan(16 * 1024)
    }
  })
})

describe('colours of a terminal', () => {
  it('all come out of tokens', () => {
    const asked: string[] = []
    const theme = xtermTheme((name) => {
      asked.push(name)
      return name
    })
    expect(theme.brightBlue).toBe('--term-bright-blue')
    expect(Object.values(theme).every((value) => asked.includes(value as string))).toBe(true)
  })
})

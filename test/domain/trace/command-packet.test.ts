import { describe, expect, it } from 'vitest'
import { destinationOf } from '../../../src-main/domain/trace/command-packet.ts'
import { sampleLab } from '../../renderer/sample-lab.ts'

const { services } = sampleLab('http-server.yaml')
const to = (command: string) => destinationOf(command, services, 'default')

describe('where a command’s first packet goes', () => {
  it.each([
    ['curl -sSm 3 http://10.107.38.142/', 'tcp', '10.107.38.142', 80],
    ['curl http://172.18.0.3:32054/', 'tcp', '172.18.0.3', 32054],
    ['curl -s https://10.107.38.142', 'tcp', '10.107.38.142', 443],
    ['curl -s -o /dev/null 10.107.38.142:8080', 'tcp', '10.107.38.142', 8080],
    ['curl http-svc', 'tcp', '10.107.38.142', 80],
    ['curl http://http-svc.default.svc.cluster.local/', 'tcp', '10.107.38.142', 80],
    ['(echo hello >&3; head -n 1 <&3) 3<>/dev/udp/10.96.0.10/53', 'udp', '10.96.0.10', 53],
    ['nc -zv 10.244.1.7 80', 'tcp', '10.244.1.7', 80],
    ['nc -u -w1 10.244.1.7 5353', 'udp', '10.244.1.7', 5353],
    ['ping -c 3 172.18.0.3', 'icmp', '172.18.0.3', 0],
  ])('%s', (command, protocol, address, port) => {
    expect(to(command)).toEqual({ protocol, address, port })
  })

  it('is not said for what is no name of the lab, and for commands that send nothing known', () => {
    expect(to('curl http://nowhere/')).toEqual({
      problem: 'nowhere is no address, and no Service of the lab has that name.',
    })
    expect(to('ip route')).toHaveProperty('problem')
    expect(to('curl http://[fd00::1]/')).toHaveProperty('problem')
  })

  it('takes a name from the sender’s own Kubernetes namespace', () => {
    expect(destinationOf('curl http-svc', services, 'shop')).toHaveProperty('problem')
  })
})

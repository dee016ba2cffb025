import { describe, expect, it } from 'vitest'
import { deleteObjects, scale, setPodCondition } from '../../../src-main/domain/kubernetes/cluster.ts'
import { listObjects } from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import { applied, deployment, endpointsOf, later, newCluster, podAt, service } from './cluster-fixture.ts'

const webDeployment = { kind: 'Deployment', namespace: 'default', name: 'web' } as const

describe('EndpointSlices', () => {
  const web = service('web', '{selector: {app: web}, ports: [{port: 80}]}')
  const cluster = applied(newCluster(), `${deployment('web', 3)}---${web}`)
  const sliceOf = (from: typeof cluster, index = 0) => listObjects(from, 'EndpointSlice')[index]

  it("carry the controller's labels", () => {
    expect(sliceOf(cluster)?.metadata.labels).toEqual({
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': 'web',
    })
    expect(sliceOf(cluster)?.ports).toEqual([{ name: '', protocol: 'TCP', port: 80 }])
  })

  it('follow a pod that becomes not ready, terminating and deleted', () => {
    const name = podAt(cluster, 0).metadata
    const conditionsOf = (from: typeof cluster) =>
      endpointsOf(from, 'web').find(({ targetRef }) => targetRef?.name === name.name)?.conditions
    const unready = setPodCondition(cluster, name, 'not-ready', later).cluster
    expect(conditionsOf(unready)).toEqual({ ready: false, serving: false, terminating: false })
    const dying = setPodCondition(cluster, name, 'terminating', later).cluster
    expect(conditionsOf(dying)).toEqual({ ready: false, serving: true, terminating: true })
    const dead = setPodCondition(dying, name, 'deleted', later).cluster
    expect(conditionsOf(dead)).toBeUndefined()
    expect(sliceOf(dead)?.metadata.name).toBe(sliceOf(cluster)?.metadata.name)
  })

  it('publish not ready pods as ready where the Service wants it', () => {
    const eager = applied(
      cluster,
      service('eager', '{selector: {app: web}, publishNotReadyAddresses: true, ports: [{port: 80}]}'),
    )
    const unready = setPodCondition(eager, podAt(cluster, 0).metadata, 'not-ready', later).cluster
    expect(endpointsOf(unready, 'eager')[0]?.conditions).toEqual({
      ready: true,
      serving: false,
      terminating: false,
    })
  })

  it('keep their name when they run empty and fill again', () => {
    const empty = scale(cluster, webDeployment, 0, later).cluster
    expect(sliceOf(empty)).toMatchObject({
      endpoints: [],
      ports: [],
      metadata: { name: sliceOf(cluster)?.metadata.name },
    })
    const full = scale(empty, webDeployment, 2, later).cluster
    expect(sliceOf(full)?.metadata.name).toBe(sliceOf(cluster)?.metadata.name)
    expect(endpointsOf(full, 'web')).toHaveLength(2)
  })

  it('hold at most 100 endpoints, and a change touches one slice only', () => {
    const many = scale(cluster, webDeployment, 250, later).cluster
    expect(
      listObjects(many, 'EndpointSlice')
        .map(({ endpoints }) => endpoints.length)
        .sort(),
    ).toEqual([100, 100, 50])
    const after = setPodCondition(many, podAt(many, 120).metadata, 'not-ready', later).cluster
    const untouched = new Set(listObjects(many, 'EndpointSlice'))
    expect(listObjects(after, 'EndpointSlice').filter((slice) => !untouched.has(slice))).toHaveLength(1)
  })

  it('are split by the port that a name means in each pod', () => {
    const two = applied(
      newCluster(),
      [
        deployment('web', 1, { port: '{name: http, containerPort: 80}' }).replaceAll(
          'app: web',
          'app: web, site: x',
        ),
        deployment('old', 1, { port: '{name: http, containerPort: 8080}' }).replaceAll(
          'app: old',
          'app: old, site: x',
        ),
        deployment('none', 1).replaceAll('app: none', 'app: none, site: x'),
        service('site', '{selector: {site: x}, ports: [{port: 80, targetPort: http}]}'),
      ].join('---'),
    )
    const slices = listObjects(two, 'EndpointSlice')
    expect(slices.map(({ ports, endpoints }) => [ports[0]?.port, endpoints.length]).sort()).toEqual([
      [80, 1],
      [8080, 1],
    ])
  })

  it('are left to a person who brings them', () => {
    const own = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-own, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: '', port: 8080}]
endpoints: [{addresses: [10.244.1.99]}]
`
    const given = applied(cluster, own)
    expect(listObjects(given, 'EndpointSlice').map(({ metadata }) => metadata.name)).toEqual(['web-own'])
    const ref = { kind: 'EndpointSlice', namespace: 'default', name: 'web-own' } as const
    expect(endpointsOf(deleteObjects(given, [ref], later).cluster, 'web')).toHaveLength(3)
  })

  it('mirror Endpoints for a Service without selector', () => {
    const external = `${service('ext', '{ports: [{port: 80}]}')}---
apiVersion: v1
kind: Endpoints
metadata: {name: ext}
subsets:
- addresses: [{ip: 192.0.2.1}]
  notReadyAddresses: [{ip: 192.0.2.2}]
  ports: [{port: 8080}]
`
    const mirrored = applied(newCluster(), external)
    expect(
      endpointsOf(mirrored, 'ext').map(({ addresses, conditions }) => [addresses[0], conditions.ready]),
    ).toEqual([
      ['192.0.2.2', false],
      ['192.0.2.1', true],
    ])
    expect(
      listObjects(mirrored, 'EndpointSlice')[0]?.metadata.labels['endpointslice.kubernetes.io/managed-by'],
    ).toBe('endpointslicemirroring-controller.k8s.io')
    expect(
      listObjects(applied(newCluster(), service('bare', '{ports: [{port: 80}]}')), 'EndpointSlice'),
    ).toEqual([])
  })

  it('go with their Service', () => {
    const ref = { kind: 'Service', namespace: 'default', name: 'web' } as const
    expect(listObjects(deleteObjects(cluster, [ref], later).cluster, 'EndpointSlice')).toEqual([])
  })

  it('name the zone of the node and hint at it for trafficDistribution', () => {
    const zones = ['worker1', 'worker2'].map(
      (name, index) =>
        `apiVersion: v1\nkind: Node\nmetadata: {name: ${name}, labels: {topology.kubernetes.io/zone: zone-${index}}}\n`,
    )
    const close = service(
      'web',
      '{selector: {app: web}, trafficDistribution: PreferClose, ports: [{port: 80}]}',
    )
    const zoned = applied(applied(cluster, zones.join('---\n')), close)
    expect(endpointsOf(zoned, 'web')[0]).toMatchObject({
      zone: 'zone-0',
      hints: { forZones: [{ name: 'zone-0' }] },
    })
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { setPodCondition } from '../../../src-main/domain/kubernetes/cluster.ts'
import type { Cluster } from '../../../src-main/domain/kubernetes/cluster-objects.ts'
import { formatAge, formatDuration } from '../../../src-main/domain/kubernetes/format-age.ts'
import {
  formatNoResources,
  formatTables,
  type TableOptions,
} from '../../../src-main/domain/kubernetes/format-table.ts'
import { listShown } from '../../../src-main/domain/kubernetes/list-shown.ts'
import { parseKinds } from '../../../src-main/domain/kubernetes/resource-names.ts'
import { applied, deployment, later, newCluster, now, podAt, pods, service } from './cluster-fixture.ts'

const example = readFileSync(
  new URL('../../../lab-scripts/manifests/http-server.yaml', import.meta.url),
  'utf8',
)
const cluster = applied(newCluster(), example)

function get(
  from: Cluster,
  kinds: string,
  options: Partial<TableOptions> & { namespace?: string } = {},
): string {
  const requested = parseKinds(kinds) ?? []
  const namespace = options.allNamespaces ? undefined : (options.namespace ?? 'default')
  const requests = requested.map((kind) => ({
    kind,
    objects: listShown(from, kind, kind === 'Node' || kind === 'Namespace' ? undefined : namespace),
  }))
  const prefixed = requested.length > 1
  return formatTables(from, requests, { wide: false, now: later, allNamespaces: false, prefixed, ...options })
}

const lines = (...rows: string[]) => `${rows.join('\n')}\n`

describe('get services', () => {
  it('prints the table of the teaching example', () => {
    expect(get(cluster, 'svc')).toBe(
      lines(
        'NAME                 TYPE        CLUSTER-IP      EXTERNAL-IP   PORT(S)        AGE',
        'http-svc             ClusterIP   10.107.38.142   <none>        80/TCP         5m',
        'http-svc-node-port   NodePort    10.108.51.223   <none>        80:32054/TCP   5m',
      ),
    )
  })

  it('shows every type, and the selector when wide', () => {
    const yaml = [
      service('a-none', '{clusterIP: None, selector: {app: x}, ports: [{port: 80}]}'),
      service('b-name', '{type: ExternalName, externalName: db.example.test}'),
      service(
        'c-pending',
        '{type: LoadBalancer, ports: [{port: 80, nodePort: 30080}], clusterIP: 10.96.0.20}',
      ),
      service(
        'd-external',
        '{clusterIP: 10.96.0.21, externalIPs: [192.0.2.9, 192.0.2.10], ports: [{port: 53, protocol: UDP}]}',
      ),
    ].join('---')
    expect(get(applied(newCluster(), yaml), 'service', { wide: true })).toBe(
      lines(
        'NAME         TYPE           CLUSTER-IP   EXTERNAL-IP            PORT(S)        AGE   SELECTOR',
        'a-none       ClusterIP      None         <none>                 80/TCP         5m    app=x',
        'b-name       ExternalName   <none>       db.example.test        <none>         5m    <none>',
        'c-pending    LoadBalancer   10.96.0.20   <pending>              80:30080/TCP   5m    <none>',
        'd-external   ClusterIP      10.96.0.21   192.0.2.9,192.0.2.10   53/UDP         5m    <none>',
      ),
    )
  })
})

describe('get pods', () => {
  const [first = '', second = '', third = ''] = [...pods(cluster)].map(({ metadata }) => metadata.name)
  const nameOf = (ip: string) =>
    pods(cluster).find(({ status }) => status.podIPs[0] === ip)?.metadata.name ?? ''

  it('prints ready and status of each', () => {
    const unready = setPodCondition(cluster, { namespace: 'default', name: first }, 'not-ready', now).cluster
    const dying = setPodCondition(unready, { namespace: 'default', name: second }, 'terminating', now).cluster
    const text = get(dying, 'po')
    expect(text.split('\n')[0]).toBe(
      `NAME${' '.repeat(first.length - 1)}READY   STATUS        RESTARTS   AGE`,
    )
    expect(text).toContain(`${first}   0/1     Running       0          5m\n`)
    expect(text).toContain(`${second}   1/1     Terminating   0          5m\n`)
    expect(text).toContain(`${third}   1/1     Running       0          5m\n`)
  })

  it('prints address and node when wide', () => {
    const text = get(cluster, 'pods', { wide: true })
    expect(text).toContain('RESTARTS   AGE   IP           NODE      NOMINATED NODE   READINESS GATES\n')
    expect(text).toContain(
      `${nameOf('10.244.1.7')}   1/1     Running   0          5m    10.244.1.7   worker1   <none>           <none>\n`,
    )
  })

  it('shows a pod without a node as Pending', () => {
    const yaml = deployment('web', 1).replace(
      'spec:\n      containers',
      'spec:\n      nodeName: nowhere\n      containers',
    )
    expect(get(applied(newCluster(), yaml), 'pods', { wide: true })).toContain(
      '0/1     Pending   0          5m    <none>   nowhere',
    )
  })
})

describe('get of other kinds', () => {
  it('prints deployments and their replica sets', () => {
    expect(get(cluster, 'deploy', { wide: true })).toBe(
      lines(
        'NAME          READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS           IMAGES                                         SELECTOR',
        'http-server   3/3     3            3           5m    simple-http-server   ghcr.io/joengjyu/simple-http-server:20221009   app=http-server',
      ),
    )
    expect(get(cluster, 'rs')).toMatch(
      /^NAME {2,}DESIRED {3}CURRENT {3}READY {3}AGE\nhttp-server-\w+ {3}3 {9}3 {9}3 {7}5m\n$/,
    )
  })

  it('prints nodes', () => {
    expect(get(cluster, 'no', { wide: true })).toBe(
      lines(
        'NAME            STATUS   ROLES           AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE        KERNEL-VERSION   CONTAINER-RUNTIME',
        'control-plane   Ready    control-plane   5m    v1.36.2   172.18.0.2    <none>        Chainwalk lab   <unknown>        chainwalk://lab',
        'worker1         Ready    <none>          5m    v1.36.2   172.18.0.3    <none>        Chainwalk lab   <unknown>        chainwalk://lab',
        'worker2         Ready    <none>          5m    v1.36.2   172.18.0.4    <none>        Chainwalk lab   <unknown>        chainwalk://lab',
      ),
    )
  })

  it('prints endpoints, three at most', () => {
    const many = applied(
      newCluster(),
      `${deployment('web', 5)}---${service('web', '{selector: {app: web}, ports: [{port: 80}]}')}`,
    )
    expect(get(many, 'ep')).toBe(
      lines(
        'NAME   ENDPOINTS                                               AGE',
        'web    10.244.1.2:80,10.244.2.2:80,10.244.1.3:80 + 2 more...   5m',
      ),
    )
    expect(get(many, 'endpointslices')).toMatch(
      /^NAME {8}ADDRESSTYPE {3}PORTS {3}ENDPOINTS {38}AGE\nweb-\w{5} {3}IPv4 {10}80 {6}10.244.1.2,10.244.2.2,10.244.1.3 \+ 2 more... {3}5m\n$/,
    )
    const empty = applied(newCluster(), service('web', '{selector: {app: web}, ports: [{port: 80}]}'))
    expect(get(empty, 'ep')).toContain('web    <none>      5m')
    expect(get(empty, 'endpointslices')).toContain('<unset>   <unset>')
  })

  it('prints namespaces', () => {
    expect(get(cluster, 'ns').split('\n').slice(0, 2)).toEqual([
      'NAME              STATUS   AGE',
      'default           Active   5m',
    ])
  })
})

describe('several kinds and namespaces', () => {
  it('prefixes names and leaves a line between the tables', () => {
    const text = get(cluster, 'svc,deploy')
    expect(text).toContain('service/http-svc-node-port')
    expect(text).toContain('5m\n\nNAME                          READY')
    expect(text).toContain('deployment.apps/http-server   3/3')
    expect(get(newCluster(), 'po,svc')).toBe('')
  })

  it('adds a namespace column for all namespaces, but not for nodes', () => {
    const shop = applied(
      cluster,
      `apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---${service('web', '{ports: [{port: 80}], clusterIP: 10.96.0.9}').replace('{name: web}', '{name: web, namespace: shop}')}`,
    )
    const text = get(shop, 'svc', { allNamespaces: true })
    expect(text.split('\n')[0]).toMatch(/^NAMESPACE {3}NAME /)
    expect(text).toContain('\nshop        web                  ClusterIP   10.96.0.9 ')
    expect(get(shop, 'nodes', { allNamespaces: true })).toMatch(/^NAME /)
  })

  it('has words for nothing', () => {
    expect(formatNoResources(['Pod'], 'default')).toBe('No resources found in default namespace.\n')
    expect(formatNoResources(['Pod'], undefined)).toBe('No resources found\n')
    expect(formatNoResources(['Node'], 'default')).toBe('No resources found\n')
  })
})

describe('kinds', () => {
  it.each([
    ['po', ['Pod']],
    ['Pods', ['Pod']],
    ['services,deploy', ['Service', 'Deployment']],
    ['deployment.apps', ['Deployment']],
    ['eps', ['Endpoints']],
    ['endpointslices.discovery.k8s.io', ['EndpointSlice']],
    ['all', ['Pod', 'Service', 'Deployment', 'ReplicaSet']],
    ['ingress', undefined],
    ['po,ingress', undefined],
  ])('reads %s', (text, kinds) => {
    expect(parseKinds(text)).toEqual(kinds)
  })
})

describe('ages', () => {
  it.each([
    [0, '0s'],
    [5, '5s'],
    [119, '119s'],
    [120, '2m'],
    [192, '3m12s'],
    [600, '10m'],
    [10_799, '179m'],
    [10_800, '3h'],
    [11_100, '3h5m'],
    [8 * 3600, '8h'],
    [26 * 3600, '26h'],
    [48 * 3600, '2d'],
    [98 * 3600, '4d2h'],
    [8 * 86_400, '8d'],
    [729 * 86_400, '729d'],
    [730 * 86_400, '2y'],
    [800 * 86_400, '2y70d'],
    [9 * 365 * 86_400, '9y'],
    [-1, '0s'],
    [-5, '<invalid>'],
  ])('writes %d seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text)
  })

  it('counts from the time of creation', () => {
    expect(formatAge(now, later)).toBe('5m')
    expect(formatAge(undefined, later)).toBe('<unknown>')
    expect(podAt(cluster, 0).metadata.creationTimestamp).toBe(now)
  })
})

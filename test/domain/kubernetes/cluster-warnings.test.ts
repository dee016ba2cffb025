import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { applied, apply, deployment, newCluster, service, warningsOf } from './cluster-fixture.ts'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

describe('warnings', () => {
  const shop = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n'
  const testCase = (name: string) => read(`test/cases/48-selector-and-port-names/${name}`)

  it('name the template that has the value under another key', () => {
    expect(warningsOf(apply(newCluster(), shop + testCase('wrong-key.yaml')))).toEqual([
      'test.yaml:5: Service "shop/edge": spec.selector: selector `name=nginx-ingress` matches 0 of 1 pod templates in namespace shop; nearest: Deployment edge has `app=nginx-ingress` (same value, other key)',
    ])
  })

  it('say that a selector never crosses namespaces', () => {
    const [warning] = warningsOf(apply(newCluster(), shop + testCase('other-namespace.yaml')))
    expect(warning).toContain('selector `app=otherns` matches 0 of 0 pod templates in namespace default')
    expect(warning).toContain('a selector never crosses namespaces')
    const same = shop + testCase('other-namespace.yaml').replace('app: otherns', 'app: web')
    expect(warningsOf(apply(newCluster(), same))[0]).toContain(
      'nearest: Deployment web in namespace shop has `app=web` (same labels; a selector never crosses namespaces)',
    )
  })

  it('do not come for a Service without selector', () => {
    expect(apply(newCluster(), shop + testCase('no-selector.yaml')).problems).toEqual([])
  })

  it('name the pair that differs', () => {
    const yaml = `${deployment('web', 1)}---${service('web', '{selector: {app: wbe}, ports: [{port: 80}]}')}`
    expect(warningsOf(apply(newCluster(), yaml))[0]).toContain(
      'nearest: Deployment web has `app=web` (same key, other value)',
    )
  })

  it('name the ports that there are', () => {
    const ports = (target: string) =>
      `${deployment('web', 1, { port: '{name: http, containerPort: 8080}' })}---${service('web', `{selector: {app: web}, ports: [{port: 80, targetPort: ${target}}]}`)}`
    expect(warningsOf(apply(newCluster(), ports('web')))).toEqual([
      'test.yaml:16: Service "web": spec.ports[0].targetPort: no container of the selected pods has a TCP port named "web"; there are 8080/TCP "http" (Deployment web)',
    ])
    expect(warningsOf(apply(newCluster(), ports('80')))[0]).toContain(
      'declares TCP port 80, so nothing listens there in the lab',
    )
    expect(warningsOf(apply(newCluster(), ports('http')))).toEqual([])
  })

  it('come for a Service that loses its pods by another object', () => {
    const cluster = applied(
      newCluster(),
      `${deployment('web', 1)}---${service('web', '{selector: {app: web}, ports: [{port: 80}]}')}`,
    )
    const portGone = apply(cluster, deployment('web', 1, { port: '{containerPort: 8080}' }))
    expect(warningsOf(portGone)[0]).toContain('Service "web": spec.ports[0].targetPort')
  })

  it('do not come for a Deployment scaled to nothing', () => {
    const yaml = `${deployment('web', 0)}---${service('web', '{selector: {app: web}, ports: [{port: 80}]}')}`
    expect(apply(newCluster(), yaml).problems).toEqual([])
  })
})

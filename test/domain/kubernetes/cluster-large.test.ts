import { describe, expect, it } from 'vitest'
import { applyObjects, scale, setPodCondition } from '../../../src-main/domain/kubernetes/cluster.ts'
import { changedServiceNames, diffClusters } from '../../../src-main/domain/kubernetes/diff-clusters.ts'
import {
  applied,
  deployment,
  items,
  later,
  newCluster,
  now,
  podAt,
  pods,
  service,
} from './cluster-fixture.ts'

const webDeployment = { kind: 'Deployment', namespace: 'default', name: 'web' } as const

describe('large clusters', () => {
  const many = Array.from({ length: 10_000 }, (_, index) =>
    service(`s${index}`, `{selector: {app: a${index}}, ports: [{port: 80}]}`),
  )
  const big = applyObjects(
    newCluster({ workers: 4 }),
    [...items(many.slice(0, 3000).join('---'), 'many.yaml'), ...items(deployment('web', 500))],
    now,
  ).cluster

  it('scale by 500 pods', () => {
    const empty = scale(big, webDeployment, 0, later).cluster
    expect(pods(scale(empty, webDeployment, 500, later).cluster)).toHaveLength(500)
  })

  it("work out one pod's change alone", () => {
    const one = applied(big, service('web', '{selector: {app: web}, ports: [{port: 80}]}'))
    const change = () => setPodCondition(one, podAt(one, 250).metadata, 'not-ready', later).cluster
    expect([...changedServiceNames(diffClusters(one, change()))]).toEqual(['default/web'])
  })
})

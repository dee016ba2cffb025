import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { defaultLoadBalancerPool } from '../../../src-main/domain/kubernetes/default-cluster.ts'
import { formatProblem } from '../../../src-main/domain/kubernetes/problem.ts'
import { apply, newCluster } from './cluster-fixture.ts'

const samples = new URL('../../../lab-scripts/manifests/', import.meta.url)

describe('the sample manifests', () => {
  it.each(readdirSync(samples).filter((name) => name.endsWith('.yaml')))(
    '%s can be applied to a lab',
    (name) => {
      const lab = newCluster({ loadBalancerPool: defaultLoadBalancerPool })
      const { problems } = apply(lab, readFileSync(new URL(name, samples), 'utf8'))
      expect(problems.filter(({ severity }) => severity === 'error').map(formatProblem)).toEqual([])
    },
  )
})

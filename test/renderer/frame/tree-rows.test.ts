import { describe, expect, it } from 'vitest'
import {
  buildTreeRows,
  isSelected,
  splitName,
  type TreeInput,
  treeStep,
} from '../../../src-renderer/frame/tree-rows.ts'
import { sampleLab } from '../sample-lab.ts'

const lab = sampleLab('http-server.yaml')
const input: TreeInput = { ...lab, folded: new Set(), filter: '' }
const rows = buildTreeRows(input)
const shape = (given: Partial<TreeInput>) =>
  buildTreeRows({ ...input, ...given }).map(({ level, kind, name }) => `${level} ${kind} ${name}`)

describe('rows of the tree', () => {
  it('shows pods under their nodes, then Services, then the client', () => {
    const [one, two, three] = lab.pods.map(({ metadata: { name } }) => name)
    expect(shape({})).toEqual([
      '1 section Nodes',
      '2 node control-plane',
      '2 node worker1',
      `3 pod ${one}`,
      '2 node worker2',
      `3 pod ${two}`,
      `3 pod ${three}`,
      '1 section Services',
      '2 service http-svc',
      '2 service http-svc-node-port',
      '1 section Outside',
      '2 client client',
    ])
  })

  it('keeps the rows of what is folded to itself', () => {
    expect(shape({ folded: new Set(['section/Nodes', 'section/Services']) })).toEqual([
      '1 section Nodes',
      '1 section Services',
      '1 section Outside',
      '2 client client',
    ])
    expect(shape({ folded: new Set(['node/worker2']) }).filter((row) => row.startsWith('3'))).toHaveLength(1)
  })

  it('filters by text, folded or not, and shows what the hits hang on', () => {
    const tail = lab.pods[0]?.metadata.name.slice(-5) ?? ''
    expect(shape({ filter: tail.toUpperCase(), folded: new Set(['node/worker1']) })).toEqual([
      '1 section Nodes',
      '2 node worker1',
      `3 pod ${lab.pods[0]?.metadata.name}`,
      '1 section Services',
      '1 section Outside',
    ])
  })

  it('sets pods without a node apart, and offers no terminal in them', () => {
    const waiting = lab.pods.map((pod, index) =>
      index > 0
        ? pod
        : { ...pod, spec: { ...pod.spec, nodeName: '' }, status: { ...pod.status, podIPs: [] } },
    )
    const [row] = buildTreeRows({ ...input, pods: waiting }).filter((each) => each.kind === 'pod')
    expect(shape({ pods: waiting })).toContain('1 section Without a node')
    const apart = buildTreeRows({ ...input, pods: waiting }).find(
      (each) => each.kind === 'pod' && each.state === 'pending',
    )
    expect(apart).toMatchObject({ level: 2 })
    expect(apart?.target).toBeUndefined()
    expect(row?.target).toBe(`pod/default/${row?.name}`)
  })

  it('shows its sections before there is a lab', () => {
    expect(shape({ status: undefined, pods: [], services: [] })).toEqual([
      '1 section Nodes',
      '1 section Services',
      '1 section Outside',
    ])
  })

  it('gives each row a key of its own', () => {
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
  })
})

describe('keys in the tree', () => {
  const step = (current: string, key: string) => {
    const taken = treeStep(rows, current, key)
    return taken?.do === 'go' ? taken.row.key : taken && `${taken.expanded ? 'open' : 'fold'} ${taken.key}`
  }

  it('goes up and down, and stops at the ends', () => {
    expect(step('section/Nodes', 'ArrowDown')).toBe('node/control-plane')
    expect(step('node/control-plane', 'ArrowUp')).toBe('section/Nodes')
    expect(step('client', 'ArrowDown')).toBeUndefined()
    expect(step('client', 'Home')).toBe('section/Nodes')
    expect(step('section/Nodes', 'End')).toBe('client')
  })

  it('starts at the top when the current row has gone', () => {
    expect(step('pod/default/gone', 'ArrowDown')).toBe('section/Nodes')
    expect(step('pod/default/gone', 'ArrowUp')).toBe('section/Nodes')
  })

  it('folds, opens, and goes to the row above in the tree', () => {
    const pod = `pod/default/${lab.pods[0]?.metadata.name}`
    expect(step('node/worker1', 'ArrowLeft')).toBe('fold node/worker1')
    expect(step(pod, 'ArrowLeft')).toBe('node/worker1')
    expect(step('node/worker1', 'ArrowRight')).toBe(pod)
    const folded = buildTreeRows({ ...input, folded: new Set(['node/worker1']) })
    expect(treeStep(folded, 'node/worker1', 'ArrowRight')).toEqual({
      do: 'fold',
      key: 'node/worker1',
      expanded: true,
    })
    expect(step(pod, 'ArrowRight')).toBeUndefined()
  })
})

describe('what is selected', () => {
  it('is one row', () => {
    const name = lab.pods[1]?.metadata.name ?? ''
    const selected = rows.filter((row) => isSelected(row, { kind: 'pod', namespace: 'default', name }))
    expect(selected.map((row) => row.name)).toEqual([name])
  })

  it('is none for a rule', () => {
    expect(rows.some((row) => isSelected(row, { kind: 'chain', table: 'nat', chain: 'INPUT' }))).toBe(false)
    expect(rows.some((row) => isSelected(row, undefined))).toBe(false)
  })
})

describe('long names', () => {
  it('keep the end that tells them apart', () => {
    expect(splitName('http-server-85cf58989b-hd5jl')).toEqual({
      head: 'http-server-85cf58989b-',
      tail: 'hd5jl',
    })
    expect(splitName('worker1')).toEqual({ head: 'worker1', tail: '' })
  })
})

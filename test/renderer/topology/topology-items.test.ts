import { expect, test } from 'vitest'
import { listItems } from '../../../src-renderer/topology/topology-items.ts'
import { assignSlots, layoutTopology, NO_SLOTS } from '../../../src-renderer/topology/topology-layout.ts'
import { buildTopology, cablesOf } from '../../../src-renderer/topology/topology-model.ts'
import { linksOf, manyPods } from './sample-cluster.ts'

test('every host, bridge and cable of the picture can be picked, the client’s cable too', () => {
  const pods = manyPods(4)
  const model = buildTopology(linksOf(pods), pods, ['control-plane', 'worker1', 'worker2'])
  const layout = layoutTopology(model, assignSlots(model, NO_SLOTS), { width: 1100, height: 620, type: 11 })
  const items = listItems(layout, model)
  const wanted = [
    'client',
    ...cablesOf(model).map(({ id }) => id),
    ...model.nodes.flatMap(({ name, bridge, pods: own }) => [
      `node/${name}`,
      ...(bridge ? [bridge.id] : []),
      ...own.map(({ id }) => id),
    ]),
    ...(model.switch ? [model.switch.id] : []),
  ]
  expect(cablesOf(model).length).toBe(1 + 3 + 4)
  expect([...items.keys()].sort()).toEqual(wanted.sort())
  for (const [id, { selection }] of items) if (selection.kind === 'link') expect(selection.id).toBe(id)
})

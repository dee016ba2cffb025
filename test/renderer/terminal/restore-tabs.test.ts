import { describe, expect, it } from 'vitest'
import {
  parseRememberedTabs,
  planFreshTabs,
  planOthersTabs,
  planReconnectedTabs,
} from '../../../src-renderer/terminal/restore-tabs.ts'

const alive = (stream: number, target: string) => ({ stream, target, hostname: target })

describe('terminals of a new window', () => {
  it('are the running ones, as remembered, then the others', () => {
    const remembered = {
      tabs: [
        { stream: 3, target: 'client' },
        { stream: 1, target: 'node/worker1' },
      ],
      shown: [0],
      focused: 0,
    }
    expect(
      planFreshTabs(remembered, [
        alive(1, 'node/worker1'),
        alive(2, 'pod/default/a'),
        alive(3, 'client'),
      ]).map(({ stream }) => stream),
    ).toEqual([3, 1, 2])
  })

  it('take nothing from an earlier lab whose numbers happen to be the same', () => {
    const remembered = { tabs: [{ stream: 1, target: 'client' }], shown: [0], focused: 0 }
    expect(planFreshTabs(remembered, [alive(1, 'node/worker1')])).toEqual([
      { stream: 1, target: 'node/worker1' },
    ])
  })

  it('are one in the client where nothing runs', () => {
    expect(planFreshTabs(undefined, [])).toEqual([{ target: 'client', stream: undefined }])
  })
})

describe('terminals after a lost connection', () => {
  it('come back where they run, else as new ones', () => {
    const tabs = [
      { target: 'client', stream: 1 },
      { target: 'node/worker1', stream: 2 },
      { target: 'client', stream: undefined },
    ]
    expect(
      planReconnectedTabs(tabs, [alive(1, 'client'), alive(2, 'client')]).map(({ attach }) => attach),
    ).toEqual([true, false, false])
  })
})

describe('what was remembered', () => {
  it('is taken only when it has our shape', () => {
    const good = { tabs: [{ stream: 1, target: 'client' }], shown: [0], focused: 0 }
    expect(parseRememberedTabs(JSON.parse(JSON.stringify(good)))).toEqual(good)
    for (const bad of [undefined, null, 3, 'x', [], {}, { ...good, tabs: [1] }, { ...good, focused: 'x' }])
      expect(parseRememberedTabs(bad)).toBeUndefined()
  })
})

describe('terminals that another window opens', () => {
  it('are those that are not here, but for the ones that were closed here and have not ended yet', () => {
    const here = [
      { stream: 1, target: 'client' },
      { stream: undefined, target: 'client' },
    ]
    const running = [alive(1, 'client'), alive(2, 'node/worker1'), alive(3, 'pod/default/a')]
    expect(planOthersTabs(here, running, new Set([2]))).toEqual([{ stream: 3, target: 'pod/default/a' }])
  })
})

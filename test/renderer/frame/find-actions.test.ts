import { describe, expect, it } from 'vitest'
import { findActions, groupActions, namedFirst } from '../../../src-renderer/frame/find-actions.ts'

const action = (group: string, name: string, hidden = false) => ({ group, name, hidden })
const ACTIONS = [
  action('View', 'Path'),
  action('Terminal', 'New terminal in node worker1'),
  action('Terminal', 'New terminal in node worker2'),
  action('Node', 'Show node worker1'),
  action('Window', 'Projector mode'),
  action('Pod', 'Make pod web-1 not ready', true),
]
const names = (query: string) => findActions(ACTIONS, query).map(({ name }) => name)

describe('finding actions', () => {
  it('offers all without a query, less those that are too many', () => {
    expect(names('')).toEqual(ACTIONS.filter(({ hidden }) => !hidden).map(({ name }) => name))
    expect(names('not ready')).toEqual(['Make pod web-1 not ready'])
  })

  it('needs every word, in any order', () => {
    expect(names('worker2 term')).toEqual(['New terminal in node worker2'])
    expect(names('worker2 projector')).toEqual([])
  })

  it('puts names that begin with the word first, then words, then the middle of words', () => {
    const found = findActions(
      [action('x', 'Empathy'), action('x', 'Show path'), action('x', 'Path'), action('Path', 'Other')],
      'pat',
    )
    expect(found.map(({ name }) => name)).toEqual(['Path', 'Show path', 'Empathy', 'Other'])
  })

  it('never shows more than a screen or two of them', () => {
    const many = Array.from({ length: 3000 }, (_, index) => action('Pod', `Delete pod web-${index}`, true))
    expect(findActions(many, 'pod').length).toBeLessThanOrEqual(60)
    expect(findActions(many, 'web-2999')).toHaveLength(1)
  })

  it('groups in the order of the best action', () => {
    const found = findActions([action('A', 'Show path'), action('B', 'Path'), action('A', 'Empathy')], 'pat')
    expect(groupActions(found).map(({ title, actions }) => [title, actions.length])).toEqual([
      ['B', 1],
      ['A', 2],
    ])
  })
})

it('puts those that the query names before the others, which keep their order', () => {
  const values = ['cart', 'web-2', 'web-1', 'db']
  const same = (value: string): string => value
  expect(namedFirst(values, same, 'trace WEB db')).toEqual(['web-2', 'web-1', 'db', 'cart'])
  expect(namedFirst(values, same, '')).toEqual(values)
})

import { expect, test } from 'vitest'
import { formatRow } from '../../../src-main/domain/iptables/format-listing.ts'
import { readMatches } from '../../../src-renderer/rules/rule-matches.ts'
import {
  highlight,
  listingSegments,
  type Segment,
  saveSegments,
} from '../../../src-renderer/rules/segments.ts'
import { goldens, modelOf } from './goldens.ts'

const textOf = (segments: readonly Segment[]): string => segments.map(({ text }) => text).join('')

test.each(goldens)('the pieces of each line of %s are the line', (_, text) => {
  for (const table of modelOf(text).tables)
    for (let rule = 0; rule < table.ruleCount; rule += 1) {
      const read = table.read(rule)
      const number = table.numberOf(rule)
      const jump = table.jumpOf(rule)
      const chain = table.chains[table.chainOf(rule)] ?? ''
      const listed = listingSegments(read, number, jump)
      expect(textOf(listed)).toBe(formatRow(read, number, { lineNumbers: true }))
      const saved = saveSegments(chain, read.text, jump)
      expect(textOf(saved)).toBe(`-A ${chain} ${read.text}`)
      const links = (segments: readonly Segment[]) =>
        segments.filter(({ kind }) => kind === 'chain').map((segment) => segment.text)
      expect(links(listed)).toEqual(jump === undefined ? [] : [jump])
      expect(links(saved)).toEqual(jump === undefined ? [] : [jump])
      for (const query of ['kube', '10.2', ' -']) {
        expect(textOf(highlight(listed, query))).toBe(textOf(listed))
        expect(textOf(highlight(saved, query))).toBe(textOf(saved))
      }
    }
})

test('large counters and numbers keep the columns of the tool', () => {
  const rule = { text: '-j ACCEPT', counters: { packets: 123_456_789n, bytes: 99_999_999_999n } }
  for (const number of [1, 99_999, 1_000_000]) {
    const segments = listingSegments(rule, number, undefined)
    expect(textOf(segments)).toBe(formatRow(rule, number, { lineNumbers: true }))
    expect(segments.find(({ kind }) => kind === 'target')?.text).toBe('ACCEPT')
  }
})

test('a rule without target and without words', () => {
  const rule = { text: '', counters: { packets: 0n, bytes: 0n } }
  expect(textOf(listingSegments(rule, 1, undefined))).toBe(formatRow(rule, 1, { lineNumbers: true }))
  expect(textOf(saveSegments('INPUT', '', undefined))).toBe('-A INPUT')
})

test('a hit may reach over pieces', () => {
  const segments: Segment[] = [
    { kind: 'option', text: '-j ' },
    { kind: 'target', text: 'DROP' },
  ]
  expect(highlight(segments, 'J DR')).toEqual([
    { kind: 'option', text: '-' },
    { kind: 'option', text: 'j ', isHit: true },
    { kind: 'target', text: 'DR', isHit: true },
    { kind: 'target', text: 'OP' },
  ])
})

test('a comment that looks like a jump is a comment', () => {
  const segments = saveSegments('INPUT', '-m comment --comment "go -j DROP now" -j ACCEPT', undefined)
  expect(segments.filter(({ kind }) => kind === 'comment').map(({ text }) => text)).toEqual([
    '"go -j DROP now"',
  ])
  expect(segments.filter(({ kind }) => kind === 'target').map(({ text }) => text)).toEqual(['ACCEPT'])
})

test('matches one by one, each with its meaning', () => {
  const matches = readMatches(
    '! -s 10.244.0.0/16 -d 10.107.38.142/32 -p tcp -m comment --comment "default/http-svc cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ',
  )
  expect(matches.map(({ written, parts }) => [written, textOf(parts as never)])).toEqual([
    ['! -s 10.244.0.0/16', 'Packets that do not come from 10.244.0.0/16'],
    ['-d 10.107.38.142/32', 'Packets to 10.107.38.142'],
    ['-p tcp', 'TCP packets'],
    ['-m tcp --dport 80', 'Packets to port 80'],
  ])
})

import { expect, test } from 'vitest'
import { ChainPicture } from '../../../src-renderer/path/chain-picture.ts'
import { goldenText } from './golden-index.ts'

const NO_ORIGINS = { origins: {}, handMade: [], missing: [] }
const ALL = { text: '', expanded: new Set<string>() }

test('draws the rules that were read last; a text that is none is refused and changes nothing', () => {
  const picture = new ChainPicture()
  expect(picture.draw(ALL)).toBeUndefined()
  expect(picture.read(goldenText('006-multi-port'), NO_ORIGINS)).toBeUndefined()
  const drawn = picture.draw(ALL)
  expect(drawn?.cards.length).toBeGreaterThan(2)
  expect(picture.read('*nat\n:A\nCOMMIT\n', NO_ORIGINS)).toMatch(/./)
  expect(picture.draw(ALL)).toEqual(drawn)
})

test('its answers can be handed from a worker to the page', () => {
  const picture = new ChainPicture()
  picture.read(goldenText('006-multi-port'), NO_ORIGINS)
  const drawn = picture.draw(ALL)
  expect(structuredClone(drawn)).toEqual(drawn)
})

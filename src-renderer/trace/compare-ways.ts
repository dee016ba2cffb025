import { type Hop, hopPlace, type Journey } from '../../src-main/domain/trace/journey.ts'
import {
  isInEmptyChain,
  type PredictedWay,
  type Prediction,
} from '../../src-main/domain/trace/predict-ways.ts'
import { compareWalk } from '../../src-main/domain/trace/walk-compare.ts'
import type { WalkPath } from '../../src-main/domain/trace/walk-path.ts'
import { hopVerdict } from './hop-words.ts'

/** How a prediction fared. */
export interface WayComparison {
  /** The predicted way that the packet followed for longest. */
  readonly way: PredictedWay
  readonly isSame: boolean
  /** The first step that is another one than predicted; undefined where none is. */
  readonly partsAt: number | undefined
  readonly sentence: string
}

/** Compares with the first packet of a connection; undefined for packets that no prediction was made for. */
export function compareWays({ ways, emptyChains }: Prediction, journey: Journey): WayComparison | undefined {
  if (journey.direction !== 'request' || journey.kind !== 'first') return undefined
  const byPath = new Map<WalkPath, PredictedWay>()
  for (const way of ways) byPath.set(pathOf(way), way)
  const traced = journey.hops.filter((hop) => !isInEmptyChain(hop, emptyChains))
  const comparison = compareWalk({ paths: [...byPath.keys()] }, traced)
  const way = comparison && byPath.get(comparison.path)
  if (!comparison || !way) return undefined
  const { isSame, parting } = comparison
  if (isSame) {
    const chance = way.chance === 1 ? 'the only way there was' : `one that had the chance ${way.chanceText}`
    return { way, isSame, partsAt: undefined, sentence: `The packet went as predicted, ${chance}.` }
  }
  const other = traced[parting?.at ?? 0]
  const at = other ? journey.hops.indexOf(other) : journey.hops.length
  const walked = parting?.walked ? hopWords(parting.walked) : 'the end'
  const came = other ? hopWords(other) : 'nothing more'
  return {
    way,
    isSame,
    partsAt: at,
    sentence: `At step ${at + 1} the packet went another way: ${walked} was predicted, ${came} came.`,
  }
}

const hopWords = (hop: Hop): string => `${hopPlace(hop)} ${hopVerdict(hop)} on ${hop.node}`

const pathOf = ({ steps, journey, choices, isConditional, chance, chanceText }: PredictedWay): WalkPath => ({
  steps,
  choices,
  isConditional,
  chance: { value: chance, text: chanceText },
  outcome: { kind: 'delivered' },
  packet: journey.hops.at(-1)?.packet ?? NO_PACKET,
})

const NO_PACKET = { src: '', dst: '', sport: 0, dport: 0, in: '', out: '', mark: 0 } as const

import { parseSave } from '../../src-main/domain/iptables/parse-save.ts'
import { buildChainGraph, type ChainGraph, type GraphWish } from './chain-graph.ts'
import { ChainIndex, type PictureRules } from './chain-index.ts'

/** A node's rules, ready for any picture of their chains. */
export class ChainPicture {
  #index: ChainIndex | undefined

  /** Says what is wrong with a text that is no rule set; then the last one stays. */
  read(text: string, rules: PictureRules): string | undefined {
    const { ruleSet, problems } = parseSave(text)
    if (!ruleSet) return problems[0]?.message ?? 'this is no rule set'
    this.#index = new ChainIndex(ruleSet, rules)
    return undefined
  }

  draw(wish: GraphWish): ChainGraph | undefined {
    return this.#index && buildChainGraph(this.#index, wish)
  }
}

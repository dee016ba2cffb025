import type { LabConnection } from '../../src-main/contract/rpc.ts'
import { messageOf } from '../frame/message-of.ts'
import { perLab } from '../per-lab.svelte.ts'
import { Baseline } from './delta.ts'
import { RuleEngine } from './rule-engine.ts'
import { RulesModel } from './rules-model.ts'

/** The rules of the shown node, read once for the view and the inspector. */
export class RulesStore {
  model = $state.raw<RulesModel | undefined>()
  isLoading = $state(false)
  /** Why the rules could not be read the last time. */
  problem = $state<string | undefined>()
  baseline = $state.raw<Baseline | undefined>()
  readonly engine = new RuleEngine()
  #wanted = ''
  #connection: LabConnection | undefined
  #running = false

  /** Reads the target's rules unless that version of them has been read or asked for. */
  want(connection: LabConnection | undefined, target: string, version: number): void {
    if (!connection) return
    const wanted = `${target} ${version}`
    if (this.#connection === connection && this.#wanted === wanted) return
    if (this.model && this.model.target !== target) {
      this.model = undefined
      this.baseline = undefined
    }
    this.#connection = connection
    this.#wanted = wanted
    void this.#read(target)
  }

  /** Reads again, as after a change that this window made. */
  async reload(target: string): Promise<void> {
    if (!this.#connection) return
    this.#wanted = `${this.#wanted} again`
    await this.#read(target)
  }

  /** Takes the counters of this moment as what later ones are told against. */
  async mark(target: string): Promise<void> {
    await this.reload(target)
    if (this.model) this.baseline = new Baseline(this.model)
  }

  unmark(): void {
    this.baseline = undefined
  }

  async #read(target: string): Promise<void> {
    if (this.#running) return // the reading that runs sees the new wish when it is through
    this.#running = true
    this.isLoading = true
    try {
      let wanted = ''
      let next = target
      while (wanted !== this.#wanted && this.#connection) {
        wanted = this.#wanted
        next = wanted.split(' ')[0] ?? next
        const rules = await this.#connection.request('rules/read', { target: next })
        const index = await this.engine.index(rules.text)
        if (this.#wanted.split(' ')[0] === next) this.model = new RulesModel(rules, index)
      }
      this.problem = undefined
    } catch (error) {
      this.problem = messageOf(error)
      this.#wanted = ''
    } finally {
      this.#running = false
      this.isLoading = false
    }
  }
}

export const rulesStoreOf = perLab(() => new RulesStore())

import { ownValue } from '../own-value.ts'
import { MATCH_OF_PROTOCOL, MATCH_OPTIONS, type OptionArity, TARGET_OPTIONS } from './rule-options.ts'
import type { Rule } from './rule-set.ts'
import { splitWords, type Word } from './rule-words.ts'

/** A value that the rule may ask for or ask to differ from (`! -s …`). */
export interface Condition {
  readonly value: string
  readonly negated: boolean
}

export interface Option {
  /** With its dashes, as written: `--dport`. */
  readonly name: string
  readonly negated: boolean
  /** As many as the option takes: none for `--random`, two for `--tcp-flags`. */
  readonly values: readonly string[]
}

export interface MatchSpec {
  readonly name: string
  readonly options: readonly Option[]
}

export interface TargetSpec {
  /** A verdict, an extension or a user-defined chain. */
  readonly name: string
  /** `-g`: a RETURN in that chain goes back past this rule's chain. */
  readonly goto: boolean
  readonly options: readonly Option[]
}

/** A rule's words put in their places. What has no place stands in `unknown`, so nothing is lost silently. */
export interface RuleSpec {
  readonly source?: Condition
  readonly destination?: Condition
  readonly protocol?: Condition
  /** May end with `+`, which stands for any ending. */
  readonly inInterface?: Condition
  readonly outInterface?: Condition
  /** `-f`: second and further fragments only; negated: heads and whole packets only. */
  readonly fragment?: { readonly negated: boolean }
  /** In the order of the text; implied ones (`-p tcp --dport`) where their first option stood. */
  readonly matches: readonly MatchSpec[]
  readonly target?: TargetSpec
  readonly unknown: readonly string[]
  /** E.g. an option without its value. */
  readonly problems: readonly string[]
}

type ConditionField = 'source' | 'destination' | 'protocol' | 'inInterface' | 'outInterface'

const CONDITIONS: Readonly<Record<string, ConditionField>> = {
  '-s': 'source',
  '--source': 'source',
  '--src': 'source',
  '-d': 'destination',
  '--destination': 'destination',
  '--dst': 'destination',
  '-p': 'protocol',
  '--protocol': 'protocol',
  '--proto': 'protocol',
  '-i': 'inInterface',
  '--in-interface': 'inInterface',
  '-o': 'outInterface',
  '--out-interface': 'outInterface',
}

/** Reads the words of a save or restore rule. Never throws: what it cannot place it hands on. */
export function readRule(rule: Pick<Rule, 'text'>): RuleSpec {
  const reader = new RuleReader(splitWords(rule.text).words)
  return reader.read()
}

/** The chain, verdict or extension after `-j` or `-g`; undefined for a rule that only counts or sets. */
export function targetOf(rule: Pick<Rule, 'text'>): { name: string; goto: boolean } | undefined {
  // The usual rule ends with its target: looking at the end alone keeps 100,000 rules quick. A text that ends
  // outside quotes has no quote between `-j` and the end, so these words are never part of a comment.
  const plain = /(?:^| )-([jg]) ([^\s"]+)$/.exec(rule.text)
  if (plain?.[2]) return { name: plain[2], goto: plain[1] === 'g' }
  const { target } = readRule(rule)
  return target && { name: target.name, goto: target.goto }
}

/** The value of the last comment, which is the one for people where a tool writes two; undefined without any. */
export function commentOf(rule: Pick<Rule, 'text'>): string | undefined {
  if (!rule.text.includes('comment')) return undefined
  return readRule(rule)
    .matches.filter((match) => match.name === 'comment')
    .at(-1)?.options[0]?.values[0]
}

/** The option of that name, of a match or target. */
export function optionOf(owner: { readonly options: readonly Option[] }, name: string): Option | undefined {
  return owner.options.find((option) => option.name === name)
}

interface OpenModule {
  readonly name: string
  readonly known: Readonly<Record<string, OptionArity>> | undefined
  readonly options: Option[]
}

class RuleReader {
  readonly #words: readonly Word[]
  readonly #conditions: Partial<Record<ConditionField, Condition>> = {}
  readonly #matches: OpenModule[] = []
  readonly #unknown: string[] = []
  readonly #problems: string[] = []
  #target: (OpenModule & { readonly goto: boolean }) | undefined
  #fragment: { negated: boolean } | undefined
  /** The module named last: an option that nobody is known to own is its. */
  #current: OpenModule | undefined
  #at = 0

  constructor(words: readonly Word[]) {
    this.#words = words
  }

  read(): RuleSpec {
    while (this.#at < this.#words.length) this.#readNext()
    const close = ({ name, options }: OpenModule): MatchSpec => ({ name, options })
    return {
      ...this.#conditions,
      ...(this.#fragment ? { fragment: this.#fragment } : {}),
      matches: this.#matches.map(close),
      ...(this.#target ? { target: { ...close(this.#target), goto: this.#target.goto } } : {}),
      unknown: this.#unknown,
      problems: this.#problems,
    }
  }

  #readNext(): void {
    let negated = false
    if (this.#isBang()) {
      negated = true
      this.#at++
    }
    const word = this.#words[this.#at]
    if (!word) {
      this.#problems.push('"!" stands at the end with nothing to negate')
      return
    }
    this.#at++
    const name = word.value
    // `-m policy` has a --proto of its own.
    const isPolicyOption = name === '--proto' && this.#current?.name === 'policy'
    const condition = word.quoted || isPolicyOption ? undefined : ownValue(CONDITIONS, name)
    if (condition) this.#readCondition(condition, name, negated)
    else if (!word.quoted && (name === '-m' || name === '--match')) this.#openMatch(name)
    else if (!word.quoted && ['-j', '--jump', '-g', '--goto'].includes(name)) this.#openTarget(name)
    else if (!word.quoted && (name === '-f' || name === '--fragment')) this.#fragment = { negated }
    else if (isOptionWord(word)) this.#readOption(name, negated)
    else this.#unknown.push(...(negated ? ['!', name] : [name]))
  }

  #readCondition(field: ConditionField, name: string, negated: boolean): void {
    // Before iptables 1.4.3 the sign stood behind the option: -s ! 10.0.0.0/8.
    const late = !negated && this.#isBang() && this.#words[this.#at + 1] !== undefined
    if (late) this.#at++
    const value = this.#readValue(name)
    if (value !== undefined) this.#conditions[field] = { value, negated: negated || late }
  }

  #openMatch(name: string): void {
    const match = this.#readValue(name)
    if (match === undefined) return
    const module = { name: match, known: ownValue(MATCH_OPTIONS, match), options: [] }
    this.#matches.push(module)
    this.#current = module
  }

  #openTarget(word: string): void {
    const name = this.#readValue(word)
    if (name === undefined) return
    this.#target = {
      name,
      goto: word === '-g' || word === '--goto',
      known: ownValue(TARGET_OPTIONS, name),
      options: [],
    }
    this.#current = this.#target
  }

  /** Undefined, with a problem, where the next word is an option or there is none. */
  #readValue(option: string): string | undefined {
    const word = this.#words[this.#at]
    if (!word || (isOptionWord(word) && !word.quoted)) {
      this.#problems.push(`${option} has no value`)
      return undefined
    }
    this.#at++
    return word.value
  }

  #readOption(name: string, negated: boolean): void {
    const owner = this.#ownerOf(name)
    if (!owner) {
      this.#unknown.push(...(negated ? ['!', name] : [name]), ...this.#readLooseValues())
      return
    }
    const arity = owner.known?.[name]
    const next = this.#words[this.#at + 1]
    const late = !negated && arity !== undefined && arity > 0 && this.#isBang() && !isOptionWord(next)
    if (late && next) this.#at++
    const isNegated = negated || late
    const values = arity === undefined ? this.#readLooseValues() : this.#readValues(name, arity)
    owner.options.push({ name, negated: isNegated, values })
  }

  #ownerOf(name: string): OpenModule | undefined {
    const loaded = this.#target ? [...this.#matches, this.#target] : this.#matches
    const known = loaded.findLast((module) => module.known && Object.hasOwn(module.known, name))
    if (known) return known
    const { protocol } = this.#conditions
    const implied = protocol && !protocol.negated ? ownValue(MATCH_OF_PROTOCOL, protocol.value) : undefined
    const options = implied === undefined ? undefined : MATCH_OPTIONS[implied]
    if (implied === undefined || !options || !Object.hasOwn(options, name)) return this.#current
    const module = { name: implied, known: options, options: [] }
    this.#matches.push(module)
    return module
  }

  /** Known numbers of words: a comment may well look like an option. */
  #readValues(name: string, count: number): string[] {
    const values = this.#words.slice(this.#at, this.#at + count).map((word) => word.value)
    this.#at += values.length
    if (values.length < count) this.#problems.push(`${name} has no value`)
    return values
  }

  #readLooseValues(): string[] {
    const values: string[] = []
    for (;;) {
      const word = this.#words[this.#at]
      const beforeOption = this.#isBang() && isOptionWord(this.#words[this.#at + 1])
      if (!word || isOptionWord(word) || beforeOption) return values
      values.push(word.value)
      this.#at++
    }
  }

  #isBang(): boolean {
    const word = this.#words[this.#at]
    return word !== undefined && !word.quoted && word.value === '!'
  }
}

function isOptionWord(word: Word | undefined): boolean {
  return word !== undefined && !word.quoted && /^-(-[a-zA-Z]|[a-zA-Z]$)/.test(word.value)
}

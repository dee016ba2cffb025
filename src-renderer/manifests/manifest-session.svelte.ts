import type { ApplyResult, ManifestFile, ObjectChange } from '../../src-main/contract/lab-contract.ts'
import type { Problem } from '../../src-main/domain/kubernetes/problem.ts'
import { messageOf } from '../frame/message-of.ts'
import { readPreference, writePreference } from '../frame/preferences.ts'
import type { LabState } from '../lab-state.svelte.ts'
import { perLab } from '../per-lab.svelte.ts'
import { checkManifest, type ManifestCheck, mergeProblems, problemsOf } from './check-manifest.ts'
import { buildPreview, type RulePreview } from './preview-model.ts'

export type Verb = 'apply' | 'delete'

/** What the lab answered, to a question or to a deed. */
export interface Answer {
  readonly verb: Verb
  /** Only asked what would be. */
  readonly isPreview: boolean
  /** The manifest that it was about. */
  readonly text: string
  readonly changes: readonly ObjectChange[]
  readonly rules: RulePreview
}

export type Busy = 'preview' | 'apply' | 'delete' | 'read'

const CHECK_AFTER_MS = 250
const SAVE_AFTER_MS = 400
const TEXT = 'manifests.text'
const NAME = 'manifests.name'
const NEW_NAME = 'manifest.yaml'

/** The manifest that is being written, what is wrong with it, and what the lab says to it. */
export class ManifestSession {
  text = $state('')
  fileName = $state(NEW_NAME)
  check = $state.raw<ManifestCheck>({ objects: 0, problems: [] })
  answer = $state.raw<Answer | undefined>()
  busy = $state<Busy | undefined>()
  /** What went wrong otherwise than by a problem in the manifest. */
  failure = $state<string | undefined>()
  /** Something to know, of no consequence. */
  note = $state<string | undefined>()
  #refused = $state.raw<{ readonly text: string; readonly problems: readonly Problem[] }>({
    text: '',
    problems: [],
  })

  /** Of the page's own reading and of the lab's, as long as it is about this text. */
  readonly problems = $derived(
    mergeProblems(this.check.problems, this.#refused.text === this.text ? this.#refused.problems : []),
  )
  readonly hasErrors = $derived(this.problems.some(({ severity }) => severity === 'error'))
  readonly isEmpty = $derived(this.text.trim() === '')
  /** The answer is about an earlier text. */
  readonly isStale = $derived(this.answer !== undefined && this.answer.text !== this.text)

  readonly #lab: LabState
  #checking: ReturnType<typeof setTimeout> | undefined
  #saving: ReturnType<typeof setTimeout> | undefined

  constructor(lab: LabState) {
    this.#lab = lab
    const text = readPreference(TEXT)
    const name = readPreference(NAME)
    if (typeof text === 'string') this.text = text
    if (typeof name === 'string' && name !== '') this.fileName = name
    this.check = checkManifest(this.fileName, this.text)
  }

  /** Every key that is typed. */
  edit(text: string): void {
    if (text === this.text) return
    this.text = text
    this.note = undefined
    this.failure = undefined
    clearTimeout(this.#checking)
    this.#checking = setTimeout(() => this.#checkNow(), CHECK_AFTER_MS)
    clearTimeout(this.#saving)
    this.#saving = setTimeout(() => this.keep(), SAVE_AFTER_MS)
  }

  /** Another manifest in the place of this one. */
  load(fileName: string, text: string): void {
    const hadText = !this.isEmpty && this.text !== text
    this.edit(text)
    this.fileName = fileName
    this.answer = undefined
    this.note = hadText ? 'Ctrl+Z in the editor brings the earlier text back' : undefined
    this.#checkNow()
    this.keep()
  }

  /** Writes down what the next visit starts with. */
  keep(): void {
    clearTimeout(this.#saving)
    writePreference(TEXT, this.text)
    writePreference(NAME, this.fileName)
  }

  async preview(verb: Verb = 'apply'): Promise<void> {
    await this.#ask(verb, true)
  }

  async apply(): Promise<void> {
    await this.#ask('apply', false)
  }

  async delete(): Promise<void> {
    await this.#ask('delete', false)
  }

  /** What a person would write to have what the lab has now. */
  async readLab(): Promise<void> {
    await this.#work('read', async (connection) => {
      const { text, found } = await connection.request('objects/print', {
        kinds: ['deployment', 'service'],
        format: 'yaml',
      })
      if (found) this.load('lab.yaml', text)
      else this.note = 'The lab has no Deployments and no Services'
    })
  }

  dismiss(): void {
    this.answer = undefined
    this.failure = undefined
  }

  async #ask(verb: Verb, isPreview: boolean): Promise<void> {
    this.#checkNow()
    if (this.isEmpty || (this.hasErrors && verb === 'apply')) return
    const { text } = this
    const manifests: ManifestFile[] = [{ file: this.fileName, text }]
    await this.#work(isPreview ? 'preview' : verb, async (connection) => {
      const params = { manifests, dryRun: isPreview, diff: true }
      const result: ApplyResult =
        verb === 'apply'
          ? await connection.request('objects/apply', params)
          : await connection.request('objects/delete', params)
      this.#refused = { text, problems: result.problems }
      this.answer = {
        verb,
        isPreview,
        text,
        changes: result.changes,
        rules: buildPreview(result.diff ?? []),
      }
    }).catch((error: unknown) => {
      const problems = problemsOf(error)
      this.answer = undefined
      if (problems.length > 0) this.#refused = { text, problems }
      else this.failure = messageOf(error)
    })
  }

  async #work(
    busy: Busy,
    work: (connection: NonNullable<LabState['connection']>) => Promise<void>,
  ): Promise<void> {
    if (this.busy) return
    const { connection } = this.#lab
    if (!connection) {
      this.failure = 'There is no lab to ask: the connection is lost'
      return
    }
    this.busy = busy
    this.failure = undefined
    this.note = undefined
    try {
      await work(connection)
    } catch (error) {
      if (busy !== 'read') throw error
      this.failure = messageOf(error)
    } finally {
      this.busy = undefined
    }
  }

  #checkNow(): void {
    clearTimeout(this.#checking)
    this.check = checkManifest(this.fileName, this.text)
  }
}

/** The window's one session: it outlives the view. */
export const manifestSession = perLab((lab) => new ManifestSession(lab))

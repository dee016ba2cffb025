import type { ApplyResult, ObjectRef } from '../../../contract/lab-contract.ts'
import { formatProblem } from '../../../domain/kubernetes/problem.ts'
import { parseKinds, resourceNames } from '../../../domain/kubernetes/resource-names.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { withLab } from '../lab-client.ts'
import { withProgress } from '../progress.ts'
import { readManifests } from '../read-manifests.ts'

interface LabOptions {
  readonly name: string
}

interface ChangeOptions extends LabOptions {
  readonly file?: readonly string[]
  readonly diff?: boolean
  readonly dryRun?: boolean
}

export async function apply(options: ChangeOptions): Promise<void> {
  const manifests = readManifests(options.file ?? [])
  const result = await withLab(options.name, (lab) =>
    withProgress('applying', (progress) => {
      lab.on('lab/progress', ({ text, done, total }) => progress.update(`${text} (${done} of ${total})`))
      return lab.request('objects/apply', { manifests, ...changeWish(options) })
    }),
  )
  printChange(result, options.dryRun === true)
}

export async function remove(
  kind: string | undefined,
  names: readonly string[],
  options: ChangeOptions & { namespace: string },
): Promise<void> {
  const refs = kind === undefined ? [] : parseRefs(kind, names, options.namespace)
  if (refs.length === 0 && !options.file)
    throw new CommandFailure(EXIT.usage, 'name what to delete: KIND NAME, KIND/NAME or -f FILE')
  const manifests = readManifests(options.file ?? [])
  const result = await withLab(options.name, (lab) =>
    lab.request('objects/delete', { refs, manifests, ...changeWish(options) }),
  )
  printChange(result, options.dryRun === true)
}

export async function scale(
  target: string,
  name: string | undefined,
  options: LabOptions & { replicas: string; namespace: string },
): Promise<void> {
  const [ref] = parseRefs(target, name === undefined ? [] : [name], options.namespace)
  if (!ref) throw new CommandFailure(EXIT.usage, 'name what to scale: deployment/NAME')
  if (!/^\d+$/.test(options.replicas))
    throw new CommandFailure(EXIT.usage, `--replicas ${options.replicas}: must be a number, 0 or more`)
  const result = await withLab(options.name, (lab) =>
    lab.request('objects/scale', { ref, replicas: Number(options.replicas) }),
  )
  printChange(result, false)
}

const CONDITIONS = ['ready', 'not-ready', 'terminating', 'deleted'] as const

export async function setPodCondition(
  name: string,
  word: string,
  options: LabOptions & { namespace: string },
): Promise<void> {
  const condition = CONDITIONS.find((known) => known === word)
  if (!condition) throw new CommandFailure(EXIT.usage, `${word}: must be one of ${CONDITIONS.join(', ')}`)
  const result = await withLab(options.name, (lab) =>
    lab.request('pods/set-condition', {
      namespace: options.namespace,
      name: name.replace(/^pod\//, ''),
      condition,
    }),
  )
  printChange(result, false)
}

interface GetOptions extends LabOptions {
  readonly namespace: string
  readonly allNamespaces?: boolean
  readonly output?: 'wide' | 'json' | 'yaml'
}

export async function get(words: string, name: string | undefined, options: GetOptions): Promise<void> {
  const slash = words.indexOf('/')
  const kinds = (slash < 0 ? words : words.slice(0, slash)).split(',')
  const wanted = slash < 0 ? name : words.slice(slash + 1)
  for (const kind of kinds)
    if (!parseKinds(kind))
      throw new CommandFailure(
        EXIT.usage,
        `the lab has no kind "${kind}"; it knows ${Object.values(resourceNames)
          .map(({ prefix }) => prefix.split('.')[0])
          .join(', ')}`,
      )
  const { text, found } = await withLab(options.name, (lab) =>
    lab.request('objects/print', {
      kinds,
      format: options.output ?? 'table',
      ...(options.allNamespaces ? {} : { namespace: options.namespace }),
      ...(wanted === undefined ? {} : { name: wanted }),
    }),
  )
  const out = found ? process.stdout : process.stderr
  out.write(text)
}

function parseRefs(kind: string, names: readonly string[], namespace: string): ObjectRef[] {
  const words = kind.includes('/') ? [kind, ...names] : names.map((name) => `${kind}/${name}`)
  return words.map((word) => {
    const [of = '', name = ''] = word.split('/')
    if (!parseKinds(of)) throw new CommandFailure(EXIT.usage, `the lab has no kind "${of}"`)
    return { kind: of, namespace, name }
  })
}

function changeWish({ diff, dryRun }: ChangeOptions): { diff?: boolean; dryRun?: boolean } {
  return { ...(diff ? { diff } : {}), ...(dryRun ? { dryRun } : {}) }
}

function printChange({ changes, problems, diff }: ApplyResult, dryRun: boolean): void {
  for (const problem of problems) console.error(`warning: ${formatProblem(problem)}`)
  for (const { kind, name, verb } of changes) {
    const [of = 'Pod'] = parseKinds(kind) ?? []
    console.log(`${resourceNames[of].prefix}/${name} ${verb}${dryRun ? ' (dry run)' : ''}`)
  }
  for (const { node, added, removed, text } of diff ?? [])
    process.stdout.write(`\nnode/${node}: ${added} rules more, ${removed} rules less\n${text}`)
}

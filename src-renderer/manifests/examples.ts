export interface Example {
  readonly file: string
  /** The first sentence of the file's own comment. */
  readonly title: string
  readonly text: string
}

/** What a learner starts with. */
export const FIRST_EXAMPLE = 'http-server.yaml'

const files = import.meta.glob<string>('../../lab-scripts/manifests/*.yaml', {
  query: '?raw',
  import: 'default',
})

/** The sample manifests, the first one to try at the top. */
export async function loadExamples(): Promise<readonly Example[]> {
  const examples = await Promise.all(
    Object.entries(files).map(async ([path, load]) => {
      const text = await load()
      return { file: path.slice(path.lastIndexOf('/') + 1), title: titleOf(text), text }
    }),
  )
  return examples.toSorted(
    (one, other) =>
      Number(other.file === FIRST_EXAMPLE) - Number(one.file === FIRST_EXAMPLE) ||
      one.file.localeCompare(other.file),
  )
}

/** The first sentence of the comment at the head of a manifest. */
export function titleOf(text: string): string {
  const comment: string[] = []
  for (const line of text.split('\n')) {
    if (!line.startsWith('# ')) break
    comment.push(line.slice(2))
  }
  const [sentence = ''] = comment.join(' ').split(/[.:](?:\s|$)/)
  return sentence.trim()
}

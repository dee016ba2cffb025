import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const TEST_FOLDER = fileURLToPath(new URL('../..', import.meta.url))

export interface TextFile {
  /** As it is named in test titles: `001-seed-http-svc/expected.save`. */
  readonly title: string
  readonly text: string
}

/** The files of all goldens or cases whose name matches, in the order of their titles. */
export function textFiles(folder: 'golden' | 'cases', name: RegExp): TextFile[] {
  return readdirSync(`${TEST_FOLDER}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path.split('/').at(-1) ?? ''))
    .sort()
    .map((path) => ({ title: path, text: readFileSync(`${TEST_FOLDER}/${folder}/${path}`, 'utf8') }))
}

export const goldenSaves = textFiles('golden', /^expected.*\.save$/)
export const goldenRestores = textFiles('golden', /^expected.*\.rules$/)

/** Dumps that are clean iptables-save output, warnings among them allowed. */
export const cleanDumps = textFiles('cases', /\.txt$/).filter(({ title }) =>
  /(^|\/)(dump|dump-plain|dump-broken|dump-good|filter-dump|ip6tables-dump|.*-save)\.txt$/.test(title),
)

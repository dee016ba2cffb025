import type { ManifestFile } from '../../src-main/contract/lab-contract.ts'

/** Several files as one of many documents, each under its name; one file stays as it is. Names lose their folders. */
export function joinManifests(files: readonly ManifestFile[]): ManifestFile {
  const [first, ...rest] = files.map(({ file, text }) => ({ file: file.split('/').at(-1) ?? file, text }))
  if (!first) return { file: 'manifest.yaml', text: '' }
  if (rest.length === 0) return first
  return {
    file: 'manifests.yaml',
    text: [first, ...rest].map(({ file, text }) => `# ${file}\n${text.trimEnd()}\n`).join('---\n'),
  }
}

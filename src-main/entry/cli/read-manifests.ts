import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type LabBundle, parseBundle } from '../../contract/lab-bundle.ts'
import type { ManifestFile } from '../../contract/lab-contract.ts'
import { CommandFailure, EXIT } from './exit-status.ts'

/** The files behind `-f`: a path, a folder (its .yaml, .yml and .json files by name, as kubectl takes them), or "-". */
export function readManifests(paths: readonly string[]): ManifestFile[] {
  return paths.flatMap((path) => {
    try {
      if (path === '-') return [{ file: '-', text: readFileSync(0, 'utf8') }]
      if (!statSync(path).isDirectory()) return [{ file: path, text: readFileSync(path, 'utf8') }]
      const names = readdirSync(path).filter((name) => /\.(ya?ml|json)$/.test(name))
      if (names.length === 0)
        throw new CommandFailure(EXIT.usage, `${path}: no .yaml, .yml or .json file in this folder`)
      return names.sort().map((name) => ({
        file: join(path, name),
        text: readFileSync(join(path, name), 'utf8'),
      }))
    } catch (error) {
      if (error instanceof CommandFailure) throw error
      const { code, message } = error as NodeJS.ErrnoException
      throw new CommandFailure(
        EXIT.usage,
        code === 'ENOENT' ? `${path}: no such file` : `${path}: ${message}`,
      )
    }
  })
}

/** The files behind `up -f`, where one may be a bundle that `export --format bundle` wrote. */
export function readLabFiles(paths: readonly string[]): {
  manifests: ManifestFile[]
  bundle: LabBundle | undefined
} {
  const manifests: ManifestFile[] = []
  let bundle: LabBundle | undefined
  for (const each of readManifests(paths)) {
    const found = readBundle(each)
    if (found && bundle) throw new CommandFailure(EXIT.usage, `${each.file}: only one bundle can be started`)
    bundle ??= found
    manifests.push(...(found ? found.manifests : [each]))
  }
  return { manifests, bundle }
}

function readBundle({ file, text }: ManifestFile): LabBundle | undefined {
  try {
    return parseBundle(text)
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `${file}: ${(error as Error).message}`)
  }
}

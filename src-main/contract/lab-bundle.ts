import type { ManifestFile } from './lab-contract.ts'

/** A lab in one file (`.chainwalk`): what `up -f` needs to start it again. */
export interface LabBundle {
  /** The format's version. */
  readonly chainwalk: 1
  readonly workers: number
  readonly manifests: readonly ManifestFile[]
  /** For each node with rules of a person's own: restore text that brings them back. */
  readonly handMadeRules: Readonly<Record<string, string>>
}

/** Undefined where the text is no bundle. Throws where it is one that this version cannot read. */
export function parseBundle(text: string): LabBundle | undefined {
  if (!/^\s*\{\s*"chainwalk"/.test(text)) return undefined
  const bundle = JSON.parse(text) as Partial<LabBundle>
  if (bundle.chainwalk !== 1)
    throw new Error(`a bundle of version ${bundle.chainwalk}; this Chainwalk reads version 1`)
  return {
    chainwalk: 1,
    workers: bundle.workers ?? 2,
    manifests: bundle.manifests ?? [],
    handMadeRules: bundle.handMadeRules ?? {},
  }
}

export function formatBundle(bundle: LabBundle): string {
  return `${JSON.stringify(bundle, null, 2)}\n`
}

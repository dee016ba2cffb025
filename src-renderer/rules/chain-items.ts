import type { ChainGroup } from './chain-groups.ts'

/** One line of the chain list. */
export type ChainItem =
  | { readonly kind: 'group'; readonly title: string }
  | { readonly kind: 'chain'; readonly chain: string; readonly title: string | undefined }

/** The groups under one another, only with the chains whose name, meaning or Service holds the words. */
export function listChains(
  groups: readonly ChainGroup[],
  titleOf: (chain: string) => string | undefined,
  filter: string,
): ChainItem[] {
  const wanted = filter.trim().toLowerCase()
  const items: ChainItem[] = []
  for (const group of groups) {
    const isWhole = wanted === '' || (group.kind === 'service' && holds(group.title, wanted))
    const chains = isWhole
      ? group.chains
      : group.chains.filter((chain) => holds(chain, wanted) || holds(titleOf(chain) ?? '', wanted))
    if (chains.length === 0) continue
    items.push({ kind: 'group', title: group.kind === 'service' ? `Service ${group.title}` : group.title })
    for (const chain of chains) items.push({ kind: 'chain', chain, title: titleOf(chain) })
  }
  return items
}

function holds(text: string, wanted: string): boolean {
  return text.toLowerCase().includes(wanted)
}

import type { View } from '../lab-state.svelte.ts'

export const VIEW_NAMES: Readonly<Record<View, { readonly name: string; readonly says: string }>> = {
  path: { name: 'Path', says: 'the way of a packet through a node' },
  topology: { name: 'Topology', says: 'nodes, pods and the links between them' },
  rules: { name: 'Rules', says: 'tables, chains and rules with their counters' },
  trace: { name: 'Trace', says: 'the real packets of a command, step by step' },
  manifests: { name: 'Manifests', says: 'YAML to apply, preview or delete' },
}

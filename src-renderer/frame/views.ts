import Network from '@lucide/svelte/icons/network'
import Route from '@lucide/svelte/icons/route'
import ScrollText from '@lucide/svelte/icons/scroll-text'
import FileCode from '@lucide/svelte/icons/file-code'
import type { Component } from 'svelte'
import type { LabState, View } from '../lab-state.svelte.ts'

export type ViewComponent = Component<{ lab: LabState }>
type ViewModule = { readonly default: ViewComponent }

export const VIEW_NAMES: Readonly<Record<View, { readonly name: string; readonly says: string }>> = {
  path: { name: 'Path', says: 'the way of a packet through a node' },
  topology: { name: 'Topology', says: 'nodes, pods and the links between them' },
  rules: { name: 'Rules', says: 'tables, chains and rules with their counters' },
  manifests: { name: 'YAML', says: 'manifests: apply, preview, delete' },
}

export const VIEW_ICONS = { path: Route, topology: Network, rules: ScrollText, manifests: FileCode } as const

/** Loaded when they are first looked at. */
const VIEW_FILES: Readonly<Record<View, string>> = {
  path: '../path/PathView.svelte',
  topology: '../topology/TopologyView.svelte',
  rules: '../rules/RulesView.svelte',
  manifests: '../manifests/ManifestsView.svelte',
}

const viewModules = import.meta.glob<ViewModule>('../{path,topology,rules,manifests}/*View.svelte')
const inspectorModules = import.meta.glob<ViewModule>([
  '../rules/RuleInspector.svelte',
  '../topology/LinkInspector.svelte',
])

async function loadFrom(
  modules: Readonly<Record<string, () => Promise<ViewModule>>>,
  file: string,
): Promise<ViewComponent | undefined> {
  return (await modules[file]?.())?.default
}

export const loadView = (view: View): Promise<ViewComponent | undefined> =>
  loadFrom(viewModules, VIEW_FILES[view])

/** The inspector of what a view's own colleague knows best. */
export const loadInspector = (kind: 'rule' | 'link'): Promise<ViewComponent | undefined> =>
  loadFrom(
    inspectorModules,
    kind === 'rule' ? '../rules/RuleInspector.svelte' : '../topology/LinkInspector.svelte',
  )

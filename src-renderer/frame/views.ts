import FileCode from '@lucide/svelte/icons/file-code'
import Footprints from '@lucide/svelte/icons/footprints'
import Network from '@lucide/svelte/icons/network'
import Route from '@lucide/svelte/icons/route'
import ScrollText from '@lucide/svelte/icons/scroll-text'
import type { Component } from 'svelte'
import type { LabState, Selection, View } from '../lab-state.svelte.ts'

export type ViewComponent = Component<{ lab: LabState }>
/** An inspector's part is told what it is to say. */
export type InspectorComponent = Component<{ lab: LabState; selection: Selection }>

export const VIEW_ICONS = {
  path: Route,
  topology: Network,
  rules: ScrollText,
  trace: Footprints,
  manifests: FileCode,
} as const

/** Loaded when they are first looked at. */
const VIEW_FILES: Readonly<Record<View, string>> = {
  path: '../path/PathView.svelte',
  topology: '../topology/TopologyView.svelte',
  rules: '../rules/RulesView.svelte',
  trace: '../trace/TraceView.svelte',
  manifests: '../manifests/ManifestsView.svelte',
}

type Modules<T> = Readonly<Record<string, () => Promise<T>>>

const viewModules = import.meta.glob<ViewComponent>('../{path,topology,rules,trace,manifests}/*View.svelte', {
  import: 'default',
})
const inspectorModules = import.meta.glob<InspectorComponent>(
  ['../rules/RuleInspector.svelte', '../topology/LinkInspector.svelte', '../trace/StepInspector.svelte'],
  { import: 'default' },
)

async function loadFrom<T>(modules: Modules<T>, file: string): Promise<T | undefined> {
  return await modules[file]?.()
}

export const loadView = (view: View): Promise<ViewComponent | undefined> =>
  loadFrom(viewModules, VIEW_FILES[view])

const INSPECTOR_FILES = {
  rule: '../rules/RuleInspector.svelte',
  link: '../topology/LinkInspector.svelte',
  step: '../trace/StepInspector.svelte',
} as const

/** The inspector of what one view knows best. */
export const loadInspector = (kind: keyof typeof INSPECTOR_FILES): Promise<InspectorComponent | undefined> =>
  loadFrom(inspectorModules, INSPECTOR_FILES[kind])

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { app, type BrowserWindow, dialog, shell } from 'electron'
import { parseBundle } from '../../contract/lab-bundle.ts'
import type { MenuCommand } from '../../contract/menu-command.ts'
import { buildChecks } from '../../domain/doctor/build-checks.ts'
import { formatChecks } from '../../domain/doctor/format-checks.ts'
import { gatherFacts } from '../../system/doctor/gather-facts.ts'
import { trySandbox } from '../../system/doctor/try-sandbox.ts'
import { describeError } from '../describe-error.ts'
import { packageRoot } from '../start-lab.ts'
import type { WindowLab } from '../window-lab.ts'
import type { ExportFormat, MenuActions } from './menu.ts'

const EXTENSIONS = {
  save: 'rules',
  restore: 'rules',
  script: 'sh',
  nft: 'nft',
  json: 'json',
  bundle: 'chainwalk',
} as const

export interface MenuContext {
  readonly lab: Promise<WindowLab>
  openWindow(): void
  /** To the page in the window. */
  tell(window: BrowserWindow, command: MenuCommand): void
}

export function menuActions({ lab, openWindow, tell }: MenuContext): MenuActions {
  return {
    newWindow: openWindow,
    openManifests: (window) => {
      attempt(async () => {
        const paths = await pickFiles(window, 'Kubernetes manifests', ['yaml', 'yml', 'json'])
        const files = paths.map((file) => ({ file, text: readFileSync(file, 'utf8') }))
        if (files.length > 0) tell(window, { menu: 'open-manifests', files })
      })
    },
    openBundle: (window) => {
      attempt(async () => {
        for (const file of await pickFiles(window, 'Lab bundles', ['chainwalk', 'json']))
          await loadBundle(await lab, file)
      })
    },
    saveExport: (window, format) => {
      attempt(async () => {
        await saveExport(window, await lab, format)
      })
    },
    showView: (window, number) => {
      tell(window, { menu: 'show-view', number })
    },
    toggleProjector: (window) => {
      tell(window, { menu: 'toggle-projector' })
    },
    showDoctor: (window) => {
      attempt(async () => {
        const facts = await gatherFacts(() => trySandbox(join(packageRoot(), 'out/main/cli.cjs')))
        const detail = formatChecks(buildChecks(facts), { isColoured: false, uid: facts.uid })
        await dialog.showMessageBox(window, { message: 'This machine', detail, buttons: ['Close'] })
      })
    },
    openReadme: () => {
      attempt(async () => {
        const failure = await shell.openPath(join(packageRoot(), 'README.md'))
        if (failure) throw new Error(failure)
      })
    },
    quit: () => {
      app.quit()
    },
  }
}

function attempt(work: () => Promise<void>): void {
  work().catch((error: unknown) => {
    dialog.showErrorBox('Chainwalk', describeError(error))
  })
}

async function pickFiles(window: BrowserWindow, name: string, extensions: string[]): Promise<string[]> {
  const { filePaths } = await dialog.showOpenDialog(window, {
    properties: ['openFile', 'multiSelections'],
    filters: [
      { name, extensions },
      { name: 'All files', extensions: ['*'] },
    ],
  })
  return filePaths
}

async function loadBundle({ connection }: WindowLab, file: string): Promise<void> {
  const bundle = parseBundle(readFileSync(file, 'utf8'))
  if (!bundle) throw new Error(`${file} is no bundle; a manifest is opened with "Open Manifest"`)
  await connection.request('objects/apply', { manifests: bundle.manifests })
  await connection.request('rules/restore-hand-made', { rules: bundle.handMadeRules })
}

async function saveExport(
  window: BrowserWindow,
  { connection, name }: WindowLab,
  format: ExportFormat,
): Promise<void> {
  const { text } = await connection.request('rules/export', { format })
  const { filePath } = await dialog.showSaveDialog(window, { defaultPath: `${name}.${EXTENSIONS[format]}` })
  if (filePath) writeFileSync(filePath, text)
}

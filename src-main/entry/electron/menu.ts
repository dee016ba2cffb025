import { type BrowserWindow, Menu, type MenuItemConstructorOptions } from 'electron'

export const EXPORTS = {
  save: 'iptables-save text',
  restore: 'For iptables-restore',
  script: 'Shell script with comments',
  nft: 'nft translation',
  json: 'JSON',
  bundle: 'Lab bundle',
} as const
export type ExportFormat = keyof typeof EXPORTS

/** What the menu's items do; each gets the window that it was picked in. */
export interface MenuActions {
  newWindow(): void
  openManifests(window: BrowserWindow): void
  openBundle(window: BrowserWindow): void
  saveExport(window: BrowserWindow, format: ExportFormat): void
  showView(window: BrowserWindow, number: number): void
  toggleProjector(window: BrowserWindow): void
  showDoctor(window: BrowserWindow): void
  openReadme(): void
  quit(): void
}

/**
 * Shortcuts have Shift or none of the letters: Ctrl and a letter belong to the shells in the window (Ctrl-R searches
 * there, Ctrl-W deletes a word, Ctrl-Q and Ctrl-O are in use). Ctrl and a digit is the page's own.
 */
export function buildMenu(
  actions: MenuActions,
  views: readonly string[],
  { withDevTools }: { readonly withDevTools: boolean },
): Menu {
  const item = (
    label: string,
    act: (window: BrowserWindow) => void,
    accelerator?: string,
  ): MenuItemConstructorOptions => ({
    label,
    ...(accelerator ? { accelerator } : {}),
    click: (_item, window) => {
      if (window) act(window as BrowserWindow)
    },
  })
  const formats = Object.entries(EXPORTS) as [ExportFormat, string][]
  return Menu.buildFromTemplate([
    {
      label: '&File',
      submenu: [
        { label: 'New Window', accelerator: 'Ctrl+Shift+N', click: actions.newWindow },
        { type: 'separator' },
        item('Open Manifest…', actions.openManifests, 'Ctrl+Shift+O'),
        item('Open Bundle…', actions.openBundle),
        {
          label: 'Save Export',
          submenu: formats.map(([format, label]) =>
            item(`${label}…`, (window) => {
              actions.saveExport(window, format)
            }),
          ),
        },
        { type: 'separator' },
        { label: 'Quit', accelerator: 'Ctrl+Shift+Q', click: actions.quit },
      ],
    },
    {
      label: '&View',
      submenu: [
        ...views.map((view, at) => ({
          ...item(view, (window) => {
            actions.showView(window, at + 1)
          }),
          accelerator: `Ctrl+${at + 1}`,
          registerAccelerator: false,
        })),
        { type: 'separator' },
        item('Projector', actions.toggleProjector),
        { role: 'togglefullscreen' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { role: 'resetZoom' },
        { type: 'separator' },
        item(
          'Reload',
          (window) => {
            window.webContents.reload()
          },
          'F5',
        ),
        ...(withDevTools ? ([{ role: 'toggleDevTools' }] as const) : []),
      ],
    },
    {
      label: '&Help',
      submenu: [item('Doctor…', actions.showDoctor), { label: 'README', click: actions.openReadme }],
    },
  ])
}

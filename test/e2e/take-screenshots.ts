import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { buildProgram } from './build-program.ts'
import { launchWindow, whyNoWindow } from './launch-window.ts'

/** In the order of Ctrl+1, Ctrl+2 … */
const VIEWS = ['path', 'topology', 'rules', 'trace', 'manifests'] as const
const SIZES = [
  { width: 1440, height: 900 },
  { width: 1280, height: 720 },
] as const
const LOOKS = ['dark', 'light', 'projector'] as const

/** For counters to have moved and flashes to be seen. */
const TRAFFIC_MS = 2500
/** For a view to have drawn its answer. */
const SETTLE_MS = 700

export async function takeScreenshots(words: readonly string[]): Promise<void> {
  const unknown = words.filter((word) => !VIEWS.some((view) => view === word))
  if (unknown.length > 0) throw new Error(`no view is named ${unknown.join(', ')}: ${VIEWS.join(', ')}`)
  const why = whyNoWindow()
  if (why) throw new Error(`no window can be opened here: ${why}`)
  const shots = join(import.meta.dirname, 'shots')
  mkdirSync(shots, { recursive: true })
  const { folder, remove } = buildProgram()
  process.env['CHAINWALK_PROGRAM'] = folder
  try {
    const window = await launchWindow({ demoTraffic: true })
    try {
      await sleep(TRAFFIC_MS)
      for (const [at, view] of VIEWS.entries())
        if (words.length === 0 || words.includes(view)) await takeView(window.page, view, at + 1, shots)
      for (const problem of new Set(window.problems)) console.error(`problem: ${problem}`)
      if (window.problems.length > 0) process.exitCode = 1
    } finally {
      await window.close()
    }
  } finally {
    remove()
  }
}

async function takeView(page: Page, view: string, key: number, shots: string): Promise<void> {
  await page.keyboard.press(`Control+${key}`)
  if (view === 'trace') await showTrace(page)
  for (const look of LOOKS) {
    await applyLook(page, look)
    for (const size of SIZES) {
      await page.setViewportSize(size)
      await sleep(SETTLE_MS)
      const path = join(shots, `${view}-${look}-${size.width}x${size.height}.png`)
      await page.screenshot({ path })
      console.log(path)
    }
  }
}

/** The request to the node port, at the rule that chooses its pod. */
async function showTrace(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'send' }).press('Enter')
  await page.getByRole('listbox', { name: /^Steps of packet/ }).press('d')
}

/** By the window's own actions, as a person would. */
async function applyLook(page: Page, look: (typeof LOOKS)[number]): Promise<void> {
  await choose(page, `Theme: ${look === 'light' ? 'light' : 'dark'}`)
  const isProjector = (await page.locator(':root[data-projector]').count()) > 0
  if (isProjector !== (look === 'projector'))
    await choose(page, isProjector ? 'Leave projector mode' : 'Projector mode')
}

async function choose(page: Page, action: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.keyboard.type(action)
  await page.getByRole('option', { name: action }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

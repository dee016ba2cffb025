import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Lab } from '../lab/chainwalk.ts'
import { buildProgram } from './build-program.ts'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

interface Shot {
  readonly view: string
  /** Of Ctrl. */
  readonly key: number
  /** Brings the view to something that is worth a picture. */
  readonly prepare?: (page: Page, lab: Lab) => Promise<void>
}

const SHOTS: readonly Shot[] = [
  { view: 'path', key: 1 },
  { view: 'topology', key: 2 },
  { view: 'rules', key: 3 },
  { view: 'trace', key: 4, prepare: showTrace },
  { view: 'trace-connections', key: 4, prepare: (page) => openBeside(page, 'Connections') },
  { view: 'trace-capture', key: 4, prepare: showCapture },
  { view: 'trace-log', key: 4, prepare: showLog },
  { view: 'manifests', key: 5 },
]
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
  const names = SHOTS.map(({ view }) => view)
  const unknown = words.filter((word) => !names.includes(word))
  if (unknown.length > 0) throw new Error(`no view is named ${unknown.join(', ')}: ${names.join(', ')}`)
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
      for (const shot of SHOTS)
        if (words.length === 0 || words.includes(shot.view)) await takeShot(window, shot, shots)
      for (const problem of new Set(window.problems)) console.error(`problem: ${problem}`)
      if (window.problems.length > 0) process.exitCode = 1
    } finally {
      await window.close()
    }
  } finally {
    remove()
  }
}

async function takeShot(
  { page, lab }: LabWindow,
  { view, key, prepare }: Shot,
  shots: string,
): Promise<void> {
  await page.keyboard.press(`Control+${key}`)
  await prepare?.(page, lab)
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

async function openBeside(page: Page, tab: string): Promise<void> {
  if ((await page.getByRole('listbox', { name: /^Steps of packet/ }).count()) === 0) await showTrace(page)
  const button = page.getByRole('group', { name: 'What to show' }).getByRole('button', { name: tab })
  if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click()
}

async function showCapture(page: Page): Promise<void> {
  await openBeside(page, 'Capture')
  const form = page.getByRole('form', { name: 'What to capture' })
  await form.getByLabel('On').selectOption({ label: 'worker1' })
  await form.getByRole('button', { name: 'Start' }).click()
  await sleep(TRAFFIC_MS)
}

async function showLog(page: Page, lab: Lab): Promise<void> {
  await openBeside(page, 'Log')
  const rule = ['-p', 'tcp', '--syn', '-j', 'NFLOG', '--nflog-prefix', 'new: ']
  await lab.exec(`node/worker1`, 'iptables', '-I', 'FORWARD', ...rule)
  await sleep(TRAFFIC_MS)
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

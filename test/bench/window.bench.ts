import type { Page } from 'playwright-core'
import { type LabWindow, launchWindow, whyNoWindow } from '../e2e/launch-window.ts'
import { type Bench, type Measure, median } from './measure.ts'

const rounds = 20
const loads = 5
const watchedMs = 5000
/** 50 frames a second. */
const LONGEST_FRAME_MS = 20
const LARGE = 100_000
const CHANGING = 1000
/** A rule set that large takes the kernel and the lab seconds to write and to read. */
const PATIENCE_MS = 120_000

/** The window in a real browser: from a packet to its number, from the link to the first view, and its frames. */
export const windowBench: Bench = {
  name: 'the window',
  async run() {
    const why = whyNoWindow()
    if (why !== undefined) throw new Error(why)
    const window = await launchWindow()
    try {
      return [...(await firstView(window)), ...(await packetToNumber(window)), ...(await frames(window))]
    } finally {
      await window.close()
    }
  },
}

const firstRule = (page: Page) => page.getByRole('button', { name: /^Rule 1 of KUBE-SERVICES/ }).first()

/** From the address to Path's first rule; an empty page of the same server beside it. */
async function firstView({ page, server }: LabWindow): Promise<Measure[]> {
  const [views, empty] = [[], []] as [number[], number[]]
  for (let load = 0; load < loads; load += 1) {
    let began = Date.now()
    await page.goto(`${server.origin}/`)
    await firstRule(page).waitFor()
    views.push(Date.now() - began)
    began = Date.now()
    await page.goto(`${server.origin}/no-such-page`)
    empty.push(Date.now() - began)
  }
  await page.goto(`${server.origin}/`)
  await firstRule(page).waitFor()
  const baseline = { baseline: median(empty), baselineIs: 'a page of words' }
  return [
    { label: `first view, median of ${loads}`, value: median(views), unit: 'ms', ...baseline, limit: 1000 },
  ]
}

/** From the end of a request, by the kernel's clock, to the frame that shows one packet more. */
async function packetToNumber({ page, lab }: LabWindow): Promise<Measure[]> {
  const delays: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const shownAt = page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const name = (): string =>
            document.querySelector('[aria-label^="Rule 1 of KUBE-SERVICES"]')?.getAttribute('aria-label') ??
            ''
          const before = name()
          const look = (): void => {
            if (name() === before) requestAnimationFrame(look)
            else resolve(Date.now())
          }
          look()
        }),
    )
    const { stdout } = await lab.exec(
      'node/worker1',
      ...['sh', '-c', 'curl -s -o /dev/null http://10.107.38.142/; date +%s%3N'],
    )
    delays.push((await shownAt) - Number(stdout))
  }
  return [
    { label: `a packet to its number, median of ${rounds}`, value: median(delays), unit: 'ms', limit: 500 },
    { label: 'a packet to its number, slowest', value: Math.max(...delays), unit: 'ms' },
  ]
}

async function frames({ page, lab, server }: LabWindow): Promise<Measure[]> {
  await page.goto(`${server.origin}/no-such-page`)
  const baseline = { baseline: await frameMs(page), baselineIs: 'a page of words' }
  const measure = (label: string, value: number): Measure => ({
    label: `${label}, a frame`,
    value,
    unit: 'ms',
    ...baseline,
    limit: LONGEST_FRAME_MS,
  })
  const measures: Measure[] = []
  // Every packet that is sent counts in each of them.
  await loadRules(lab, 'CHANGING', CHANGING, '-j CHANGING')
  const pings = lab.start('node/worker1', 'ping', '-q', '-i', '0.5', '172.18.0.1')
  try {
    await showChain(page, server.origin, 'CHANGING')
    measures.push(measure(`${CHANGING} rules that change twice a second`, await frameMs(page)))
  } finally {
    await pings.stop()
  }
  await loadRules(lab, 'LARGE', LARGE)
  await showChain(page, server.origin, 'LARGE')
  measures.push(measure(`${LARGE} rules in Rules`, await frameMs(page)))
  measures.push(measure(`${LARGE} rules in Rules, scrolled`, await frameMs(page, true)))
  return measures
}

async function loadRules(lab: LabWindow['lab'], chain: string, count: number, jump?: string): Promise<void> {
  const script = `{ echo "*filter"; echo ":${chain} -"; seq ${count} | sed "s/.*/-A ${chain} -m comment --comment r&/"; ${
    jump ? `echo "-A OUTPUT ${jump}";` : ''
  } echo COMMIT; } | iptables-restore --noflush`
  const { code, stderr } = await lab.exec('node/worker1', 'sh', '-c', script)
  if (code !== 0) throw new Error(`the rules could not be loaded: ${stderr}`)
}

async function showChain(page: Page, origin: string, chain: string): Promise<void> {
  await page.goto(`${origin}/`)
  await page
    .getByText(/running · 3 nodes/)
    .first()
    .waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('Rules')
  await page.getByRole('option', { name: 'Rules' }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('tab', { name: /^filter/ }).click()
  await page.getByText(chain, { exact: true }).first().click({ timeout: PATIENCE_MS })
  await page.getByRole('row').filter({ hasText: '/* r1 */' }).first().waitFor({ timeout: PATIENCE_MS })
}

/** The mean time between frames, while the page does what it does or its list is scrolled. */
function frameMs(page: Page, scrolls = false): Promise<number> {
  return page.evaluate(
    async ({ during, isScrolling }) => {
      const list = [...document.querySelectorAll<HTMLElement>('main *')]
        .filter((element) => element.scrollHeight > element.clientHeight + 1000)
        .sort((a, b) => b.scrollHeight - a.scrollHeight)[0]
      const began = performance.now()
      let count = 0
      while (performance.now() - began < during) {
        await new Promise((resolve) => requestAnimationFrame(resolve))
        if (isScrolling && list) list.scrollTop += 300
        count += 1
      }
      return (performance.now() - began) / count
    },
    { during: watchedMs, isScrolling: scrolls },
  )
}

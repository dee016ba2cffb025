import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findLab } from '../../src-main/system/sandbox/find-labs.ts'
import { findSerious } from './find-serious.ts'
import { tabTo } from './keyboard.ts'
import { type LabWindow, launchWindow, startServe, type WebEntry, whyNoWindow } from './launch-window.ts'

const SERVICE = 'KUBE-SVC-GM62ZXCOIF6ZCRWU'
const patience = { timeout: 20_000 }

/** Keys alone, from the moment the window is there. */
describe.skipIf(whyNoWindow())('a learner at the window', () => {
  let window: LabWindow
  let page: Page
  beforeAll(async () => {
    window = await launchWindow()
    page = window.page
  })
  afterAll(() => window?.close())

  /** Packets of the rules of a chain of nat, in the kernel now. */
  const kernel = async (chain: string, node = 'worker1'): Promise<number[]> => {
    const { stdout } = await window.lab.exec(`node/${node}`, 'iptables', '-t', 'nat', '-vnxL', chain)
    return stdout
      .trim()
      .split('\n')
      .slice(2)
      .map((line) => Number(line.trim().split(/\s+/)[0]))
  }
  /** Packets that Path's chains show, by what the rules are called. */
  const shown = async (pattern: RegExp): Promise<number[]> => {
    const names = await page
      .getByRole('button', { name: pattern })
      .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label') ?? ''))
    return names.map((name) => Number(/(\d+) packets?/.exec(name)?.[1]))
  }
  const firstRule = (chain: string) => shown(new RegExp(`Rule 1 of ${chain}:`))
  const choose = async (action: string): Promise<void> => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(action)
    await page.getByRole('option', { name: action }).first().waitFor()
    await page.keyboard.press('Enter')
  }
  const screen = () => page.locator('.xterm-rows').last()
  /** Types a line in the terminal that has the keyboard, and waits for its end. */
  const run = async (line: string, mark: string): Promise<void> => {
    await page.keyboard.type(`${line}; echo ${mark.slice(0, 2)}""${mark.slice(2)}\n`)
    await page.locator('.xterm-rows').getByText(mark).first().waitFor()
  }
  test('types twelve curls in a pod, and page and kernel count the same twelve', async () => {
    await choose('New terminal in pod http-server')
    await screen().getByText('root@http-server').first().waitFor()
    await run('for i in $(seq 12); do curl -s http://10.107.38.142/ | head -1; done', 'alldone')

    const counted = (await kernel(SERVICE)).slice(1)
    expect(counted.reduce((sum, packets) => sum + packets, 0)).toBe(12)
    expect((await kernel('KUBE-SERVICES'))[0]).toBe(12)
    // Path: the rule that finds the Service, and the three that choose an endpoint.
    await expect.poll(() => shown(/Rule \d of KUBE-SERVICES:.*10\.107\.38\.142/), patience).toEqual([12])
    await expect.poll(() => shown(new RegExp(`Rule [234] of ${SERVICE}:`)), patience).toEqual(counted)
    // Rules: the same number, as iptables writes it.
    await page.keyboard.press('Control+3')
    const jump = page
      .getByRole('row')
      .filter({ hasText: SERVICE })
      .filter({ hasText: '10.107.38.142' })
      .first()
    await expect.poll(() => jump.textContent(), patience).toMatch(/\b12\s+720\b/)
    expect(window.problems).toEqual([])
  })

  test('asks a NodePort from the client: marked and sent on by that node alone', async () => {
    const chains = ['KUBE-EXT-C3VEVZBK3X2BH5IZ', 'KUBE-MARK-MASQ'] as const
    const counted = async (node: string): Promise<number[]> => {
      const counts: number[] = []
      for (const chain of chains) counts.push((await kernel(chain, node))[0] ?? Number.NaN)
      return counts
    }
    const before = { here: await counted('worker1'), there: await counted('worker2') }
    await choose('New terminal in the client')
    await screen().getByText('root@client').first().waitFor()
    await run('curl -s http://172.18.0.3:32054/ | head -1', 'answered')

    const here = before.here.map((packets) => packets + 1)
    expect(await counted('worker1')).toEqual(here)
    expect(await counted('worker2')).toEqual(before.there)
    for (const [node, packets] of [
      ['worker1', here],
      ['worker2', before.there],
    ] as const) {
      await page.keyboard.press('Control+1')
      await choose(`Show node ${node}`)
      for (const [at, chain] of chains.entries())
        await expect.poll(() => firstRule(chain), patience).toEqual([packets[at]])
    }
    await choose('Show node worker1')
  })

  test('a rule typed by hand appears, set apart', async () => {
    await page.keyboard.press('Control+3')
    const words = ['iptables', '-t', 'nat', '-A', 'KUBE-SERVICES', '-s', '192.0.2.9', '-j', 'RETURN']
    await window.lab.exec('node/worker1', ...words)
    const row = page.getByRole('row').filter({ hasText: '192.0.2.9' }).first()
    await row.waitFor()
    expect(await row.textContent()).toContain('by hand')
    await window.lab.exec('node/worker1', ...words.map((word) => (word === '-A' ? '-D' : word)))
    await row.waitFor({ state: 'detached' })
  })

  test('a generated rule that is deleted shows as missing, and Restore brings it back', async () => {
    const rules = async (): Promise<string> =>
      (await window.lab.exec('node/worker1', 'iptables', '-t', 'nat', '-S', 'KUBE-SERVICES')).stdout
    const before = await rules()
    expect(before.split('\n')[1]).toContain('-d 10.107.38.142/32')
    await window.lab.exec('node/worker1', 'iptables', '-t', 'nat', '-D', 'KUBE-SERVICES', '1')
    const missing = page.getByRole('row').filter({ hasText: 'missing' }).filter({ hasText: '10.107.38.142' })
    await missing.waitFor()
    expect(await rules()).not.toContain('10.107.38.142')

    await tabTo(page, 'Restore')
    await page.keyboard.press('Enter')
    await missing.waitFor({ state: 'detached' })
    expect(await rules()).toBe(before)
  })

  test('a page that is loaded anew has its terminals with what stood in them', async () => {
    const tabs = () => page.getByRole('tablist', { name: 'Terminals' }).getByRole('tab').allTextContents()
    const before = await tabs()
    expect(before.length).toBeGreaterThan(1)
    await page.reload()
    await expect.poll(tabs, patience).toEqual(before)
    await screen().getByText('answered').first().waitFor()
    expect(window.problems).toEqual([])
  })
})

describe.skipIf(whyNoWindow())('a lab whose holder is killed', () => {
  test('is told as gone, what was shown stays, and a new one is opened with the words that are shown', async () => {
    const window = await launchWindow()
    const again: WebEntry[] = []
    try {
      const { page, lab } = window
      const rules = page.getByRole('button', { name: /^Rule \d+ of KUBE-/ })
      await rules.first().waitFor()
      const before = await rules.count()
      const holder = findLab(lab.name)
      if (!holder) throw new Error('the lab has no holder')
      process.kill(holder.pid, 'SIGKILL')
      const banner = page.getByRole('status').filter({ hasText: 'The lab has gone.' })
      await banner.waitFor()
      expect(await banner.locator('code').textContent()).toBe(`chainwalk serve --name ${lab.name}`)
      expect(await page.getByRole('treeitem', { name: /http-server/ }).count()).toBe(3)
      expect(await rules.count()).toBe(before)
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await findSerious(page)).toEqual([])
      }
      await window.server.ended

      again.push(await startServe(['--name', lab.name, '-f', 'lab-scripts/manifests/http-server.yaml']))
      await page.goto(again[0]?.link ?? '')
      await page.getByText(/running · 3 nodes · 3 pods/).waitFor()
      await lab.exec('node/worker1', 'curl', '-s', 'http://10.107.38.142/')
      const found = page.getByRole('button', { name: /Rule \d of KUBE-SERVICES:.*10\.107\.38\.142/ }).first()
      await expect.poll(() => found.getAttribute('aria-label'), patience).toMatch(/\b1 packet\b/)
    } finally {
      // Ends the lab of that name, the new one; there is none where the test failed before.
      await window.close().catch(() => undefined)
      for (const server of again) await server.stop()
    }
  })
})

/** What each view shows when it is there, in the order of their keys. */
const VIEWS: readonly (readonly [string, (page: Page) => Locator])[] = [
  ['Path', (page) => page.getByRole('button', { name: /^Rule 1 of KUBE-SERVICES/ })],
  ['Topology', (page) => page.getByText('10.244.1.7').last()],
  ['Rules', (page) => page.getByRole('row').filter({ hasText: 'KUBE-SERVICES' })],
  ['Trace', (page) => page.getByRole('textbox', { name: 'send' })],
  ['Manifests', (page) => page.getByLabel(/^Manifest, YAML/)],
]

describe.skipIf(whyNoWindow())('accessibility', () => {
  test.each(['dark', 'light'] as const)('axe finds nothing serious in any view, %s', async (colorScheme) => {
    const window = await launchWindow({ colorScheme })
    try {
      const { page } = window
      const found: string[] = []
      const look = async (state: string): Promise<void> => {
        for (const fault of await findSerious(page)) found.push(`${state}: ${fault}`)
      }
      for (const [at, [name, shown]] of VIEWS.entries()) {
        await page.keyboard.press(`Control+${at + 1}`)
        await shown(page).first().waitFor()
        await look(name)
      }
      await page.keyboard.press('Control+1')
      await VIEWS[0]?.[1](page).first().press('Enter')
      await page
        .getByRole('complementary', { name: 'Inspector' })
        .getByText('KUBE-SERVICES')
        .first()
        .waitFor()
      await look('inspector of a rule')
      await page.keyboard.press('Control+k')
      await page.getByRole('option').first().waitFor()
      await look('palette')
      await page.keyboard.type('projector mode')
      await page.keyboard.press('Enter')
      await page.locator(':root[data-projector]').waitFor()
      await look('projector')
      await page.keyboard.press('F6')
      await page.keyboard.press('?')
      await page.getByRole('dialog').waitFor()
      await look('help')
      expect(found).toEqual([])
    } finally {
      await window.close()
    }
  })
})

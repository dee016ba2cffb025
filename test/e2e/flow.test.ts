import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findLab } from '../../src-main/system/sandbox/find-labs.ts'
import { findSerious } from './find-serious.ts'
import { type LabWindow, launchWindow, startServe, type WebEntry, whyNoWindow } from './launch-window.ts'

const SERVICE = 'KUBE-SVC-GM62ZXCOIF6ZCRWU'
const patience = { timeout: 20_000 }

describe.skipIf(whyNoWindow())('a learner at the window', () => {
  let window: LabWindow
  let page: Page
  beforeAll(async () => {
    window = await launchWindow()
    page = window.page
  })
  afterAll(() => window?.close())

  /** Packets of the rules of a chain, in the kernel now. */
  const kernel = async (chain: string): Promise<number[]> => {
    const { stdout } = await window.lab.exec('node/worker1', 'iptables', '-t', 'nat', '-vnxL', chain)
    return stdout
      .trim()
      .split('\n')
      .slice(2)
      .map((line) => Number(line.trim().split(/\s+/)[0]))
  }

  test('types twelve curls in a pod, and page and kernel count the same twelve', async () => {
    await page
      .getByRole('treeitem', { name: /http-server/ })
      .first()
      .dblclick()
    await page.locator('.xterm-rows').getByText('root@http-server').first().waitFor()
    await page.keyboard.type(
      'for i in $(seq 12); do curl -s http://10.107.38.142/ | head -1; done; echo all"done"\n',
    )
    await page.locator('.xterm-rows').getByText('alldone').first().waitFor()

    const counted = (await kernel(SERVICE)).slice(1)
    expect(counted.reduce((sum, packets) => sum + packets, 0)).toBe(12)
    expect((await kernel('KUBE-SERVICES'))[0]).toBe(12)
    // Path: the rule that finds the Service, and the three that choose an endpoint.
    const named = async (pattern: RegExp): Promise<number[]> => {
      const names = await page
        .getByRole('button', { name: pattern })
        .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label') ?? ''))
      return names.map((name) => Number(/(\d+) packets?/.exec(name)?.[1]))
    }
    await expect.poll(() => named(/Rule \d of KUBE-SERVICES:.*10\.107\.38\.142/), patience).toEqual([12])
    await expect.poll(() => named(new RegExp(`Rule [234] of ${SERVICE}:`)), patience).toEqual(counted)
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
    const EXT = 'KUBE-EXT-C3VEVZBK3X2BH5IZ'
    const hits = async (node: string, chain: string): Promise<number> => {
      const { stdout } = await window.lab.exec(node, 'iptables', '-t', 'nat', '-vnxL', chain)
      return Number(stdout.trim().split('\n').slice(2)[0]?.trim().split(/\s+/)[0])
    }
    const chains = [EXT, 'KUBE-MARK-MASQ']
    const counted = async (node: string): Promise<number[]> => {
      const counts: number[] = []
      for (const chain of chains) counts.push(await hits(node, chain))
      return counts
    }
    const before = { here: await counted('node/worker1'), there: await counted('node/worker2') }
    await window.lab.exec('client', 'curl', '-s', 'http://172.18.0.3:32054/')
    const here = before.here.map((packets) => packets + 1)
    expect(await counted('node/worker1')).toEqual(here)
    expect(await counted('node/worker2')).toEqual(before.there)
    await page.keyboard.press('Control+1')
    const packets = async (): Promise<number[]> => {
      const names = await page
        .getByRole('button', { name: new RegExp(`Rule 1 of (${EXT}|KUBE-MARK-MASQ):`) })
        .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label') ?? ''))
      return names.map((name) => Number(/(\d+) packets?/.exec(name)?.[1]))
    }
    const byNumber = (one: number, other: number): number => one - other
    await expect
      .poll(async () => (await packets()).sort(byNumber), patience)
      .toEqual([...here].sort(byNumber))
    await page.keyboard.press('Control+3')
  })

  test('a rule typed by hand appears, set apart', async () => {
    await window.lab.exec(
      'node/worker1',
      'iptables',
      '-t',
      'nat',
      '-A',
      'KUBE-SERVICES',
      '-s',
      '192.0.2.9',
      '-j',
      'RETURN',
    )
    const row = page.getByRole('row').filter({ hasText: '192.0.2.9' }).first()
    await row.waitFor()
    expect(await row.textContent()).toContain('by hand')
  })
})

describe.skipIf(whyNoWindow())('a lab whose holder is killed', () => {
  test('is told as gone, what was shown stays, and a new one is opened with the words that are shown', async () => {
    const window = await launchWindow()
    const again: WebEntry[] = []
    try {
      const { page, lab } = window
      await page
        .getByRole('treeitem', { name: /http-server/ })
        .first()
        .waitFor()
      const holder = findLab(lab.name)
      if (!holder) throw new Error('the lab has no holder')
      process.kill(holder.pid, 'SIGKILL')
      const banner = page.getByRole('status').filter({ hasText: 'The lab has gone.' })
      await banner.waitFor()
      expect(await banner.locator('code').textContent()).toBe(`chainwalk serve --name ${lab.name}`)
      expect(await page.getByRole('treeitem', { name: /http-server/ }).count()).toBeGreaterThan(0)
      expect(await findSerious(page)).toEqual([])
      await window.server.ended
      again.push(await startServe(['--name', lab.name, '-f', 'lab-scripts/manifests/http-server.yaml']))
      await page.goto(again[0]?.link ?? '')
      await page.getByText(/running · 3 nodes · 3 pods/).waitFor()
    } finally {
      // Ends the lab of that name, the new one; there is none where the test failed before.
      await window.close().catch(() => undefined)
      for (const server of again) await server.stop()
    }
  })
})

describe.skipIf(whyNoWindow())('accessibility', () => {
  test.each(['dark', 'light'] as const)('axe finds nothing serious in any view, %s', async (colorScheme) => {
    const window = await launchWindow({ colorScheme })
    try {
      const { page } = window
      const found: string[] = []
      for (const view of [1, 2, 3, 4, 5]) {
        await page.keyboard.press(`Control+${view}`)
        await page.waitForTimeout(1500)
        for (const fault of await findSerious(page)) found.push(`view ${view}: ${fault}`)
      }
      expect(found).toEqual([])
    } finally {
      await window.close()
    }
  })
})

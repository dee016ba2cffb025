import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findSerious } from './find-serious.ts'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

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

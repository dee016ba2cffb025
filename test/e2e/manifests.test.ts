import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tabTo } from './keyboard.ts'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

const patience = { timeout: 20_000 }

const SERVICE = `apiVersion: v1
kind: Service
metadata:
  name: second
spec:
  clusterIP: 10.96.7.7
  selector:
    app: http-server
  ports:
  - port: 8080
    targetPort: 80
`

/** Keys alone, from the moment the window is there. */
describe.skipIf(whyNoWindow())('a manifest in the window', () => {
  let window: LabWindow
  let page: Page
  beforeAll(async () => {
    window = await launchWindow()
    page = window.page
  })
  afterAll(() => window?.close())

  const result = () => page.getByRole('region', { name: 'Result' })
  const write = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+5')
    await tabTo(page, /^Manifest, YAML/)
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(text)
  }
  const kernel = async (): Promise<string> =>
    (await window.lab.exec('node/worker1', 'iptables', '-t', 'nat', '-S', 'KUBE-SERVICES')).stdout

  test('is previewed as the rules it would make, and applied: its chains appear', async () => {
    await write(SERVICE)
    await page.keyboard.press('Control+Enter')
    const rules = result()
      .getByRole('region', { name: 'Rule changes' })
      .or(result().getByLabel('Rule changes'))
    await expect.poll(() => rules.first().textContent(), patience).toContain('10.96.7.7')
    expect(await kernel()).not.toContain('10.96.7.7')

    await page.keyboard.press('Control+Shift+Enter')
    await expect.poll(kernel, patience).toContain('-d 10.96.7.7/32')
    await page.keyboard.press('Control+3')
    await page.getByRole('row').filter({ hasText: '10.96.7.7' }).first().waitFor()
    expect(window.problems).toEqual([])
  })

  test('that is wrong is refused at its line, and nothing changes', async () => {
    const before = await kernel()
    await write(SERVICE.replace('port: 8080', 'port: 99999').replace('10.96.7.7', '10.96.7.8'))
    await page.keyboard.press('Control+Enter')
    const problem = result().getByRole('list', { name: 'Problems' }).getByRole('button').first()
    await expect.poll(() => problem.textContent(), patience).toMatch(/line 10[^\d].*spec\.ports\[0\]\.port/s)
    expect(await page.locator('.cm-lint-marker-error').count()).toBeGreaterThan(0)
    expect(await kernel()).toBe(before)
    await problem.press('Enter')
    await expect.poll(() => page.locator('.cm-activeLine').textContent(), patience).toContain('99999')
  })

  test('that cannot be parsed is told at the line where it breaks', async () => {
    const before = await kernel()
    await write(SERVICE.replace('  ports:', '\tports:'))
    await page.keyboard.press('Control+Enter')
    const problem = result().getByRole('list', { name: 'Problems' }).getByRole('button').first()
    await expect.poll(() => problem.textContent(), patience).toMatch(/line 9\D.*tab/s)
    expect(await page.locator('.cm-lint-marker-error').count()).toBeGreaterThan(0)
    expect(await kernel()).toBe(before)
  })
})

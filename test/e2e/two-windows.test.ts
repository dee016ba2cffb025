import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { launchBrowser } from './browser.ts'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

const patience = { timeout: 10_000, interval: 100 }

describe.skipIf(whyNoWindow())('two windows of one lab', () => {
  let window: LabWindow
  beforeAll(async () => {
    window = await launchWindow()
  })
  afterAll(() => window?.close())

  test('a terminal that one opens comes to the other and goes from both, and each keeps what it shows', async () => {
    const { page } = window
    const tabsOf = (of: typeof page) => of.getByRole('tablist', { name: 'Terminals' }).getByRole('tab')
    const names = (of: typeof page) => async () =>
      (await tabsOf(of).allTextContents()).map((text) => text.replace(/[\s×]+/g, ' ').trim())
    await expect.poll(names(page), patience).toEqual(['client'])
    const browser = await launchBrowser()
    onTestFinished(() => browser.close())
    const other = await browser.newPage()
    await other.goto(window.server.link)
    await expect.poll(names(other), patience).toEqual(['client'])

    await page.getByRole('button', { name: 'Open a terminal' }).click()
    await page.getByRole('menuitem', { name: 'worker1' }).click()
    await expect.poll(names(page), patience).toEqual(['client', 'node worker1'])
    await expect.poll(names(other), patience).toEqual(['client', 'node worker1'])
    const shown = other.getByRole('tab', { selected: true, name: /client/ })
    expect(await shown.count()).toBe(1)

    await tabsOf(other).filter({ hasText: 'worker1' }).click()
    await other.keyboard.type('echo seen in $((40 + 2)) windows\n')
    await expect
      .poll(() => page.locator('.xterm-rows').filter({ hasText: 'seen in 42 windows' }).count(), patience)
      .toBe(1)

    await tabsOf(page).filter({ hasText: 'worker1' }).press('Delete')
    await expect.poll(names(page), patience).toEqual(['client'])
    await expect
      .poll(async () => (await names(other)()).join(), patience)
      .toMatch(/^client,node worker1 ?\(ended\)$/)
    expect(window.problems).toEqual([])
  })
})

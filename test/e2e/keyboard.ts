import type { Page } from 'playwright-core'

const MOST_PRESSES = 120

/**
 * Brings the keyboard by keys alone to what has that name (its label, or else its text) in the main part of the window:
 * F6 leads out of a terminal, which takes Tab for itself.
 */
export async function tabTo(
  page: Page,
  name: string | RegExp,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  const main = page.locator('main')
  await main.getByLabel(name).or(main.getByText(name)).first().waitFor()
  const isInMain = () => page.evaluate(() => document.activeElement?.closest('main') != null)
  for (let presses = 0; presses < 8 && !(await isInMain()); presses += 1) await page.keyboard.press('F6')
  const nameOf = () =>
    page.evaluate(() => {
      const { activeElement } = document
      return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent?.trim() ?? ''
    })
  for (let presses = 0; presses < MOST_PRESSES; presses += 1) {
    const now = await nameOf()
    if (typeof name === 'string' ? now === name : name.test(now)) return
    await page.keyboard.press(key)
  }
  throw new Error(`${key} does not lead to ${name}`)
}

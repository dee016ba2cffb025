import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

describe.skipIf(whyNoWindow())('the window in a browser', () => {
  let window: LabWindow
  beforeAll(async () => {
    window = await launchWindow()
  })
  afterAll(() => window?.close())

  test('shows the lab, with no fault in the console and nothing asked outside', async () => {
    expect(await window.page.title()).toContain('Chainwalk')
    expect(new URL(window.page.url()).search).toBe('')
    expect(window.problems).toEqual([])
  })

  test('comes back after a reload', async () => {
    await window.page.reload()
    await window.page.getByText(window.lab.name).first().waitFor()
    expect(window.problems).toEqual([])
  })
})

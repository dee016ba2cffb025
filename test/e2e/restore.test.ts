import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findSerious } from './find-serious.ts'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

const patience = { timeout: 10_000, interval: 100 }

describe.skipIf(whyNoWindow())('restoring a node’s rules in the window', () => {
  let window: LabWindow
  beforeAll(async () => {
    window = await launchWindow()
  })
  afterAll(() => window?.close())

  const iptables = async (...words: string[]): Promise<void> => {
    await window.lab.exec('node/worker1', 'iptables', '-t', 'nat', ...words)
  }
  const saved = async (): Promise<string> =>
    (await window.lab.exec('node/worker1', 'iptables-save', '-t', 'nat')).stdout

  test('asks first where rules by hand go with it, and does it at once where none do', async () => {
    const { page } = window
    await page
      .getByRole('treeitem', { name: /worker1/ })
      .first()
      .click()
    await page.keyboard.press('Control+3')
    await iptables('-A', 'KUBE-SERVICES', '-s', '192.0.2.9', '-j', 'RETURN')
    await iptables('-A', 'OUTPUT', '-s', '192.0.2.10', '-j', 'RETURN')
    await iptables('-F', 'KUBE-MARK-MASQ')
    const restore = page.getByRole('button', { name: 'Restore', exact: true })
    const dialog = page.getByRole('dialog', { name: 'Restore the rules of worker1' })
    await restore.first().click()
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
      '-t nat -A KUBE-SERVICES -s 192.0.2.9/32 -j RETURN',
    ])
    expect(await dialog.textContent()).toContain('1 rule that was added to them by hand goes')
    expect(await findSerious(page)).toEqual([])

    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await saved()).toContain('192.0.2.9')
    expect(await saved()).not.toContain('-A KUBE-MARK-MASQ ')

    await restore.first().click()
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await expect.poll(saved, patience).toContain('-A KUBE-MARK-MASQ ')
    expect(await saved()).not.toContain('192.0.2.9')
    expect(await saved()).toContain('192.0.2.10')

    await iptables('-F', 'KUBE-MARK-MASQ')
    await restore.first().click()
    await expect.poll(saved, patience).toContain('-A KUBE-MARK-MASQ ')
    expect(await dialog.isVisible()).toBe(false)
    expect(window.problems).toEqual([])
  })
})

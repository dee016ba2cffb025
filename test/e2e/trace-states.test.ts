import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findSerious } from './find-serious.ts'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

const NODE_PORT = 'http://172.18.0.3:32054/'
const commandOf = (page: Page) => page.getByRole('textbox', { name: 'send' })

describe.skipIf(whyNoWindow())('what the Trace view says beside the packets', () => {
  let window: LabWindow
  let page: Page
  let drop: () => Promise<void>

  beforeAll(async () => {
    window = await launchWindow()
    page = window.page
    await page.routeWebSocket(/.*/, (socket) => {
      socket.connectToServer()
      drop = () => socket.close()
    })
    await page.reload()
    await page.getByText(window.lab.name).first().waitFor()
  })
  afterAll(() => window?.close())

  const command = () => commandOf(page)
  const step = () =>
    page.getByRole('listbox', { name: /^Steps of packet/ }).getByRole('option', { selected: true })
  const onNode = async (node: string, ...argv: string[]): Promise<void> => {
    const { code, stderr } = await window.lab.exec(`node/${node}`, ...argv)
    if (code !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`)
  }

  test('why it failed, what proves it, and the step that shows it; rules that did not match', async () => {
    await onNode('worker1', 'iptables', '-I', 'FORWARD', '-s', '192.0.2.1', '-j', 'ACCEPT')
    await onNode('worker1', 'iptables', '-I', 'FORWARD', '2', '-p', 'tcp', '--dport', '80', '-j', 'DROP')
    try {
      await page.keyboard.press('Control+4')
      await command().fill(`curl -sS --max-time 1 ${NODE_PORT}`)
      await page.keyboard.press('Enter')
      const finding = page.getByRole('region', { name: 'Why it failed' })
      await finding.waitFor()
      const said = await finding.textContent()
      expect(said).toContain('The packet was dropped by rule 2 of FORWARD (table filter) on worker1.')
      expect(said).toContain('The rule: -A FORWARD -p tcp -m tcp --dport 80 -j DROP')
      expect(said).toContain('iptables -t filter -D FORWARD 2')
      await finding.getByRole('button', { name: 'Show the step' }).click()
      expect(await step().getAttribute('aria-label')).toContain('worker1, FORWARD filter, FORWARD 2, DROP')
      const inspector = page.getByRole('complementary', { name: 'Inspector' })
      const skipped = await inspector.textContent()
      expect(skipped).toContain('1 rule of FORWARD before it did not match')
      expect(skipped).toContain('source is 172.18.0.254, the rule wants 192.0.2.1')
      expect(await findSerious(page)).toEqual([])
    } finally {
      await onNode('worker1', 'iptables', '-D', 'FORWARD', '2')
      await onNode('worker1', 'iptables', '-D', 'FORWARD', '1')
    }
  })

  test('what the trace could not be sure of', async () => {
    // The command waits for the rule that is written meanwhile.
    const wait = 'until [ -e /tmp/go-on ]; do sleep 0.05; done; rm /tmp/go-on'
    await command().fill(`sh -c '${wait}; curl -s -o /dev/null --max-time 3 ${NODE_PORT}'`)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Stop' }).and(page.locator(':enabled')).waitFor()
    await onNode('worker2', 'iptables', '-A', 'OUTPUT', '-d', '192.0.2.1', '-j', 'ACCEPT')
    await window.lab.exec('client', 'touch', '/tmp/go-on')
    const gaps = page.getByRole('region', { name: 'What the trace could not see' })
    await gaps.waitFor()
    expect(await gaps.textContent()).toContain('the rules of node/worker2 changed while the trace ran')
    expect(await page.getByRole('region', { name: 'Why it failed' }).count()).toBe(0)
  })

  test('the lab goes while a trace runs: it says so, and comes back', async () => {
    await command().fill('sleep 60')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Stop' }).and(page.locator(':enabled')).waitFor()
    await drop()
    await page.getByText('The lab was lost while the trace ran.').waitFor()
    await command().fill(`curl -sS --max-time 3 ${NODE_PORT}`)
    await page
      .getByRole('button', { name: 'Trace', exact: true })
      .last()
      .and(page.locator(':enabled'))
      .waitFor()
    await command().press('Enter')
    await page.getByRole('listbox', { name: 'Packets' }).waitFor()
    expect(window.problems).toEqual([])
  })
})

describe.skipIf(whyNoWindow())('the Trace view of a lab with iptables-legacy', () => {
  test('says in one sentence that it cannot trace, and predicts', async () => {
    const window = await launchWindow({ more: ['--backend', 'legacy'] })
    try {
      const { page } = window
      await page.keyboard.press('Control+4')
      await page.getByRole('heading', { name: 'This lab cannot trace' }).waitFor()
      expect(await page.getByRole('form').getByRole('button', { name: 'Trace' }).count()).toBe(0)
      await commandOf(page).fill(`curl ${NODE_PORT}`)
      await page.keyboard.press('Enter')
      const ways = page.getByRole('listbox', { name: 'Predicted ways' }).getByRole('option')
      await ways.first().waitFor()
      expect(await ways.count()).toBe(3)
      expect(window.problems).toEqual([])
    } finally {
      await window.close()
    }
  })
})

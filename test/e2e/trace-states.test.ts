import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabStatus } from '../../src-main/contract/lab-contract.ts'
import type { TraceResult } from '../../src-main/domain/trace/journey.ts'
import { findSerious } from './find-serious.ts'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

/** What the lab answers on the way to the page, to be changed there. */
interface Answer {
  result?: unknown
}

const isTraceResult = (result: unknown): result is TraceResult =>
  typeof result === 'object' && result !== null && 'journeys' in result && 'gaps' in result
const isStatus = (result: unknown): result is LabStatus =>
  typeof result === 'object' && result !== null && 'iptables' in result && 'nodes' in result

describe.skipIf(whyNoWindow())('what the Trace view says beside the packets', () => {
  let window: LabWindow
  let page: Page
  let change: (answer: Answer) => void = () => undefined
  let drop: () => Promise<void>

  beforeAll(async () => {
    window = await launchWindow()
    page = window.page
    await page.routeWebSocket(/.*/, (socket) => {
      const server = socket.connectToServer()
      drop = () => socket.close()
      server.onMessage((message) => {
        const answer = JSON.parse(message.toString()) as Answer
        change(answer)
        socket.send(JSON.stringify(answer))
      })
    })
    await page.reload()
    await page.getByText(window.lab.name).first().waitFor()
  })
  afterAll(() => window?.close())

  const command = () => page.getByRole('textbox', { name: 'send' })
  const step = () =>
    page.getByRole('listbox', { name: /^Steps of packet/ }).getByRole('option', { selected: true })

  test('why it failed, what proves it, and the step that shows it; rules that did not match; gaps', async () => {
    change = (answer) => {
      const { result } = answer
      if (!isTraceResult(result)) return
      const [first] = result.journeys
      if (!first) return
      const hops = first.hops.map((hop, at) =>
        at === 1
          ? {
              ...hop,
              skipped: [
                {
                  rule: 1,
                  text: '-d 10.107.38.142/32 -j X',
                  why: 'destination is 172.18.0.3, the rule wants 10.107.38.142',
                },
              ],
              skippedCount: 45,
            }
          : hop,
      )
      answer.result = {
        ...result,
        journeys: [{ ...first, hops }, ...result.journeys.slice(1)],
        gaps: ['the rules of worker2 changed while the trace ran'],
        finding: {
          kind: 'closed-port',
          sentence: 'nothing listens on port 80 of the pod',
          proof: ['the pod answered with RST'],
          remedy: 'start the program',
          at: { journey: first.id, hop: 1 },
        },
      } satisfies TraceResult
    }
    await page.keyboard.press('Control+4')
    await command().fill('curl -sS --max-time 3 http://172.18.0.3:32054/')
    await page.keyboard.press('Enter')
    const finding = page.getByRole('region', { name: 'Why it failed' })
    await finding.waitFor()
    const said = await finding.textContent()
    for (const words of ['nothing listens on port 80', 'answered with RST', 'start the program'])
      expect(said).toContain(words)
    expect(await page.getByRole('region', { name: 'What the trace could not see' }).textContent()).toContain(
      'the rules of worker2 changed',
    )
    await finding.getByRole('button', { name: 'Show the step' }).click()
    expect(await step().getAttribute('aria-label')).toContain(
      'Step 2: worker1, PREROUTING nat, KUBE-SERVICES 3',
    )
    const inspector = page.getByRole('complementary', { name: 'Inspector' })
    const skipped = await inspector.textContent()
    expect(skipped).toContain('45 rules of KUBE-SERVICES before it did not match')
    expect(skipped).toContain('destination is 172.18.0.3, the rule wants 10.107.38.142')
    expect(skipped).toContain('and 44 more')
    expect(await findSerious(page)).toEqual([])
  })

  test('the lab goes while a trace runs: it says so, and comes back', async () => {
    change = () => undefined
    await command().fill('sleep 60')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Stop' }).and(page.locator(':enabled')).waitFor()
    await drop()
    await page.getByText('The lab was lost while the trace ran.').waitFor()
    await command().fill('curl -sS --max-time 3 http://172.18.0.3:32054/')
    await page
      .getByRole('button', { name: 'Trace', exact: true })
      .last()
      .and(page.locator(':enabled'))
      .waitFor()
    await command().press('Enter')
    await page.getByRole('listbox', { name: 'Packets' }).waitFor()
  })

  test('with iptables-legacy it says so in one sentence, and predicts', async () => {
    change = (answer) => {
      if (isStatus(answer.result)) answer.result = { ...answer.result, iptables: 'legacy' }
    }
    await page.reload()
    await page.keyboard.press('Control+4')
    await page.getByRole('heading', { name: 'This lab cannot trace' }).waitFor()
    expect(await page.getByRole('form').getByRole('button', { name: 'Trace' }).count()).toBe(0)
    await command().press('Enter')
    await page.getByRole('listbox', { name: 'Predicted ways' }).waitFor()
    expect(window.problems).toEqual([])
  })
})

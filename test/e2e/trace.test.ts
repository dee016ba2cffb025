import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Hop, TraceResult } from '../../src-main/domain/trace/journey.ts'
import { findSerious } from './find-serious.ts'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

const patience = { timeout: 20_000 }
const EXT = 'KUBE-EXT-C3VEVZBK3X2BH5IZ'
const SVC = 'KUBE-SVC-C3VEVZBK3X2BH5IZ'

/** The rule of the Service that draws each endpoint, the endpoint's chain and its node. */
const ENDPOINTS: Readonly<Record<string, readonly [rule: number, chain: string, node: string]>> = {
  '10.244.1.7': [2, 'KUBE-SEP-CSX7IHMEJEFRGWR3', 'worker1'],
  '10.244.2.8': [3, 'KUBE-SEP-OA3M7KOBU4RDVFB2', 'worker2'],
  '10.244.2.9': [4, 'KUBE-SEP-BUCDLVVNG6OODNBK', 'worker2'],
}

/** `node hook table chain rule`, as kube-proxy's design has a client's first packet to the NodePort of worker1. */
function expectedWay(endpoint: string): string[] {
  const [rule, chain, node] = ENDPOINTS[endpoint] ?? []
  const prerouting = [
    'PREROUTING 1',
    'KUBE-SERVICES 3',
    'KUBE-NODEPORTS 1',
    `${EXT} 1`,
    'KUBE-MARK-MASQ 1',
    'KUBE-MARK-MASQ end',
    `${EXT} 2`,
    `${SVC} ${rule}`,
    `${chain} 2`,
  ]
  const on = (place: string, rules: readonly string[]): string[] => rules.map((each) => `${place} ${each}`)
  const onWorker1 = [
    ...on('worker1 PREROUTING nat', prerouting),
    ...on('worker1 FORWARD filter', ['FORWARD 1', 'KUBE-PROXY-FIREWALL end', 'FORWARD 2', 'KUBE-FORWARD 2']),
    ...on('worker1 POSTROUTING nat', ['POSTROUTING 1', 'KUBE-POSTROUTING 2', 'KUBE-POSTROUTING 3']),
  ]
  if (node === 'worker1') return onWorker1
  const forward = [
    ...['FORWARD 1', 'KUBE-PROXY-FIREWALL end', 'FORWARD 2', 'KUBE-FORWARD end'],
    ...['FORWARD 3', 'KUBE-SERVICES end', 'FORWARD 4', 'KUBE-EXTERNAL-SERVICES end', 'FORWARD policy'],
  ]
  return [
    ...onWorker1,
    ...on('worker2 PREROUTING nat', ['PREROUTING 1', 'KUBE-SERVICES end', 'PREROUTING policy']),
    ...on('worker2 FORWARD filter', forward),
    ...on('worker2 POSTROUTING nat', ['POSTROUTING 1', 'KUBE-POSTROUTING 1', 'POSTROUTING policy']),
  ]
}

describe.skipIf(whyNoWindow())('the Trace view', () => {
  let window: LabWindow
  let page: Page
  /** What the lab answered to the page's own `trace/stop`. */
  let results: TraceResult[]

  beforeAll(async () => {
    window = await launchWindow()
    page = window.page
    results = []
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        const { result } = JSON.parse(payload.toString()) as { result?: Partial<TraceResult> | null }
        if (result?.journeys && result.gaps) results.push(result as TraceResult)
      }),
    )
    await page.reload()
    await page.getByText(window.lab.name).first().waitFor()
  })
  afterAll(() => window?.close())
  afterEach(() => {
    expect(window?.problems ?? []).toEqual([])
  })

  const command = () => page.getByRole('textbox', { name: 'send' })
  const steps = () => page.getByRole('listbox', { name: /^Steps of packet/ })
  const step = () => steps().getByRole('option', { selected: true })
  const field = (name: string) => page.locator(`dl[aria-label="Packet header"] [data-field="${name}"] dd`)
  const inspector = () => page.getByRole('complementary', { name: 'Inspector' })

  /** The page has the keyboard's focus on the steps. */
  const atSteps = () =>
    expect
      .poll(
        () =>
          steps()
            .evaluate((list) => list === document.activeElement)
            .catch(() => false),
        patience,
      )
      .toBe(true)

  async function trace(text: string): Promise<TraceResult> {
    const before = results.length
    await page.keyboard.press('Control+4')
    await command().fill(text)
    await page.keyboard.press('Enter')
    await expect.poll(() => results.length, patience).toBe(before + 1)
    const result = results.at(-1)
    if (!result) throw new Error('there is no result')
    return result
  }

  const ruleOf = ({ chain, rule, isChainEnd }: Hop): string =>
    `${chain} ${rule ?? (isChainEnd ? 'end' : 'policy')}`
  const placeOf = (hop: Hop): string => `${hop.node} ${hop.hook} ${hop.table} ${ruleOf(hop)}`

  test('steps through a NodePort request with the keyboard; header, rule and Path agree at each step', async () => {
    const { journeys } = await trace('curl -sSm 3 http://172.18.0.3:32054/')
    const [first] = journeys
    if (!first) throw new Error('no packet was traced')
    const dnat = first.hops.find(({ verdict }) => verdict === 'DNAT')
    const endpoint = dnat?.becomes?.dst ?? ''
    expect(first.hops.map(placeOf)).toEqual(expectedWay(endpoint))
    await atSteps()

    for (const [at, hop] of first.hops.entries()) {
      const rule = ruleOf(hop)
      const name = await step().getAttribute('aria-label')
      expect(name).toContain(`Step ${at + 1}: ${hop.node}, ${hop.hook} ${hop.table}, ${rule}`)
      // Beside it: the rule, and the header as the kernel told it.
      expect(await inspector().getByRole('heading', { level: 2, name: rule, exact: true }).count()).toBe(1)
      const { src, sport, dst, dport } = hop.packet
      expect(await field('source').textContent()).toContain(`${src}:${sport}`)
      expect(await field('destination').textContent()).toContain(`${dst}:${dport}`)
      if (hop.verdict === 'DNAT')
        expect(await field('destination').textContent()).toMatch(/172\.18\.0\.3:32054 → +10\.244\.\d\.\d:80/)
      if (hop.verdict === 'MARK' && hop.chain === 'KUBE-MARK-MASQ')
        expect(await field('mark').textContent()).toMatch(/0x0 → +0x4000/)
      if (hop.verdict === 'MASQUERADE')
        expect(await field('source').textContent()).toMatch(/172\.18\.0\.254:\d+ → /)

      // Path shows the same step: the table at the hook, and the rule where its chain is drawn.
      await page.keyboard.press('Control+1')
      const cell = page.getByRole('button', { name: `${hop.table} table at ${hop.hook}`, pressed: true })
      await cell.waitFor()
      expect(await page.locator('.map [aria-pressed="true"]').count()).toBe(1)
      expect(await page.getByRole('region', { name: `Packet path of ${hop.node}` }).count()).toBe(1)
      if (hop.table === 'nat' && hop.rule !== null && hop.chain.startsWith('KUBE-')) {
        const row = page.locator('.row.selected [role=button]')
        await row.waitFor()
        expect(await row.getAttribute('aria-label')).toContain(`Rule ${hop.rule} of ${hop.chain}:`)
      }
      await page.keyboard.press('Control+4')
      await atSteps()
      await page.keyboard.press('ArrowRight')
    }
    // The last step stays the last.
    expect(await step().getAttribute('aria-label')).toContain(`Step ${first.hops.length}:`)
  })

  test('beside the step stands the connection’s entry in the node’s conntrack table', async () => {
    await page.keyboard.press('Home')
    const first = results.at(-1)?.journeys[0]?.hops[0]?.packet
    const text = `${first?.src}:${first?.sport} → 172.18.0.3:32054`
    const entry = inspector().getByText(text)
    await entry.waitFor()
    expect(await inspector().textContent()).toContain('both sides translated (DNAT and SNAT)')
  })

  test('Home, End, D and the arrows lead where they say; later packets show conntrack’s work', async () => {
    await page.keyboard.press('Home')
    expect(await step().getAttribute('aria-label')).toContain('Step 1: worker1, PREROUTING nat, PREROUTING 1')
    await page.keyboard.press('d')
    expect(await step().getAttribute('aria-label')).toContain('DNAT, dst → 10.244.')
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowLeft')
    const hops = results.at(-1)?.journeys[0]?.hops ?? []
    expect(await step().getAttribute('aria-label')).toContain(`Step ${hops.length - 1}:`)
    await page.keyboard.press('ArrowDown')
    const packet = page.getByRole('listbox', { name: 'Packets' }).getByRole('option', { selected: true })
    expect(await packet.textContent()).toMatch(/SYN ACK.*reply, later.*delivered/s)
    await page.keyboard.press('d')
    expect(await step().getAttribute('aria-label')).toContain('conntrack, NAT, dst → 172.18.0.254:')
    await page.keyboard.press('ArrowUp')
    expect(await packet.textContent()).toMatch(/SYN.*request, first/s)
  })

  test('a pod’s request is predicted with its draws, then traced, then compared', async () => {
    const sender = page.getByLabel('From')
    const name = await sender
      .getByRole('option', { name: /^http-s/ })
      .first()
      .textContent()
    await sender.selectOption({ label: name ?? '' })
    expect(await command().inputValue()).toBe('curl -sSm 3 http://10.107.38.142/')
    await page.getByRole('button', { name: 'Predict' }).click()
    const ways = page.getByRole('listbox', { name: 'Predicted ways' }).getByRole('option')
    await ways.first().waitFor()
    const texts = await ways.allTextContents()
    expect(texts.map((text) => /to (10\.244\.\d\.\d):80/.exec(text)?.[1]).sort()).toEqual(
      Object.keys(ENDPOINTS),
    )
    for (const text of texts) expect(text).toContain('chance 1/3')
    await trace('curl -sSm 3 http://10.107.38.142/')
    await page.getByText('The packet went as predicted, one that had the chance 1/3.').waitFor()
    expect(await steps().getByLabel('not as predicted').count()).toBe(0)
  })

  test('what was predicted from other rules is marked where the packet parted from it', async () => {
    await page.getByRole('button', { name: 'Predict', exact: true }).click()
    await page.getByRole('listbox', { name: 'Predicted ways' }).waitFor()
    const hide = ['iptables', '-I', 'FORWARD', '-d', '10.244.0.0/16', '-p', 'tcp', '-j', 'DROP']
    for (const node of ['worker1', 'worker2']) await window.lab.exec(`node/${node}`, ...hide)
    const { journeys } = await trace('curl -sSm 3 http://10.107.38.142/')
    expect(journeys[0]?.verdict).toBe('dropped')
    await page
      .getByText(/FORWARD 1 → KUBE-PROXY-FIREWALL on worker1 was predicted, FORWARD 1 DROP on worker1 came/)
      .waitFor()
    const packets = page.getByRole('listbox', { name: 'Packets' }).getByRole('option')
    expect(await packets.first().textContent()).toContain('dropped')
    await page.getByRole('button', { name: 'Show the step' }).first().click()
    expect(await step().getAttribute('aria-label')).toContain('FORWARD filter, FORWARD 1, DROP')
    await page.keyboard.press('Control+4')
    for (const node of ['worker1', 'worker2'])
      await window.lab.exec(`node/${node}`, 'iptables', '-D', 'FORWARD', ...hide.slice(3))
  })

  test('a command that goes on is stopped, and what came until then is shown', async () => {
    await page.keyboard.press('Control+4')
    await command().fill('ping -i 0.2 172.18.0.4')
    await page.keyboard.press('Enter')
    await page.getByLabel('What the command printed').getByText('icmp_seq=2').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    const packets = page.getByRole('listbox', { name: 'Packets' }).getByRole('option')
    await packets.first().waitFor()
    expect(await packets.first().textContent()).toContain('icmp')
  })

  test('the palette traces from a host of the lab', async () => {
    const before = results.length
    await page.keyboard.press('Control+1')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('trace http-svc-node-port node port from the client')
    await page.keyboard.press('Enter')
    await expect.poll(() => results.length, patience).toBe(before + 1)
    await steps().waitFor()
  })

  test('axe finds nothing serious, with a trace and with a prediction', async () => {
    expect(await findSerious(page)).toEqual([])
    await page.getByRole('button', { name: 'Predict', exact: true }).click()
    await page.getByRole('listbox', { name: 'Predicted ways' }).waitFor()
    expect(await findSerious(page)).toEqual([])
  })
})

import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { findSerious } from './find-serious.ts'
import { tabTo } from './keyboard.ts'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

const patience = { timeout: 20_000 }
const NODE_PORT = 'http://172.18.0.3:32054/'

/** Packets of a pcap file, by its record headers. */
function countPackets(pcap: Buffer): number {
  expect(pcap.readUInt32LE(0)).toBe(0xa1b2c3d4)
  let packets = 0
  for (let at = 24; at < pcap.length; at += 16 + pcap.readUInt32LE(at + 8)) packets += 1
  return packets
}

describe.skipIf(whyNoWindow())('what stands beside a trace', () => {
  let window: LabWindow
  let page: Page

  beforeAll(async () => {
    window = await launchWindow()
    page = window.page
  })
  afterAll(() => window?.close())
  afterEach(() => {
    expect(window?.problems ?? []).toEqual([])
  })

  const panel = () => page.getByRole('region', { name: 'Beside the trace' })
  const tab = (name: string) =>
    panel().getByRole('group', { name: 'What to show' }).getByRole('button', { name })
  const curl = () => window.lab.exec('client', 'curl', '-sSm', '3', NODE_PORT)

  async function open(name: string): Promise<void> {
    await page.keyboard.press('Control+4')
    if ((await tab(name).getAttribute('aria-expanded')) !== 'true') await tab(name).click()
  }

  test('the conntrack table of the step’s node shows the traced connection, and all others when asked', async () => {
    await page.keyboard.press('Control+4')
    await page.getByRole('textbox', { name: 'send' }).fill(`curl -sSm 3 ${NODE_PORT}`)
    await page.keyboard.press('Enter')
    await page.getByRole('listbox', { name: /^Steps of packet/ }).waitFor()
    await open('Connections')
    const rows = panel().getByRole('list', { name: 'Connections of worker1' }).getByRole('listitem')
    await expect.poll(() => rows.count(), patience).toBe(1)
    const row = await rows.textContent()
    const kernel = (await window.lab.exec('node/worker1', 'conntrack', '-L', '-p', 'tcp')).stdout
    const entry =
      /src=(\S+) dst=172\.18\.0\.3 sport=(\d+) dport=32054 .*src=(10\.244\.\S+) dst=(\S+) sport=80 dport=(\d+)/
    const [, client, port, pod, node, nodePort] = entry.exec(kernel) ?? []
    expect(row).toContain(`asks${client}:${port} → 172.18.0.3:32054`)
    expect(row?.replaceAll(/\s+/g, ' ')).toContain(`answers${pod}:80 → ${node}:${nodePort}`)
    expect(row).toContain('DNAT + SNAT')

    // A connection of somebody else comes while the table is looked at.
    await window.lab.exec('node/worker1', 'curl', '-sSm', '3', 'http://10.107.38.142/')
    expect(await rows.count()).toBe(1)
    await panel().getByLabel('this packet’s connection only').uncheck()
    await panel()
      .getByText(/10\.107\.38\.142:80/)
      .first()
      .waitFor()
    await panel().getByLabel('this packet’s connection only').check()
    await expect.poll(() => rows.count(), patience).toBe(1)
    expect(await findSerious(page)).toEqual([])
  })

  test('keys of the trace stay out of what stands beside it', async () => {
    const step = page
      .getByRole('listbox', { name: /^Steps of packet/ })
      .getByRole('option', { selected: true })
    await page.keyboard.press('Control+4')
    const before = await step.getAttribute('aria-label')
    await panel().getByRole('list').focus()
    await page.keyboard.press('ArrowRight')
    expect(await step.getAttribute('aria-label')).toBe(before)
  })

  test('packets of a link appear as tcpdump prints them, and are saved as pcap', async () => {
    await page.keyboard.press('Control+1')
    // By the keyboard alone: palette, host, link, filter.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Capture packets on a link')
    await page.keyboard.press('Enter')
    const form = panel().getByRole('form', { name: 'What to capture' })
    await form.waitFor()
    await form.getByLabel('On').selectOption({ label: 'worker1' })
    expect(await form.getByLabel('link').inputValue()).toBe('eth0')
    await form.getByLabel('filter').fill('tcp port 32054')
    await page.keyboard.press('Enter')
    await panel().getByText('Capturing on worker1 eth0').waitFor()
    const answer = await curl()
    expect(answer.stdout).toContain('http-server-')
    const packets = panel().getByRole('log', { name: 'Captured packets' })
    await packets.getByText(/172\.18\.0\.254\.\d+ > 172\.18\.0\.3\.32054: Flags \[S\]/).waitFor()
    await tabTo(page, 'Stop')
    await page.keyboard.press('Enter')
    const said = panel().getByText(/^worker1 eth0: \d+ packets captured$/)
    await said.waitFor()
    const count = Number(/: (\d+)/.exec((await said.textContent()) ?? '')?.[1])
    expect(count).toBeGreaterThanOrEqual(8) // handshake, request, answer, end
    expect(await packets.getByText(/ IP | Flags /).count()).toBe(count)
    const download = page.waitForEvent('download')
    await panel().getByRole('button', { name: 'Save pcap' }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe('chainwalk-worker1-eth0.pcap')
    expect(countPackets(await readFile(await file.path()))).toBe(count)
    expect(await findSerious(page)).toEqual([])
  })

  test('a filter that tcpdump does not know is refused in its words', async () => {
    await open('Capture')
    await panel().getByLabel('filter').fill('tcp prt 80')
    await page.keyboard.press('Enter')
    await panel()
      .getByRole('alert')
      .getByText(/syntax error/)
      .waitFor()
    await panel().getByLabel('filter').fill('')
  })

  test('a link of the topology is captured from there, by keys alone', async () => {
    await page.keyboard.press('Control+2')
    await tabTo(page, /^client/)
    await page.keyboard.press('ArrowLeft')
    const cable = page.getByRole('button', { name: /^cable between client eth0/ })
    await expect.poll(() => cable.evaluate((plug) => plug === document.activeElement), patience).toBe(true)
    await page.keyboard.press('Enter')
    // What can be done with it stands above the picture.
    await tabTo(page, /^Capture .*\(tcpdump\)/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await panel().getByText('Capturing on client eth0').waitFor()
    await curl()
    await panel()
      .getByRole('log', { name: 'Captured packets' })
      .getByText(/32054: Flags \[S\]/)
      .waitFor()
    // It goes on while another view is shown.
    await page.keyboard.press('Control+1')
    await page.keyboard.press('Control+4')
    await tabTo(page, 'Stop')
    await page.keyboard.press('Enter')
    await panel()
      .getByText(/^client eth0: \d+ packets captured$/)
      .waitFor()
  })

  test('an NFLOG rule’s lines come; a LOG rule is told to be silent, with what to type instead', async () => {
    const node = 'node/worker1'
    await open('Log')
    await panel().getByText('No line yet.').waitFor()
    await window.lab.exec(
      node,
      'iptables',
      '-I',
      'FORWARD',
      '-p',
      'tcp',
      '--syn',
      '-j',
      'LOG',
      '--log-prefix',
      'seen: ',
    )
    await panel()
      .getByText(/Rule 1 of FORWARD \(filter\) on worker1 has the target LOG/)
      .waitFor()
    const instead = await panel()
      .getByText(/^iptables -t filter -R FORWARD 1 /)
      .textContent()
    await window.lab.exec(node, 'bash', '-c', instead ?? 'false')
    await panel()
      .getByText(/has the target LOG/)
      .waitFor({ state: 'detached' })
    await window.lab.exec('client', 'curl', '-sSm', '3', NODE_PORT)
    const lines = panel().getByRole('log', { name: 'Log lines' })
    await lines
      .getByText(/worker1\s+seen: .*IN=eth0 OUT=.*DPT=80 .*SYN/)
      .first()
      .waitFor()
    expect(await findSerious(page)).toEqual([])

    // The last lines stay in sight in a smaller window, too, where they take more room.
    const hidden = () =>
      lines.evaluate((list) => Math.round(list.scrollHeight - list.clientHeight - list.scrollTop))
    await window.lab.exec(
      'client',
      'sh',
      '-c',
      `for i in 1 2 3 4 5 6 7 8; do curl -s -m 3 ${NODE_PORT}; done`,
    )
    await expect.poll(() => lines.getByText(/seen: /).count(), patience).toBeGreaterThan(8)
    for (const viewport of [
      { width: 1280, height: 720 },
      { width: 1000, height: 700 },
    ]) {
      await page.setViewportSize(viewport)
      await expect.poll(hidden, patience).toBeLessThan(8)
    }
    await lines.evaluate((list) => list.scrollTo({ top: 0 }))
    await window.lab.exec('client', 'curl', '-sSm', '3', NODE_PORT)
    await expect.poll(hidden, patience).toBeGreaterThan(50)
    await page.setViewportSize({ width: 1440, height: 900 })
    await panel().getByRole('button', { name: 'Clear' }).click()
    expect(await lines.getByText(/seen: /).count()).toBe(0)
    await window.lab.exec(node, 'iptables', '-D', 'FORWARD', '1')
  })

  test('the output stands there, with the command’s end on its tab', async () => {
    await open('Output')
    await panel().getByLabel('What the command printed').getByText('http-server-').waitFor()
    expect(await tab('Output').textContent()).toContain('exit 0')
    await tab('Output').click()
    expect(await panel().getByLabel('What the command printed').count()).toBe(0)
  })
})

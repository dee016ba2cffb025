import type { Page } from 'playwright-core'
import { launchWindow, whyNoWindow } from '../e2e/launch-window.ts'
import { type Bench, median } from './measure.ts'

const rounds = 10
/** Rules that match every packet and go on: each is a hop more. */
const MORE_HOPS = 40

/** From the end of a traced command, as the page hears it, to its journeys on the screen; and from a key to the step. */
export const tracePicture: Bench = {
  name: 'a traced command’s end to its picture',
  async run() {
    const why = whyNoWindow()
    if (why !== undefined) throw new Error(why)
    const window = await launchWindow()
    try {
      const { page, lab } = window
      const more = Array.from({ length: MORE_HOPS }, () => '-A PREROUTING -p tcp\n').join('')
      await lab.exec('node/worker1', 'sh', '-c', `echo '*mangle\n${more}COMMIT' | iptables-restore --noflush`)
      let endedAt = Number.NaN
      page.on('websocket', (socket) =>
        socket.on('framereceived', ({ payload }) => {
          if (payload.toString().includes('"streams/exit"')) endedAt = Date.now()
        }),
      )
      await page.reload()
      await page.keyboard.press('Control+4')
      const command = page.getByRole('textbox', { name: 'send' })
      const delays: number[] = []
      const steps: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        await command.fill('curl -sS -o /dev/null http://172.18.0.3:32054/')
        await page.keyboard.press('Enter')
        await page.getByRole('button', { name: 'Stop' }).waitFor()
        const shownAt = await pictureAt(page)
        delays.push(shownAt - endedAt)
        steps.push(...(await stepThrough(page)))
      }
      return [
        { label: `picture, median of ${rounds}`, value: median(delays), unit: 'ms', limit: 1000 },
        { label: 'picture, slowest', value: Math.max(...delays), unit: 'ms', limit: 1000 },
        {
          label: `a step of a journey of ${steps.length / rounds} hops, median`,
          value: median(steps),
          unit: 'ms',
          limit: 100,
        },
        { label: 'a step, slowest', value: Math.max(...steps), unit: 'ms', limit: 100 },
      ]
    } finally {
      await window.close()
    }
  },
}

/** When the first step stood on the screen, by the page's own frames. */
function pictureAt(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const look = (): void => {
          if (document.getElementById('step-0')) resolve(Date.now())
          else requestAnimationFrame(look)
        }
        look()
      }),
  )
}

/** Presses → until the last step; from each press to the frame behind the one that drew it. */
function stepThrough(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const list = document.querySelector('[role="listbox"][aria-label^="Steps"]')
    const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve))
    const took: number[] = []
    let before: string | null | undefined
    while (list?.getAttribute('aria-activedescendant') !== before) {
      before = list?.getAttribute('aria-activedescendant')
      const pressedAt = performance.now()
      list?.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }),
      )
      await frame()
      await frame()
      took.push(performance.now() - pressedAt)
    }
    return took
  })
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LabWindow, launchWindow, whyNoWindow } from './launch-window.ts'

const SERVICES = 150
const HTTP_SERVER = 'lab-scripts/manifests/http-server.yaml'

const service = (at: number): string => `apiVersion: v1
kind: Service
metadata: { name: many-${String(at).padStart(3, '0')} }
spec:
  selector: { app: http-server }
  ports: [{ port: 80 }]
`

/** A rule text of this size is read and drawn in a worker. */
describe.skipIf(whyNoWindow())('a node with many Services', () => {
  let window: LabWindow
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'chainwalk-many-'))
    const file = join(folder, 'many.yaml')
    writeFileSync(file, Array.from({ length: SERVICES }, (_, at) => service(at)).join('---\n'))
    window = await launchWindow({ files: [HTTP_SERVER, file] })
  })
  afterAll(async () => {
    await window?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('its Path shows some, counts all, and finds the one that is looked for with its live numbers', async () => {
    const { page, lab } = window
    await page.getByText(`12 of ${SERVICES + 2} Services; filter to see others`).waitFor()
    const worker = page.workers().find((each) => each.url().includes('chain-worker'))
    expect(worker).toBeDefined()
    await page.getByRole('searchbox', { name: 'Filter the Service chains' }).fill('many-149')
    const dispatch = (packets: string) =>
      page.getByRole('button', {
        name: new RegExp(`^Rule \\d+ of KUBE-SERVICES: .*KUBE-SVC-.*, ${packets}$`),
      })
    // The worker's answer comes a little later than the letters.
    await expect.poll(() => dispatch('0 packets').count(), { timeout: 15_000 }).toBe(1)
    const { stdout } = await lab.run('get', 'svc', 'many-149', '-o', 'json')
    const { spec } = JSON.parse(stdout) as { spec: { clusterIP: string } }
    const { code } = await lab.exec('deployment/http-server', 'curl', '-s', `http://${spec.clusterIP}/`)
    expect(code).toBe(0)
    await dispatch('1 packet').waitFor()
    expect(window.problems).toEqual([])
  })
})

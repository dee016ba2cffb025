import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

/** What axe calls serious or critical in the page as it stands, each with the first element that has it. */
export async function findSerious(page: Page): Promise<string[]> {
  const script = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  // Evaluated by the browser's debugger, which the page's policy does not concern.
  await page.evaluate(readFileSync(script, 'utf8'))
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    return (await axe.run()).violations
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id} ${nodes[0]?.html.slice(0, 200)}`)
}

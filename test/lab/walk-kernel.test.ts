import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WalkPlan, WalkReport } from './walk-kernel-scenario.ts'
import { randomFrom, randomSave } from './walk-random-rules.ts'

const root = join(import.meta.dirname, '../..')
const PATH = `${process.env['PATH']}:/usr/sbin:/sbin`
const isRoot = process.getuid?.() === 0
const wayIn = ['unshare', ...(isRoot ? [] : ['--user', '--map-root-user']), '--net', '--mount']

function whatIsMissing(): string | undefined {
  const tools = ['unshare', 'nft', 'iptables-nft-restore']
  const missing = tools.filter((tool) => !PATH.split(':').some((folder) => existsSync(join(folder, tool))))
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`
  const [command = '', ...args] = [...wayIn, 'nft', 'list', 'ruleset']
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { PATH, LC_ALL: 'C' } })
  return status === 0 ? undefined : stderr.trim()
}

/** Every match and target that the walk knows and no golden has, each on its own way through the chains. */
const FOREIGN = readFileSync(join(import.meta.dirname, 'walk-kernel.save'), 'utf8')

function planSets(seed: number): WalkPlan['sets'] {
  const folder = join(root, 'test/golden')
  const goldens = readdirSync(folder)
    .map((name) => ({ name, file: join(folder, name, 'expected.save') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => ({ name, save: readFileSync(file, 'utf8') }))
    // An ordinary user's one call of iptables-restore takes some 300 rules.
    .filter(({ save }) => isRoot || save.split('\n').length < 250)
  // On a busy machine not all get their turn: the varied ones come first, the others mixed.
  const isRich = ({ name }: { name: string }): boolean => /^(001|097|058|052|133)/.test(name)
  const others = [
    ...goldens.map((golden) => ({ ...golden, packets: 40, later: true })),
    ...Array.from({ length: 30 }, (_, i) => ({
      name: `random ${seed * 1000 + i}`,
      save: randomSave(seed * 1000 + i),
      packets: 60,
      later: false,
    })),
  ]
  const { next } = randomFrom(seed)
  const mixed = others
    .map((set) => ({ set, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ set }) => set)
  return [
    { name: 'foreign', save: FOREIGN, packets: 1500, later: false },
    ...goldens.filter(isRich).map((golden) => ({ ...golden, packets: 300, later: true })),
    ...mixed,
  ]
}

const missing = whatIsMissing()
let folder = ''

beforeAll(async () => {
  if (missing !== undefined) return
  mkdirSync(join(root, 'out'), { recursive: true })
  folder = mkdtempSync(join(root, 'out/walk-'))
  chmodSync(folder, 0o755)
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: { ssr: 'test/lab/walk-kernel-scenario.ts', outDir: folder, target: 'node20', emptyOutDir: false },
  })
})

afterAll(() => {
  if (folder) rmSync(folder, { recursive: true })
})

test('walk and kernel agree on every hop of thousands of random packets', { timeout: 120_000 }, ({
  skip,
}) => {
  if (missing !== undefined && !process.env['CI']) skip(missing)
  expect(missing).toBeUndefined()
  const seed = Number(process.env['WALK_SEED'] ?? 1)
  const plan: WalkPlan = { seed, budgetMs: 45_000, sets: planSets(seed) }
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan))
  const [command = '', ...args] = [
    ...wayIn,
    process.execPath,
    join(folder, 'walk-kernel-scenario.js'),
    join(folder, 'plan.json'),
  ]
  const output = execFileSync(command, args, { encoding: 'utf8', env: { PATH }, timeout: 110_000, cwd: '/' })
  const report = JSON.parse(output) as WalkReport
  expect(report.differences).toEqual([])
  expect(report.wrong).toBe(0)
  expect(report.unlikely).toEqual([])
  expect(report.overruns).toBe(0)
  expect(report.sets).toBeGreaterThan(30)
  expect(report.packets).toBeGreaterThan(3000)
  expect(report.branching).toBeGreaterThan(300)
  expect(report.chainEnds).toBeGreaterThan(3000)
  expect(report.emptyChainEnds).toBeGreaterThan(50)
  expect(report.gotos).toBeGreaterThan(50)
  // Nothing but a packet with another TTL, and an answer of conntrack's, could match these.
  expect(report.unmatched['foreign']).toEqual([
    'raw EARLY 2',
    'raw EARLY 4',
    'raw EARLY-2 1',
    'filter FORWARD 1',
  ])
  for (const end of ['delivered', 'forwarded', 'dropped', 'rejected', 'unroutable'])
    expect(report.ends[end]).toBeGreaterThan(20)
})

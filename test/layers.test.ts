import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { VERSION } from '../src-main/contract/version.ts'

const root = join(import.meta.dirname, '..')
const sources = join(root, 'src-main')

/** What each layer may import from; itself is understood. */
const LAW: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  contract: ['domain'],
  system: ['domain', 'contract'],
  lab: ['domain', 'contract', 'system'],
  entry: ['domain', 'contract', 'system', 'lab'],
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
}

function importsOf(file: string): string[] {
  return ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles.map(({ fileName }) => fileName)
}

const imports = filesBelow(sources).flatMap((file) =>
  importsOf(file).map((specifier) => ({
    file: relative(sources, file),
    specifier,
    target: specifier.startsWith('.') ? relative(sources, resolve(dirname(file), specifier)) : undefined,
  })),
)

test('each layer imports only what the law allows', () => {
  expect(imports.length).toBeGreaterThan(100)
  const broken = imports.filter(({ file, target }) => {
    const from = file.split('/')[0] ?? ''
    const to = target?.split('/')[0]
    return to !== undefined && to !== from && !target?.endsWith('.json') && !LAW[from]?.includes(to)
  })
  expect(broken).toEqual([])
})

test('kubernetes and iptables do not know each other', () => {
  const broken = imports.filter(
    ({ file, target }) =>
      (file.startsWith('domain/kubernetes/') && target?.startsWith('domain/iptables/')) ||
      (file.startsWith('domain/iptables/') && target?.startsWith('domain/kubernetes/')),
  )
  expect(broken).toEqual([])
})

test('domain and contract are pure: no Node module, and of packages only these', () => {
  const packages = ['yaml', 'ipaddr.js']
  const broken = imports.filter(
    ({ file, target, specifier }) =>
      /^(domain|contract)\//.test(file) && target === undefined && !packages.includes(specifier),
  )
  expect(broken).toEqual([])
  const clocks = filesBelow(join(sources, 'domain')).filter((file) =>
    /\bMath\.random\(|\bDate\.now\(|new Date\(\)/.test(readFileSync(file, 'utf8')),
  )
  expect(clocks).toEqual([])
})

test('the version in the code is that of package.json', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  expect(VERSION).toBe(version)
})

import { loadavg } from 'node:os'
import { changeOneEndpoint, IN_NAMESPACE } from './change-one-endpoint.ts'
import { endpointChange } from './endpoint-change.bench.ts'
import { formatTable } from './format-table.ts'
import { kill } from './kill.bench.ts'
import { type Bench, isOver } from './measure.ts'
import { memory } from './memory.bench.ts'
import { endOwnLabs } from './open-lab.ts'
import { packetToSample } from './packet-to-sample.bench.ts'
import { pods } from './pods.bench.ts'
import { ruleGeneration } from './rule-generation.bench.ts'
import { sampling } from './sampling.bench.ts'
import { start } from './start.bench.ts'
import { trace } from './trace.bench.ts'

/** A bench in a browser: this program runs alone, too, where no browser's driver can be loaded. */
const inBrowser = (name: string, load: () => Promise<Bench>): Bench => ({
  name,
  run: async (options) => (await load()).run(options),
})

/** By the word that chooses each. */
const benches: Readonly<Record<string, Bench>> = {
  // First, in a heap that no other bench has filled.
  'rule-generation': ruleGeneration,
  start,
  pods,
  memory,
  'endpoint-change': endpointChange,
  sampling,
  'packet-to-sample': packetToSample,
  trace,
  'trace-picture': inBrowser(
    'a traced command’s end to its picture',
    async () => (await import('./trace-picture.bench.ts')).tracePicture,
  ),
  window: inBrowser('the window', async () => (await import('./window.bench.ts')).windowBench),
  kill,
}

async function main(words: readonly string[]): Promise<void> {
  const full = words.includes('--full')
  const wanted = words.filter((word) => word !== '--full')
  const unknown = wanted.filter((word) => !Object.keys(benches).some((name) => name.startsWith(word)))
  if (unknown.length > 0) {
    console.error(
      `no bench ${unknown.join(', ')}; there are: ${Object.keys(benches).join(', ')} (and --full)`,
    )
    process.exit(2)
  }
  const results = []
  for (const [word, bench] of Object.entries(benches)) {
    if (wanted.length > 0 && !wanted.some((name) => word.startsWith(name))) continue
    const began = performance.now()
    const measures = await bench.run({ full })
    results.push({ name: bench.name, measures })
    console.error(`${word}: ${((performance.now() - began) / 1000).toFixed(0)} s`)
  }
  const measures = results.flatMap((result) => result.measures)
  const over = measures.filter(isOver).length
  console.log(`${formatTable(results)}
${over === 0 ? 'no bound is exceeded' : `${over} over the bound`}; the machine's load is ${loadavg()[0]?.toFixed(1)}`)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    endOwnLabs()
    process.exit(1)
  })
const [, , first = '', ...rest] = process.argv
if (first === IN_NAMESPACE) console.log(JSON.stringify(await changeOneEndpoint(rest)))
else await main(process.argv.slice(2))
// Sockets of labs that have ended may hold the event loop.
process.exit()

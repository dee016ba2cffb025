import { writeFileSync } from 'node:fs'
import { captureWords } from '../../../contract/capture-words.ts'
import type { LabConnection } from '../../../contract/rpc.ts'
import { CommandFailure, EXIT } from '../exit-status.ts'
import { withLab } from '../lab-client.ts'
import { followOutput } from '../run-in-lab.ts'
import { untilInterrupted } from '../until-interrupted.ts'

export interface CaptureCommandOptions {
  readonly name: string
  readonly write?: string
}

interface Place {
  readonly host: string
  readonly link: string
}

export async function capture(
  word: string,
  filter: readonly string[],
  options: CaptureCommandOptions,
): Promise<void> {
  await withLab(options.name, async (lab) => {
    const place = await resolvePlace(lab, word)
    let id = 0
    const printing = await followOutput(
      lab,
      async () => {
        const started = await lab.request('capture/start', { ...place, filter: filter.join(' ') })
        id = started.capture
        return started
      },
      process.stdout,
    )
    process.stderr.write(`capturing on ${place.host} ${place.link}; Ctrl-C ends it\n`)
    await untilInterrupted(printing.ended)
    const state = await lab.request('capture/stop', { capture: id })
    await printing.ended
    if (options.write !== undefined) await save(lab, id, options.write)
    process.stderr.write(`${captureWords(state)}\n`)
  })
}

/** `HOST/LINK`, or HOST alone for its eth0 (of the switch: its bridge). */
async function resolvePlace(lab: LabConnection, word: string): Promise<Place> {
  if (word === 'switch') return { host: 'switch', link: 'switch0' }
  if (word.startsWith('switch/')) return { host: 'switch', link: word.slice('switch/'.length) }
  const resolve = async (target: string) => (await lab.request('targets/resolve', { target })).target
  try {
    return { host: await resolve(word), link: 'eth0' }
  } catch (error) {
    const slash = word.lastIndexOf('/')
    try {
      return { host: await resolve(word.slice(0, slash)), link: word.slice(slash + 1) }
    } catch {
      throw error // what is wrong with the word as it stands is the better answer
    }
  }
}

async function save(lab: LabConnection, id: number, file: string): Promise<void> {
  const { pcap } = await lab.request('capture/pcap', { capture: id })
  try {
    writeFileSync(file, Buffer.from(pcap, 'base64'))
  } catch (error) {
    throw new CommandFailure(EXIT.failed, `${file}: ${(error as Error).message}`)
  }
  process.stderr.write(`written to ${file}\n`)
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type LabConnection } from '../../src-main/contract/rpc.ts'
import { streamChannel } from '../../src-main/system/channel/stream-channel.ts'
import { findLabs, openLabSocket } from '../../src-main/system/sandbox/find-labs.ts'
import { type Lab, startLab, whyNoLab } from './chainwalk.ts'

const COMMANDS = 400
/** That run at a time. */
const LANES = 4

describe.skipIf(whyNoLab())('a lab that starts many commands', () => {
  let lab: Lab
  let connection: LabConnection
  beforeAll(async () => {
    lab = await startLab({ files: [] })
    const [found] = processesOf(lab)
    if (!found) throw new Error('the lab is not found')
    const socket = await openLabSocket(found)
    connection = connect(streamChannel(socket, socket))
  })
  afterAll(async () => {
    connection?.close()
    await lab?.down()
  })

  test('is found as one process, never as a command that it is about to run', async () => {
    const [holder] = processesOf(lab)
    let started = 0
    let areDone = false
    const lane = async (): Promise<void> => {
      while (started < COMMANDS) {
        started += 1
        await connection.request('exec/start', { target: 'client', argv: ['true'], stdin: false })
      }
    }
    const all = Promise.all(Array.from({ length: LANES }, lane)).finally(() => {
      areDone = true
    })
    let looks = 0
    while (!areDone) {
      expect(processesOf(lab)).toEqual([holder])
      looks += 1
      await new Promise(setImmediate)
    }
    await all
    expect(looks).toBeGreaterThan(10)
  })
})

const processesOf = (lab: Lab) => findLabs(lab.uid).filter(({ name }) => name === lab.name)

import { LabError } from '../../contract/errors.ts'
import { connect, type LabConnection } from '../../contract/rpc.ts'
import { streamChannel } from '../../system/channel/stream-channel.ts'
import { findLab, findLabs, openLabSocket } from '../../system/sandbox/find-labs.ts'

/** Connects to the running lab of that name, or fails with `not-found` saying what to do. */
export async function connectLab(name: string): Promise<LabConnection> {
  const lab = findLab(name)
  if (!lab) {
    const others = findLabs()
      .map((running) => running.name)
      .join(', ')
    throw new LabError(
      'not-found',
      `no lab named "${name}" is running${others ? ` (running: ${others}; choose with --name)` : ''}; ` +
        'start one with `chainwalk up`',
    )
  }
  try {
    const socket = await openLabSocket(lab)
    return connect(streamChannel(socket, socket))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ECONNREFUSED')
      throw new LabError('conflict', `the lab "${name}" is still starting or just ending; try again`)
    throw new LabError('unavailable', `the lab "${name}" (process ${lab.pid}) cannot be reached: ${message}`)
  }
}

/** Runs `work` with a connection to the lab, which is closed afterwards. */
export async function withLab<T>(name: string, work: (lab: LabConnection) => Promise<T>): Promise<T> {
  const lab = await connectLab(name)
  try {
    return await work(lab)
  } finally {
    lab.close()
  }
}

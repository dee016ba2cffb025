import type { LabConnection } from '../../contract/rpc.ts'

/** The target that is meant, in full; every node where none is named. */
export async function resolveTargets(lab: LabConnection, target: string | undefined): Promise<string[]> {
  if (target !== undefined) return [(await lab.request('targets/resolve', { target })).target]
  const { nodes } = await lab.request('lab/status', {})
  return nodes.map(({ name }) => `node/${name}`)
}

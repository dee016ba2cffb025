import { withLab } from '../lab-client.ts'

interface Options {
  readonly name: string
  readonly output?: 'text' | 'json'
}

export async function status(options: Options): Promise<void> {
  const lab = await withLab(options.name, (connection) => connection.request('lab/status', {}))
  if (options.output === 'json') {
    console.log(JSON.stringify(lab, null, 2))
    return
  }
  const rows = [
    ['lab', lab.name],
    ['running for', `${Math.round(lab.uptimeMs / 1000)} s`],
    ['as', lab.rootless ? 'an ordinary user (rootless)' : 'root'],
    ['pods hang on', lab.attachment === 'bridge' ? 'the bridge cni0' : 'routed links (no br_netfilter here)'],
    ['client', lab.client.address],
    ...lab.nodes.map((node) => [`node/${node.name}`, `${node.address}, pods ${node.podCIDR}`]),
    ['pods', String(lab.pods)],
    ['services', String(lab.services)],
    ['memory', `${Math.round(lab.memoryBytes / 1024 / 1024)} MB`],
  ]
  const width = Math.max(...rows.map(([label = '']) => label.length))
  for (const [label = '', value = ''] of rows) console.log(`${label.padEnd(width)}  ${value}`)
}

/** Resolves when the lab has gone. */
export async function down(options: Options): Promise<void> {
  await withLab(options.name, async (lab) => {
    const gone = new Promise<void>((resolve) => {
      lab.onClose(resolve)
    })
    await lab.request('lab/stop', {})
    await gone
  })
  console.error(`lab "${options.name}" has ended`)
}

import { chmodSync, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { serve } from '../../contract/rpc.ts'
import { Lab } from '../../lab/lab.ts'
import { labHandlers } from '../../lab/lab-handlers.ts'
import { streamChannel } from '../../system/channel/stream-channel.ts'
import { findIptables } from '../../system/iptables/iptables-tool.ts'
import { enterSandbox } from '../../system/sandbox/enter-sandbox.ts'
import { SOCKET_PATH } from '../../system/sandbox/find-labs.ts'
import type { LabSettings } from '../lab-settings.ts'

/** Holds a lab in the namespaces that this process was started in, until it is told to end. */
export function holdLab(settings: LabSettings): void {
  const iptables = findIptables(settings.backend)
  enterSandbox({ ...settings, backend: iptables.backend })
  const lab = new Lab({
    name: settings.name,
    workers: settings.workers,
    rootless: settings.rootless,
    iptables,
    attachment:
      settings.attachment === 'auto'
        ? existsSync('/proc/sys/net/bridge/bridge-nf-call-iptables')
          ? 'bridge'
          : 'routed'
        : settings.attachment,
  })
  const handlers = labHandlers(lab, () => process.exit(0))

  // The socket lies in the sandbox's own /run: no file of it can outlive the lab.
  const server = createServer((socket) => {
    serve(streamChannel(socket, socket), handlers)
  })
  const umask = process.umask(0o177)
  server.listen(SOCKET_PATH)
  process.umask(umask)
  chmodSync(SOCKET_PATH, 0o600)

  // Whoever started this lab speaks over the pipes; where it goes, an attached lab goes too.
  const starter = streamChannel(process.stdin, process.stdout)
  serve(starter, handlers)
  starter.onClose(() => {
    if (!settings.detached) process.exit(0)
  })

  // A detached lab survives the terminal that started it, and its closed pipes.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
  if (settings.detached) process.on('SIGHUP', () => undefined)
  process.stderr.on('error', () => undefined)
}

import type { Client, Handlers } from '../contract/rpc.ts'
import type { HostId } from '../domain/topology/plan-network.ts'
import { SHELL_HOME, shellEnvironment } from '../system/sandbox/enter-sandbox.ts'
import type { SpawnOptions } from '../system/terminal/streams.ts'
import type { Lab } from './lab.ts'

/** The contract's requests, answered by a lab. `stop` ends the holder; it is called after the answer has gone out. */
export function labHandlers(lab: Lab, stop: () => void): Handlers {
  const clients = new WeakSet<Client>()
  /** A client that has asked for anything hears of changes. */
  const known = (client: Client): void => {
    if (clients.has(client)) return
    clients.add(client)
    client.onGone(lab.changes.listen((change) => client.emit('lab/changed', change)))
  }
  const spawnOptions = (
    target: string,
    argv: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): SpawnOptions => ({
    argv,
    cwd: SHELL_HOME,
    env: { ...shellEnvironment(lab.hostname(target as HostId)), ...env },
    where: (work) => lab.network.inHost(target as HostId, work),
  })
  return {
    'lab/status': () => lab.status(),
    'lab/stop': () => {
      setTimeout(stop, 5)
      return null
    },
    'objects/apply': (params, client) => {
      known(client)
      return lab.apply(params, (progress) => client.emit('lab/progress', progress))
    },
    'objects/delete': (params, client) =>
      lab.delete(params, (progress) => client.emit('lab/progress', progress)),
    'objects/scale': ({ ref, replicas }, client) =>
      lab.scale(ref, replicas, (progress) => client.emit('lab/progress', progress)),
    'objects/list': (params) => lab.list(params),
    'objects/print': (params) => lab.print(params),
    'pods/set-condition': ({ namespace, name, condition }) => lab.setPodCondition(namespace, name, condition),
    'targets/resolve': ({ target }, client) => {
      known(client)
      const id = lab.resolve(target)
      return { target: id, hostname: lab.hostname(id) }
    },
    'exec/start': ({ target, argv, stdin, env }, client) => ({
      stream: lab.streams.startCommand(client, spawnOptions(target, argv, env), stdin),
    }),
    'terminals/open': ({ target, size, argv }, client) => ({
      stream: lab.streams.openTerminal(client, spawnOptions(target, argv ?? ['bash']), size),
    }),
    'streams/write': ({ stream, data }) => {
      lab.streams.write(stream, data)
      return null
    },
    'streams/end': ({ stream }) => {
      lab.streams.end(stream)
      return null
    },
    'streams/resize': ({ stream, size }) => {
      lab.streams.resize(stream, size)
      return null
    },
    'streams/ack': ({ stream, amount }) => {
      lab.streams.ack(stream, amount)
      return null
    },
    'streams/kill': ({ stream, signal }) => {
      lab.streams.kill(stream, signal)
      return null
    },
    'rules/read': ({ target }) => lab.rules(target as HostId),
    'rules/history': ({ node }) => lab.history(node),
    'rules/diff': ({ node, from, to }) => lab.historyDiff(node, from, to),
    'rules/restore-hand-made': async ({ rules }) => {
      await lab.restoreHandMade(rules)
      return null
    },
    'rules/export': ({ node, format }) => lab.export(format, node),
    'counters/read': async ({ target, table, chain }) => ({
      chains: await lab.reader(target as HostId).listings(table, chain),
    }),
    'counters/subscribe': (params, client) => ({ subscription: lab.samplers.subscribe(client, params) }),
    'counters/unsubscribe': ({ subscription }) => {
      lab.samplers.unsubscribe(subscription)
      return null
    },
  }
}

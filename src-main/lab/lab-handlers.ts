import { LabError } from '../contract/errors.ts'
import type { Client, Handlers } from '../contract/rpc.ts'
import type { HostId } from '../domain/topology/plan-network.ts'
import { SHELL_HOME, shellEnvironment } from '../system/sandbox/enter-sandbox.ts'
import type { SpawnOptions } from '../system/terminal/streams.ts'
import type { Lab } from './lab.ts'
import { observeHandlers } from './observe-handlers.ts'
import { Traces } from './traces.ts'

/** The contract's requests, answered by a lab. `stop` ends the holder; it is called after the answer has gone out. */
export function labHandlers(lab: Lab, stop: () => void): Handlers {
  const clients = new WeakSet<Client>()
  const traces = new Traces(lab)
  /** A client that shows the lab hears of its changes from its first look on. */
  const known = (client: Client): void => {
    if (clients.has(client)) return
    clients.add(client)
    lab.watchRules()
    client.onGone(lab.changes.listen((change) => client.emit('lab/changed', change)))
    client.onGone(lab.terminalsChanged.listen(() => client.emit('terminals/changed', {})))
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
    'objects/apply': (params, client) =>
      lab.apply(params, (progress) => client.emit('lab/progress', progress)),
    'objects/delete': (params, client) =>
      lab.delete(params, (progress) => client.emit('lab/progress', progress)),
    'objects/scale': ({ ref, replicas }, client) =>
      lab.scale(ref, replicas, (progress) => client.emit('lab/progress', progress)),
    'objects/list': (params, client) => {
      known(client)
      return lab.list(params)
    },
    'objects/print': (params) => lab.print(params),
    'pods/set-condition': ({ namespace, name, condition }) => lab.setPodCondition(namespace, name, condition),
    'targets/resolve': ({ target }) => {
      const id = lab.resolve(target)
      return { target: id, hostname: lab.hostname(id) }
    },
    'exec/start': ({ target, argv, stdin, env }, client) => ({
      stream: lab.streams.startCommand(client, spawnOptions(target, argv, env), stdin),
    }),
    'trace/start': ({ target, argv, stdin, env }, client) =>
      traces.start(client, target as HostId, (words, more) =>
        lab.streams.startCommand(
          client,
          spawnOptions(target, [...words, ...argv], { ...env, ...more }),
          stdin,
        ),
      ),
    'trace/stop': ({ trace }) => traces.stop(trace),
    'terminals/open': async ({ target, size, argv, keep }, client) => ({
      stream: await lab.streams.openTerminal(
        client,
        spawnOptions(target, argv ?? ['bash']),
        size,
        keep ? { target, hostname: lab.hostname(target as HostId) } : undefined,
      ),
    }),
    'terminals/list': () => lab.streams.terminals(),
    'terminals/attach': async ({ stream, size }, client) => ({
      screen: await lab.streams.attach(client, stream, size),
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
    'streams/ack': ({ stream, amount }, client) => {
      lab.streams.ack(client, stream, amount)
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
    'counters/zero': async ({ target, table, chain }) => {
      await lab.zeroCounters(target as HostId, table, chain)
      return null
    },
    'rules/restore': async ({ node }) => {
      await lab.restoreRules(node)
      return null
    },
    'counters/subscribe': ({ target, table, chains, intervalMs }, client) => {
      const reader = lab.reader(target as HostId)
      return {
        subscription: lab.samplers.subscribe(client, intervalMs, {
          movement: () => reader.movement(),
          read: () => reader.chains(table, chains.length > 0 ? chains : undefined),
          show: (listings, subscription) =>
            client.emit('counters/sample', {
              subscription,
              target,
              table,
              atMs: performance.now(),
              chains: listings,
            }),
          failed: rulesInMotion,
        }),
      }
    },
    'counters/unsubscribe': ({ subscription }) => {
      lab.samplers.unsubscribe(subscription)
      return null
    },
    'hooks/subscribe': ({ target, intervalMs }, client) => {
      const counter = lab.hookCounter(target as HostId)
      return {
        subscription: lab.samplers.subscribe(client, intervalMs, {
          read: () => counter.cells(),
          show: (cells, subscription) =>
            client.emit('hooks/sample', { subscription, target, atMs: performance.now(), cells }),
          failed: rulesInMotion,
        }),
      }
    },
    'topology/read': () => ({ links: lab.network.links() }),
    'links/subscribe': ({ intervalMs }, client) => ({
      subscription: lab.samplers.subscribe(client, intervalMs, {
        read: () => lab.network.linkCounters(),
        show: (links, subscription) =>
          client.emit('links/sample', { subscription, atMs: performance.now(), links }),
        failed: rulesInMotion,
      }),
    }),
    ...observeHandlers(lab, rulesInMotion),
    'traffic/set': ({ running }) => {
      lab.setDemoTraffic(running)
      return null
    },
  }
}

/** A look may fall between two states of the kernel; anything else is a fault that must be seen. */
function rulesInMotion(error: unknown): void {
  if (error instanceof LabError && error.code !== 'internal') return
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
}

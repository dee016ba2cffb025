import { Command, CommanderError, Option } from 'commander'
import { VERSION } from '../../contract/version.ts'
import { describeError } from '../describe-error.ts'
import { EXIT, exitStatusOf } from './exit-status.ts'

const program = new Command('chainwalk')
  .description('A lab of network namespaces for seeing how a Kubernetes Service works.')
  .version(VERSION)
  .showHelpAfterError('(add --help for how to use it)')
  .exitOverride()

const nameOption = () => new Option('--name <lab>', 'the lab that is meant').default('lab')
const fileOption = (text: string) =>
  new Option('-f, --file <file...>', `${text}: a file, a folder, or - for standard input`)
const formatOption = (...choices: string[]) =>
  new Option('-o, --output <format>', 'how to print it').choices(choices).default('text')
const workersOption = () => new Option('--workers <count>', 'how many worker nodes (default: 2)')
const attachmentOption = () =>
  new Option('--attachment <kind>', 'how pods hang on their node')
    .choices(['auto', 'bridge', 'routed'])
    .default('auto')
const backendOption = () =>
  new Option('--backend <kind>', 'which iptables writes the rules')
    .choices(['auto', 'nft', 'legacy'])
    .default('auto')

/** A command that works on a running lab. */
const labCommand = (words: string) => program.command(words).addOption(nameOption())

program
  .command('doctor')
  .description('check this machine: kernel, namespaces, tools; each failed check says what to do')
  .option('--json', 'print the checks as JSON')
  .action(async (options) => (await import('./commands/doctor.ts')).doctor(options))

program
  .command('demo')
  .description(
    'the http-server example from start to end: applies it, sends requests, shows path and counters',
  )
  .action(async () => (await import('./commands/demo.ts')).demo())

labCommand('up')
  .description('start a lab and keep it until Ctrl-C')
  .addOption(fileOption('manifests to apply first'))
  .addOption(workersOption())
  .option('--detach', 'leave the lab running; end it with `chainwalk down`')
  .addOption(attachmentOption())
  .addOption(backendOption())
  .action(async (options) => (await import('./commands/up.ts')).up(options))

labCommand('serve')
  .description('a lab with its window in the browser; joins the lab of that name where it is running already')
  .addOption(fileOption('manifests to apply first'))
  .addOption(workersOption())
  .option('--port <port>', 'where on 127.0.0.1 (default: 8470, or a free one where that is in use)')
  .option('--no-open', 'print the link, but do not open it')
  .option('--demo-traffic', 'send a request a second to every Service, so that counters move')
  .addOption(attachmentOption())
  .addOption(backendOption())
  .action(async (options) => (await import('./commands/serve.ts')).serve(options))

labCommand('status')
  .description('what runs in the lab')
  .addOption(formatOption('text', 'json'))
  .action(async (options) => (await import('./commands/status.ts')).status(options))

labCommand('down')
  .description('end the lab; nothing of it stays')
  .action(async (options) => (await import('./commands/status.ts')).down(options))

labCommand('apply')
  .description('apply manifests; all or nothing')
  .addOption(fileOption('manifests').makeOptionMandatory())
  .option('--diff', 'show what changes in the rules of each node')
  .option('--dry-run', 'change nothing')
  .action(async (options) => (await import('./commands/objects.ts')).apply(options))

labCommand('delete')
  .description('delete objects: by kind and name, or those of manifests')
  .argument('[kind]', 'a kind, or KIND/NAME')
  .argument('[names...]')
  .addOption(fileOption('manifests whose objects are deleted'))
  .option('-n, --namespace <namespace>', 'where the objects are', 'default')
  .option('--diff', 'show what changes in the rules of each node')
  .option('--dry-run', 'change nothing')
  .action(async (kind, names, options) =>
    (await import('./commands/objects.ts')).remove(kind, names, options),
  )

labCommand('get')
  .description('list objects as kubectl does')
  .argument('<kinds>', 'a kind or several with commas: pod,svc; or KIND/NAME')
  .argument('[name]')
  .option('-n, --namespace <namespace>', 'whose objects', 'default')
  .option('-A, --all-namespaces', 'objects of every namespace')
  .addOption(new Option('-o, --output <format>', 'how to print them').choices(['wide', 'json', 'yaml']))
  .action(async (kinds, name, options) => (await import('./commands/objects.ts')).get(kinds, name, options))

labCommand('scale')
  .description('set the number of pods of a Deployment or ReplicaSet')
  .argument('<target>', 'deployment/NAME')
  .argument('[name]', 'NAME, where the kind stands alone before it')
  .requiredOption('--replicas <count>', 'how many')
  .option('-n, --namespace <namespace>', 'where it is', 'default')
  .action(async (target, name, options) =>
    (await import('./commands/objects.ts')).scale(target, name, options),
  )

labCommand('pod')
  .description('set the condition of a pod: ready, not-ready, terminating or deleted')
  .argument('<name>', 'the pod; a unique prefix will do')
  .argument('<condition>', 'ready | not-ready | terminating | deleted')
  .option('-n, --namespace <namespace>', 'where it is', 'default')
  .action(async (name, condition, options) =>
    (await import('./commands/objects.ts')).setPodCondition(name, condition, options),
  )

labCommand('exec')
  .description('run a command in the client, a node or a pod; ends with its exit status')
  .usage('[options] <target> -- <command...>')
  .argument(
    '<target>',
    'client, node/NAME, pod/NAME (a unique prefix will do), deployment/NAME (its first pod)',
  )
  .argument('<command...>', 'the command and its arguments, after --')
  .action(async (target, command, options) =>
    (await import('./commands/exec.ts')).exec(target, command, options),
  )

labCommand('trace')
  .description('run a command as `exec` does, then show the way of each of its packets, rule by rule')
  .usage('[options] <target> -- <command...>')
  .argument(
    '<target>',
    'client, node/NAME, pod/NAME (a unique prefix will do), deployment/NAME (its first pod)',
  )
  .argument('<command...>', 'the command and its arguments, after --')
  .addOption(formatOption('text', 'json', 'markdown', 'svg'))
  .option(
    '--predict',
    'run nothing: the ways that the rules leave to the first packet of curl, nc, ping or /dev/tcp',
  )
  .addHelpText(
    'after',
    `
Ends with the command's exit status. What the command prints goes where it would go with exec; with another output
than text its standard output goes to standard error, so that standard output holds the result alone. svg draws the
packet that failed, else the first. json:
  {command, exitCode, journeys: [{id, connection, protocol, direction, kind, summary, verdict, reason, hops:
    [{node, hook, table, chain, rule, text, isChainEnd?, verdict, packet: {src, dst, sport, dport, in, out, mark},
    becomes?, skipped?: [{rule, text, why}], skippedCount?}]}], gaps,
  finding?: {kind, sentence, proof, remedy?, at?}}
verdict of a journey: delivered, dropped, rejected, refused (nothing listens), no-route, lost.`,
  )
  .action(async (target, command, options) =>
    (await import('./commands/trace.ts')).trace(target, command, options),
  )

labCommand('shell')
  .description('an interactive shell in the client, a node or a pod')
  .argument(
    '<target>',
    'client, node/NAME, pod/NAME (a unique prefix will do), deployment/NAME (its first pod)',
  )
  .action(async (target, options) => (await import('./commands/exec.ts')).shell(target, options))

program
  .command('rules')
  .description('the rules of manifests as kube-proxy writes them; needs neither a lab nor privilege')
  .addOption(fileOption('manifests').makeOptionMandatory())
  .option('--node <name>', 'whose rules; the first worker by default')
  .option('--config <file>', "the node's addresses and kube-proxy's settings, as JSON")
  .addOption(
    new Option('--family <family>', 'which address family').choices(['ipv4', 'ipv6']).default('ipv4'),
  )
  .addOption(
    new Option(
      '--format <format>',
      'restore: the text for iptables-restore; save: what iptables-save prints then',
    )
      .choices(['restore', 'save'])
      .default('restore'),
  )
  .action(async (options) => (await import('./commands/rules.ts')).rules(options))

labCommand('counters')
  .description('rules and their counters, as `iptables -vnL` shows them')
  .argument('[target]', 'node/NAME; every node by default')
  .argument('[chain]', 'only this chain')
  .option('-t, --table <table>', 'only this table; every table that is in use by default')
  .option('--line-numbers', 'number the rules')
  .option('-x, --exact', 'print exact numbers, not K, M and G')
  .option('--watch', 'print again whenever a number changes, until Ctrl-C')
  .addOption(formatOption('text', 'json'))
  .action(async (target, chain, options) =>
    (await import('./commands/counters.ts')).counters(target, chain, options),
  )

labCommand('conntrack')
  .description('the connections that a node tracks, as `conntrack -L` shows them, with NAT marked')
  .argument('[target]', 'node/NAME, client or pod/NAME; every node by default')
  .option('--watch', 'print again whenever something changes, until Ctrl-C')
  .addOption(formatOption('text', 'json'))
  .addHelpText(
    'after',
    `
A line ends with nat=dnat where the destination was translated, nat=snat where the source was, nat=both. -o json is a
list of {target, total, matching, entries: [{id, family, protocol, protocolNumber, original, reply, state?,
timeoutSeconds, flags, nat, mark}]}, original and reply {source, destination, sourcePort, destinationPort, icmp?}.`,
  )
  .action(async (target, options) => (await import('./commands/conntrack.ts')).conntrack(target, options))

labCommand('capture')
  .description('print the packets of a link as tcpdump does, until Ctrl-C')
  .usage('[options] <host[/link]> [filter...]')
  .argument(
    '<place>',
    'client, node/NAME, pod/NAME, deployment/NAME or switch; then /LINK, such as node/worker1/cni0 (default: eth0), or /any',
  )
  .argument('[filter...]', 'which packets, as a pcap filter: tcp port 80')
  .option('-w, --write <file>', 'also save them as a pcap file, for Wireshark')
  .action(async (place, filter, options) =>
    (await import('./commands/capture.ts')).capture(place, filter, options),
  )

labCommand('log')
  .description('follow what NFLOG rules report, as lines of a kernel log, until Ctrl-C')
  .argument('[target]', 'node/NAME, client or pod/NAME; the client and every node by default')
  .option('--group <number>', 'as in --nflog-group', '0')
  .addHelpText(
    'after',
    `
The target LOG is silent in a network namespace, as every node of a lab is: the kernel writes its lines for the machine
alone, unless its root sets net.netfilter.nf_log_all_netns=1. NFLOG reports the same packets to whoever listens:
  iptables -A FORWARD -p tcp --dport 80 -j NFLOG --nflog-prefix "to a pod:"
LOG rules that stand there are named, each with the command that turns it into NFLOG. What conntrack calls invalid comes
here, too, after sysctl -w net.netfilter.nf_conntrack_log_invalid=255 on the node.`,
  )
  .action(async (target, options) => (await import('./commands/log.ts')).log(target, options))

labCommand('export')
  .description('rule sets to take home')
  .option('--node <name>', 'whose rules; every node by default')
  .addOption(
    new Option(
      '--format <format>',
      'save: iptables-save text; restore: for iptables-restore; script: a shell script with comments; ' +
        'nft: a translation; json: with the object each chain serves; bundle: to start this lab again',
    )
      .choices(['save', 'restore', 'script', 'nft', 'json', 'bundle'])
      .default('save'),
  )
  .option('-o, --output <file>', 'write to a file instead of standard output')
  .action(async (options) => (await import('./commands/export.ts')).exportRules(options))

async function main(): Promise<number> {
  try {
    await program.parseAsync()
    return typeof process.exitCode === 'number' ? process.exitCode : EXIT.done
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    console.error(describeError(error))
    return exitStatusOf(error)
  }
}

/** A reader that closes the pipe early (`| head`) is no failure of ours. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done)
  throw error
})

/** No top-level await: this is built as CommonJS. */
async function run(): Promise<void> {
  // `doctor` runs this same program inside the sandbox that it tries.
  if (process.argv[2] === '--probe-sandbox') {
    await (await import('../../system/doctor/probe-sandbox.ts')).probeSandbox()
    process.exit(0)
  }
  const status = await main()
  // Output to a pipe is asynchronous: leave when it is out.
  process.stdout.write('', () => process.exit(status))
}

void run()

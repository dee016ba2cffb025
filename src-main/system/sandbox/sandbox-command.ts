/**
 * The words that start `program` (a Node program, with its arguments) in fresh namespaces: user, net, mount, pid,
 * ipc and uts as an ordinary user, the same without the user namespace as root. `--kill-child` ends everything
 * with `unshare`; with `endsWithParent` that ends with the process that starts it.
 */
export function sandboxCommand(
  program: readonly string[],
  { endsWithParent }: { readonly endsWithParent: boolean },
): string[] {
  const rootless = process.getuid?.() !== 0
  return [
    ...(endsWithParent ? ['setpriv', '--pdeathsig', 'KILL'] : []),
    ...['unshare', ...(rootless ? ['--user', '--map-root-user'] : [])],
    ...['--net', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child', '--mount-proc'],
    // sh stays as process 1 of the pid namespace and reaps orphans, which Node does not.
    ...['sh', '-c', '"$@"; exit $?', 'sh', process.execPath, ...program],
  ]
}

/** For a sandbox's first process: messages in plain words, and the folders that an ordinary user's PATH may lack. */
export function sandboxEnvironment(): NodeJS.ProcessEnv {
  // Certificates that a lab never asks for: reading them costs each Node 90 ms of its start.
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env
  return {
    ...environment,
    LC_ALL: 'C',
    PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
    // In the desktop app `process.execPath` is Electron; with this it is Node.
    ...(process.versions['electron'] ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
  }
}

/** Resolves at Ctrl-C (or when asked to end otherwise), or when what is waited for is over by itself. */
export async function untilInterrupted(over: Promise<unknown>): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  let interrupt = (): void => undefined
  const interrupted = new Promise<void>((resolve) => {
    interrupt = resolve
  })
  for (const signal of signals) process.on(signal, interrupt)
  try {
    await Promise.race([interrupted, over])
  } finally {
    for (const signal of signals) process.off(signal, interrupt)
  }
}

/** Rejects when the lab ends: what is followed until Ctrl-C cannot go on. */
export function endOf(lab: { onClose(listener: () => void): void }): Promise<never> {
  const ended = new Promise<never>((_, reject) => {
    lab.onClose(() => reject(new Error('the lab has ended')))
  })
  ended.catch(() => undefined) // told to whoever awaits it
  return ended
}

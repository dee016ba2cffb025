import type { Events, Requests } from '../src-main/contract/lab-contract.ts'
import type { LabConnection } from '../src-main/contract/rpc.ts'

type Subscribing =
  | 'hooks/subscribe'
  | 'counters/subscribe'
  | 'links/subscribe'
  | 'conntrack/subscribe'
  | 'log/subscribe'
type Sampling = 'hooks/sample' | 'counters/sample' | 'links/sample' | 'conntrack/sample' | 'log/line'

interface Listener<R extends Subscribing, E extends Sampling> {
  readonly take: (sample: Events[E]) => void
  readonly failed: (error: unknown) => void
  readonly answered?: (answer: Requests[R]['result']) => void
}

/** Gives back the end of it. */
export function subscribe<R extends Subscribing, E extends Sampling>(
  connection: LabConnection,
  request: R,
  params: Requests[R]['params'],
  event: E,
  { take, failed, answered }: Listener<R, E>,
): () => void {
  let subscription: number | undefined
  let isEnded = false
  /** A sample may overtake the answer that names its subscription. */
  let early: Events[E][] = []
  const stopListening = connection.on(event, (sample) => {
    if (subscription === undefined) early.push(sample)
    else if (sample.subscription === subscription) take(sample)
  })
  const end = (id: number): void => {
    connection.request('counters/unsubscribe', { subscription: id }).catch(() => undefined) // the lab may be gone
  }
  connection
    .request(request, params)
    .then((answer) => {
      subscription = answer.subscription
      if (isEnded) end(subscription)
      else {
        answered?.(answer)
        for (const sample of early) if (sample.subscription === subscription) take(sample)
      }
      early = []
    })
    .catch((error: unknown) => {
      if (!isEnded) failed(error)
    })
  return () => {
    isEnded = true
    stopListening()
    if (subscription !== undefined) end(subscription)
  }
}

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** What a request is let do: go on, take its cookie, or nothing, with a status and a reason. */
export type Admission =
  | { readonly verdict: 'admitted' }
  | { readonly verdict: 'redeemed'; readonly cookie: string }
  | { readonly verdict: 'refused'; readonly status: 401 | 403 | 405; readonly reason: string }

export interface AskedRequest {
  readonly method: string
  /** As in the request line. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  /** User id of the program that asks; absent where the kernel does not tell. */
  readonly uid: number | undefined
}

const TOKEN_BYTES = 32

/**
 * Who may use one run of the server. The link's token is exchanged for a cookie, so that the secret does not stay in
 * the address bar. Browsers share cookies between ports, with servers of other users, too: so the cookie's name holds
 * the port, and its value is good only for programs of the user who redeemed the link.
 */
export class Access {
  readonly #port: number
  readonly #token = randomBytes(TOKEN_BYTES).toString('base64url')
  readonly #secret = randomBytes(TOKEN_BYTES)
  readonly #once = new Set<string>()

  constructor(port: number) {
    this.#port = port
  }

  /** Good as long as the server runs. */
  get link(): string {
    return this.#linkWith(this.#token)
  }

  /** Good for its first use: for the words of a command, which other users of the machine can read. */
  createOneTimeLink(): string {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    this.#once.add(token)
    return this.#linkWith(token)
  }

  admitRequest({ method, target, headers, uid }: AskedRequest): Admission {
    if (!this.#isHost(headers.host)) return refuse(403, 'this name is not served here')
    const reads = method === 'GET' || method === 'HEAD'
    if (!reads && headers.origin !== `http://${headers.host}`) return refuse(403, 'another page asked this')
    const isKnown = this.#holdsCookie(headers.cookie, uid)
    const token = reads ? tokenIn(target) : undefined
    // A link is redeemed by a known browser, too: it is then sent on to an address without the token.
    if (token !== undefined)
      return isKnown || this.#isToken(token, method)
        ? this.#redeem(uid)
        : refuse(403, 'this link is not valid, or no longer')
    if (!isKnown) return refuse(401, 'open the link that Chainwalk printed')
    return reads ? { verdict: 'admitted' } : refuse(405, 'only GET and HEAD are served')
  }

  admitUpgrade({ target, headers, uid }: AskedRequest): Admission {
    if (!this.#isHost(headers.host)) return refuse(403, 'this name is not served here')
    if (headers.origin !== `http://${headers.host}`) return refuse(403, 'another page asked this')
    if (!this.#holdsCookie(headers.cookie, uid)) return refuse(401, 'open the link that Chainwalk printed')
    return target === '/lab' ? { verdict: 'admitted' } : refuse(403, 'no socket is served here')
  }

  #redeem(uid: number | undefined): Admission {
    return {
      verdict: 'redeemed',
      cookie: `${this.#cookieName}=${this.#session(uid)}; Path=/; HttpOnly; SameSite=Strict`,
    }
  }

  #session(uid: number | undefined): string {
    return createHmac('sha256', this.#secret).update(String(uid)).digest('base64url')
  }

  get #cookieName(): string {
    return `chainwalk-${this.#port}`
  }

  #linkWith(token: string): string {
    return `http://127.0.0.1:${this.#port}/?token=${token}`
  }

  /** Only these names: a foreign name that resolves to 127.0.0.1 (DNS rebinding) is not ours. */
  #isHost(host: string | undefined): boolean {
    return host === `127.0.0.1:${this.#port}` || host === `localhost:${this.#port}`
  }

  #holdsCookie(header: string | undefined, uid: number | undefined): boolean {
    const session = this.#session(uid)
    return (header ?? '').split(';').some((pair) => {
      const [name = '', value = ''] = pair.trim().split('=', 2)
      return name === this.#cookieName && isSame(value, session)
    })
  }

  #isToken(token: string, method: string): boolean {
    if (isSame(token, this.#token)) return true
    const once = [...this.#once].find((each) => isSame(token, each))
    if (once !== undefined && method === 'GET') this.#once.delete(once)
    return once !== undefined
  }
}

function refuse(status: 401 | 403 | 405, reason: string): Admission {
  return { verdict: 'refused', status, reason }
}

/** Of `/?token=…` alone; undefined for every other address. */
function tokenIn(target: string): string | undefined {
  return /^\/\?token=([A-Za-z0-9_-]+)$/.exec(target)?.[1]
}

/** Takes as long whichever character differs; the length is no secret. */
function isSame(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)]
  return a.length === b.length && timingSafeEqual(a, b)
}

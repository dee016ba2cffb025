import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket as NodeSocket } from 'ws'
import { type Lab, startLab, whyNoLab } from '../lab/chainwalk.ts'
import { launchBrowser, watchProblems, whyNoBrowser } from './browser.ts'
import { startServe, type WebEntry } from './launch-window.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

let lab: Lab
let server: WebEntry
let cookie: string

/** A request as it stands on the wire: no client tidies its path. */
function ask(
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { port } = new URL(server.origin)
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
      })
    })
    asked.on('error', reject)
    asked.end()
  })
}

const admitted = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  ask(path, { headers: { cookie, ...headers } })

/** `open`, or the status with which the upgrade was refused. */
function upgrade(path: string, headers: Record<string, string>): Promise<'open' | number> {
  return new Promise((resolve, reject) => {
    const socket = new NodeSocket(`${server.origin.replace('http', 'ws')}${path}`, { headers })
    socket.once('open', () => {
      socket.terminate()
      resolve('open')
    })
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0)
    })
    socket.once('error', reject)
  })
}

describe.skipIf(whyNoLab())('the web entry lets in only who holds the link', () => {
  beforeAll(async () => {
    lab = await startLab()
    server = await startServe(['--name', lab.name])
    const { headers } = await ask(`/?token=${server.token}`)
    cookie = String(headers['set-cookie']).split(';')[0] ?? ''
  })
  afterAll(async () => {
    await server?.stop()
    await lab?.down()
  })

  test('the link is exchanged for a cookie that scripts and other sites do not get', async () => {
    const { status, headers } = await ask(`/?token=${server.token}`)
    expect(status).toBe(303)
    expect(headers['location']).toBe('/')
    const [words] = headers['set-cookie'] as string[]
    const { port } = new URL(server.origin)
    expect(words).toMatch(new RegExp(`^chainwalk-${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`))
    expect(words).not.toContain(server.token)
    expect((await admitted('/')).status).toBe(200)
  })

  test('a known browser that opens the link again loses the token from its address, too', async () => {
    expect((await admitted(`/?token=${server.token}`)).status).toBe(303)
  })

  test.each(['/', '/index.html', '/assets/x.js', '/lab', '/%zz', '/?token=', '/nothing'])(
    'without a cookie %s is refused',
    async (path) => {
      const { status, body } = await ask(path)
      expect(status).toBe(401)
      expect(body).not.toContain('<')
    },
  )

  test('a wrong token is refused, whatever its length', async () => {
    const last = server.token.endsWith('A') ? 'B' : 'A'
    for (const wrong of ['x', `${server.token.slice(0, -1)}${last}`, `${server.token}A`, 'a'.repeat(5000)])
      expect((await ask(`/?token=${wrong}`)).status).toBe(403)
    expect((await ask(`/index.html?token=${server.token}`)).status).toBe(401)
  })

  test('a wrong cookie is refused', async () => {
    const [name = ''] = cookie.split('=')
    for (const wrong of [
      `${name}=`,
      `${name}=${server.token}`,
      `${cookie}x`,
      `other=${cookie.split('=')[1]}`,
    ])
      expect((await ask('/', { headers: { cookie: wrong } })).status).toBe(401)
    expect((await ask('/', { headers: { cookie: `a=b; ${cookie}; c=d` } })).status).toBe(200)
  })

  test.skipIf(process.getuid?.() !== 0)('a cookie that another user has got hold of is refused', () => {
    const ask = (words: readonly string[]): string =>
      execFileSync(
        words[0] ?? '',
        [
          ...words.slice(1),
          'curl',
          '-s',
          '-o',
          '/dev/null',
          '-w',
          '%{http_code}',
          '-H',
          `cookie: ${cookie}`,
          server.origin,
        ],
        { encoding: 'utf8' },
      )
    expect(ask(['env'])).toBe('200')
    expect(ask(['setpriv', '--reuid', '54321', '--regid', '54321', '--clear-groups'])).toBe('401')
  })

  test('under another name nothing is served (a name that was made to point here)', async () => {
    const { port } = new URL(server.origin)
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      `127.0.0.2:${port}`,
      `LOCALHOST.:${port}`,
    ])
      expect((await admitted('/', { host })).status).toBe(403)
    expect((await ask(`/?token=${server.token}`, { headers: { host: 'evil.example' } })).status).toBe(403)
    expect((await admitted('/', { host: `localhost:${port}` })).status).toBe(200)
  })

  test('nothing is written by HTTP: other methods, and forms of other sites', async () => {
    const own = { cookie, origin: server.origin }
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      expect((await ask('/', { method, headers: own })).status).toBe(405)
      expect(
        (await ask('/lab', { method, headers: { ...own, origin: 'https://evil.example' } })).status,
      ).toBe(403)
      expect((await ask('/', { method, headers: { cookie } })).status).toBe(403)
    }
    expect((await ask('/', { method: 'POST', headers: own })).headers['allow']).toBe('GET, HEAD')
    const head = await ask('/', { method: 'HEAD', headers: own })
    expect([head.status, head.body]).toEqual([200, ''])
  })

  test.each([
    '/../package.json',
    '/../../etc/passwd',
    '/%2e%2e/package.json',
    '/..%2fpackage.json',
    '/assets/../../main/cli.cjs',
    '/assets/..%5c..%5cpackage.json',
    '/assets/%252e%252e/index.html',
    '//etc/passwd',
    '/assets',
    '/assets/',
    '/.',
    '/%00',
    '/index.html%00.js',
    '/%zz',
    '/%',
    `/${'a'.repeat(300)}`,
    'http://127.0.0.1/index.html',
  ])('%s is not found', async (path) => {
    const { status, body } = await admitted(path)
    expect(status).toBe(404)
    expect(body).toBe('there is no such file\n')
  })

  test('a socket opens only for the page itself', async () => {
    const { origin } = server
    const { port } = new URL(origin)
    expect(await upgrade('/lab', { cookie, origin })).toBe('open')
    expect(await upgrade('/lab', { origin })).toBe(401)
    expect(await upgrade('/lab', { cookie: 'x=y', origin })).toBe(401)
    expect(await upgrade(`/lab?token=${server.token}`, { origin })).toBe(401)
    for (const foreign of [
      'https://evil.example',
      'null',
      `http://localhost:${port}`,
      `https://127.0.0.1:${port}`,
    ])
      expect(await upgrade('/lab', { cookie, origin: foreign })).toBe(403)
    expect(await upgrade('/lab', { cookie })).toBe(403)
    expect(await upgrade('/lab', { cookie, origin: 'http://evil.example', host: 'evil.example' })).toBe(403)
    expect(await upgrade('/other', { cookie, origin })).toBe(403)
  })

  test('every answer forbids what the page has no need of', async () => {
    const { headers } = await admitted('/')
    const policy = Object.fromEntries(
      String(headers['content-security-policy'])
        .split('; ')
        .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
    )
    expect(policy).toMatchObject({
      'default-src': "'self'",
      'script-src': "'self'",
      'connect-src': `'self' ${server.origin.replace('http', 'ws')}`,
      'object-src': "'none'",
      'frame-ancestors': "'none'",
      'base-uri': "'none'",
      'form-action': "'none'",
    })
    for (const each of [headers, (await ask('/')).headers, (await admitted('/none')).headers])
      expect(each).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
        'content-security-policy': expect.stringContaining("default-src 'self'"),
      })
  })

  test('the page has no script of its own in it; its hashed files may be kept', async () => {
    const { body } = await admitted('/')
    expect(body).not.toMatch(/<script(?![^>]* src=)/)
    expect(body).not.toMatch(/ on\w+=|javascript:/)
    const asset = /src="\.(\/assets\/[^"]+\.js)"/.exec(body)?.[1] ?? ''
    const { status, headers } = await admitted(asset)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(headers['cache-control']).toBe('private, max-age=31536000, immutable')
  })

  test('a message that is none of ours closes its own socket, and nothing else', async () => {
    const open = (): Promise<NodeSocket> =>
      new Promise((resolve, reject) => {
        const socket = new NodeSocket(`${server.origin.replace('http', 'ws')}/lab`, {
          headers: { cookie, origin: server.origin },
        })
        socket.once('open', () => resolve(socket))
        socket.once('error', reject)
      })
    const [good, bad] = [await open(), await open()]
    const closed = new Promise((resolve) => bad.once('close', resolve))
    bad.send('GET / HTTP/1.1')
    await closed
    const answered = new Promise<string>((resolve) => good.once('message', (data) => resolve(String(data))))
    good.send(JSON.stringify({ t: 'request', id: 1, name: 'lab/status', params: {} }))
    expect(await answered).toContain(lab.name)
    good.terminate()
  })

  test('it listens on the loopback interface alone', () => {
    const { port } = new URL(server.origin)
    const table = readFileSync('/proc/net/tcp', 'utf8')
    const hex = Number(port).toString(16).toUpperCase().padStart(4, '0')
    const listening = table
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, address, , state]) => address?.endsWith(`:${hex}`) && state === '0A')
    expect(listening.map(([, address]) => address)).toEqual([`0100007F:${hex}`])
  })

  describe.skipIf(whyNoBrowser())('in a browser', () => {
    test('the policy holds: inline scripts, foreign scripts, images, sockets and frames are stopped', async () => {
      const browser = await launchBrowser()
      try {
        const page = await browser.newPage()
        await page.goto(server.link)
        await page.getByText(lab.name).first().waitFor()
        const stopped = await page.evaluate(async () => {
          const stoppedDirectives = new Set<string>()
          document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
            stoppedDirectives.add(effectiveDirective),
          )
          const add = (tag: string, values: Record<string, string>): void => {
            document.body.append(Object.assign(document.createElement(tag), values))
          }
          add('script', { textContent: 'window.inlineRan = true' })
          add('script', { src: 'http://127.0.0.1:9/x.js' })
          add('img', { src: 'http://127.0.0.1:9/x.png' })
          add('iframe', { src: 'http://127.0.0.1:9/' })
          await fetch('http://127.0.0.1:9/').catch(() => undefined)
          try {
            new WebSocket('ws://127.0.0.1:9/')
          } catch {
            // some browsers throw
          }
          await new Promise((resolve) => setTimeout(resolve, 300))
          return { directives: [...stoppedDirectives].sort(), inlineRan: 'inlineRan' in window }
        })
        expect(stopped).toEqual({
          directives: ['connect-src', 'frame-src', 'img-src', 'script-src-elem'],
          inlineRan: false,
        })
      } finally {
        await browser.close()
      }
    })

    // As another site (no cookie is sent), and as another port of the same host (it is).
    test.each(['localhost', '127.0.0.1'])(
      'a page of %s:ANOTHER can neither frame the window, nor post to it, nor open its socket',
      async (host) => {
        const foreign = createServer((_request, response) => {
          response.setHeader('content-type', 'text/html')
          response.end(`<iframe src="${server.origin}/"></iframe>
            <form method="post" action="${server.origin}/lab"><button>post</button></form>`)
        })
        await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
        const browser = await launchBrowser()
        try {
          const page = await browser.newPage()
          await page.goto(server.link)
          await page.goto(`http://${host}:${(foreign.address() as AddressInfo).port}/`)
          const socket = await page.evaluate(
            (url) =>
              new Promise<string>((resolve) => {
                const tried = new WebSocket(url)
                tried.onopen = () => resolve('open')
                tried.onerror = () => resolve('refused')
              }),
            `${server.origin.replace('http', 'ws')}/lab`,
          )
          expect(socket).toBe('refused')
          await page.waitForTimeout(300)
          for (const frame of page.frames().slice(1))
            expect(await frame.content().catch(() => '')).not.toContain('id="app"')
          const [answer] = await Promise.all([
            page.waitForResponse(`${server.origin}/lab`),
            page.getByRole('button').click(),
          ])
          expect(answer.status()).toBe(403)
        } finally {
          await browser.close()
          foreign.closeAllConnections()
          await new Promise((resolve) => foreign.close(resolve))
        }
      },
    )

    test('without the link a person is told what to do', async () => {
      const browser = await launchBrowser()
      try {
        const page = await browser.newPage()
        watchProblems(page, server.origin)
        await page.goto(server.origin)
        expect(await page.textContent('body')).toContain('open the link that Chainwalk printed')
      } finally {
        await browser.close()
      }
    })
  })
})

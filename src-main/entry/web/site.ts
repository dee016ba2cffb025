import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

export interface SiteAnswer {
  readonly status: 200 | 404
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Plain names below the folder: no `..`, no hidden file, nothing that an encoding could smuggle in. */
const PLAIN_PATH = /^(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$/

/** What the page may do, for both entries; `connect` are sources besides its own, such as `ws://127.0.0.1:8470`. */
export function securityHeaders(connect: readonly string[]): Record<string, string> {
  const policy = {
    'default-src': "'self'",
    'script-src': "'self'",
    // The terminal and the editor insert style elements.
    'style-src': "'self' 'unsafe-inline'",
    'img-src': "'self' data:",
    'connect-src': ["'self'", ...connect].join(' '),
    'object-src': "'none'",
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
  }
  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, sources]) => `${directive} ${sources}`)
      .join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  }
}

/** The built window's file for a path as it stands in the request line (still encoded, without its query). */
export async function readSite(
  folder: string,
  path: string,
  connect: readonly string[] = [],
): Promise<SiteAnswer> {
  const name = path === '/' ? '/index.html' : path
  const found = PLAIN_PATH.test(name) ? await readOrNothing(join(folder, name)) : undefined
  const isHashed = name.startsWith('/assets/') // vite names these after their content
  return {
    status: found ? 200 : 404,
    headers: {
      ...securityHeaders(connect),
      'content-type': (found && TYPES[extname(name)]) ?? 'text/plain; charset=utf-8',
      'cache-control': found && isHashed ? 'private, max-age=31536000, immutable' : 'no-store',
    },
    body: found ?? Buffer.from('there is no such file\n'),
  }
}

async function readOrNothing(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' || code === 'ENAMETOOLONG')
      return undefined
    throw error
  }
}

import { accessSync, constants } from 'node:fs'

/** Ordinary users often lack the sbin folders in their PATH, where iptables lives. */
const ALSO = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/** The full path of an executable, or undefined. */
export function findTool(name: string): string | undefined {
  for (const folder of [...(process.env['PATH'] ?? '').split(':'), ...ALSO]) {
    if (!folder.startsWith('/')) continue
    const path = `${folder}/${name}`
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'ENOTDIR') throw error
    }
  }
  return undefined
}

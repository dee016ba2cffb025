import { spawn } from 'node:child_process'

/** Whether a browser window could be shown here. */
export function hasDisplay(): boolean {
  return Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'])
}

/** Asks the desktop to show the link. Where it cannot, the printed link is there. */
export function openBrowser(link: string): void {
  const child = spawn('xdg-open', [link], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

import type { CaptureState } from './lab-contract.ts'

/** How a capture ended: `12 packets captured`, and what kept it from being whole. */
export function captureWords({ packets, isCut, dropped }: CaptureState): string {
  const count = `${packets.toLocaleString('en')} ${packets === 1 ? 'packet' : 'packets'} captured`
  const cut = isCut ? '; ended here, for a capture holds 10,000 packets or 16 MB at most' : ''
  return `${count}${cut}${dropped > 0 ? `; ${dropped} lost, for they came too fast` : ''}`
}

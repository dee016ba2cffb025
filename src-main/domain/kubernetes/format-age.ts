const minute = 60
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

/** The time between two RFC 3339 texts as kubectl writes an AGE: `5s`, `3m12s`, `26h`, `4d2h`; `<unknown>` without one. */
export function formatAge(since: string | undefined, now: string): string {
  if (since === undefined) return '<unknown>'
  const seconds = Math.floor((Date.parse(now) - Date.parse(since)) / 1000)
  return Number.isNaN(seconds) ? '<unknown>' : formatDuration(seconds)
}

/** Two units while the larger one is small, one when it is not. */
export function formatDuration(seconds: number): string {
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 2 * minute) return `${seconds}s`
  if (seconds < 10 * minute) return twoUnits(seconds, minute, 'm', 1, 's')
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`
  if (seconds < 8 * hour) return twoUnits(seconds, hour, 'h', minute, 'm')
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`
  if (seconds < 8 * day) return twoUnits(seconds, day, 'd', hour, 'h')
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`
  if (seconds < 8 * year) return twoUnits(seconds, year, 'y', day, 'd')
  return `${Math.floor(seconds / year)}y`
}

function twoUnits(
  seconds: number,
  large: number,
  largeName: string,
  small: number,
  smallName: string,
): string {
  const rest = Math.floor((seconds % large) / small)
  const whole = `${Math.floor(seconds / large)}${largeName}`
  return rest === 0 ? whole : `${whole}${rest}${smallName}`
}

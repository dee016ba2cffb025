/** What a record itself holds under a name that comes from outside, where `__proto__` or `constructor` may be one. */
export function ownValue<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

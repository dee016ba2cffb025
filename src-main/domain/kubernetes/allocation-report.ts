/** Says what is wrong with the Service being given addresses and ports; `path` is Kubernetes' field path. */
export type ReportAllocation = (severity: 'error' | 'warning', path: string, message: string) => void

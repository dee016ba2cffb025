import type { OpenLab } from './open-lab.ts'

/** Requests under way at one time while pods are asked whether they answer. */
const PARALLEL = 20

/** A Deployment `web` of so many pods, and its Service. */
export const manyPods = (replicas: number): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`

/** Asks every pod from the first one; throws unless so many different pods answer. */
export async function expectAnswers(lab: OpenLab, count: number): Promise<void> {
  const { groups } = await lab.connection.request('objects/list', { kinds: ['pod'] })
  const urls = groups.flatMap(({ objects }) =>
    objects.flatMap((pod) => (pod.kind === 'Pod' ? pod.status.podIPs.map((ip) => `http://${ip}/json`) : [])),
  )
  const flags = ['-s', '-m', '10', '--parallel', '--parallel-max', String(PARALLEL)]
  const output = await lab.exec('deployment/web', 'curl', ...flags, ...urls)
  const answered = new Set([...output.matchAll(/"pod":"([^"]+)"/g)].map(([, pod]) => pod))
  if (urls.length !== count || answered.size !== count)
    throw new Error(`of ${count} pods ${urls.length} have an address and ${answered.size} answer`)
}

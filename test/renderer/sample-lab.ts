import { readFileSync } from 'node:fs'
import type { LabStatus } from '../../src-main/contract/lab-contract.ts'
import { appliedObjects } from '../../src-main/domain/kubernetes/cluster.ts'
import { createClusterFromManifests } from '../../src-main/domain/kubernetes/cluster-from-manifests.ts'
import { listObjects } from '../../src-main/domain/kubernetes/cluster-objects.ts'
import type { EndpointSlice, Pod, Service } from '../../src-main/domain/kubernetes/objects.ts'
import { parseManifests } from '../../src-main/domain/kubernetes/parse-manifests.ts'

export interface SampleLab {
  readonly status: LabStatus
  readonly pods: readonly Pod[]
  readonly services: readonly Service[]
  readonly endpointSlices: readonly EndpointSlice[]
}

/** What a window would hear of a lab with one of the sample manifests. */
export function sampleLab(manifest: string): SampleLab {
  const file = `lab-scripts/manifests/${manifest}`
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const { cluster } = createClusterFromManifests(
    appliedObjects(parseManifests(file, text)),
    new Date(0).toISOString(),
  )
  const pods = listObjects(cluster, 'Pod')
  const services = listObjects(cluster, 'Service')
  return {
    pods,
    services,
    endpointSlices: listObjects(cluster, 'EndpointSlice'),
    status: {
      name: 'lab',
      uptimeMs: 1000,
      version: '0.1.0',
      rootless: true,
      attachment: 'bridge',
      iptables: 'nft',
      nodes: ['control-plane', 'worker1', 'worker2'].map((name, index) => ({
        name,
        address: `172.18.0.${index + 2}`,
        podCIDR: `10.244.${index}.0/24`,
      })),
      client: { address: '172.18.0.254' },
      pods: pods.length,
      services: services.length,
      memoryBytes: 0,
    },
  }
}

import { readFileSync } from 'node:fs'
import { arrangeForKernel } from '../../domain/kube-proxy/arrange-for-kernel.ts'
import { planSync } from '../../domain/kube-proxy/sync.ts'
import { appliedObjects, applyObjects } from '../../domain/kubernetes/cluster.ts'
import { createCluster, listObjects } from '../../domain/kubernetes/cluster-objects.ts'
import { defaultClusterConfig } from '../../domain/kubernetes/default-cluster.ts'
import { parseManifests } from '../../domain/kubernetes/parse-manifests.ts'
import { labNodeConfig } from '../../lab/node-proxy.ts'
import { loadKoffi } from '../../system/kernel/libc.ts'
import './hold-lab.ts'

// node holder-warm.cjs MANIFEST: what a holder works out at its start, without touching anything. A build runs it, so
// that V8's code cache holds these functions compiled.
const [file = ''] = process.argv.slice(2)
loadKoffi()
const config = defaultClusterConfig({ workers: 2 })
const now = new Date().toISOString()
const { cluster } = applyObjects(
  createCluster(config, now),
  appliedObjects(parseManifests(file, readFileSync(file, 'utf8'))),
  now,
)
for (const { name, internalIP, podCIDRs } of config.nodes) {
  const place = { name, address: internalIP, podCIDR: podCIDRs[0] ?? '' }
  const plan = planSync(
    undefined,
    {
      services: listObjects(cluster, 'Service'),
      endpointSlices: listObjects(cluster, 'EndpointSlice'),
      node: undefined,
      config: labNodeConfig(place, config.clusterCIDRs, config.serviceCIDRs),
      family: 'IPv4',
    },
    { nowMs: 0 },
  )
  arrangeForKernel(undefined, plan)
}

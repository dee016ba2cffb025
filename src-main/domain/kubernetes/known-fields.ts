/** The fields of the real API in the parts of an object where a typing mistake would change what the lab does. */
export const knownFields = {
  object: words('apiVersion kind metadata spec status'),
  metadata: words(`annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers
    generateName generation labels managedFields name namespace ownerReferences resourceVersion selfLink uid`),
  objectReference: words('apiVersion fieldPath kind name namespace resourceVersion uid'),
  labelSelector: words('matchExpressions matchLabels'),
  labelSelectorRequirement: words('key operator values'),

  serviceSpec: words(`allocateLoadBalancerNodePorts clusterIP clusterIPs externalIPs externalName
    externalTrafficPolicy healthCheckNodePort internalTrafficPolicy ipFamilies ipFamilyPolicy
    loadBalancerClass loadBalancerIP loadBalancerSourceRanges ports publishNotReadyAddresses selector
    sessionAffinity sessionAffinityConfig trafficDistribution type`),
  servicePort: words('appProtocol name nodePort port protocol targetPort'),
  sessionAffinityConfig: words('clientIP'),
  clientIpConfig: words('timeoutSeconds'),
  serviceStatus: words('conditions loadBalancer'),
  loadBalancerStatus: words('ingress'),
  loadBalancerIngress: words('hostname ip ipMode ports'),

  endpointSlice: words('addressType apiVersion endpoints kind metadata ports'),
  endpoint: words('addresses conditions deprecatedTopology hints hostname nodeName targetRef zone'),
  endpointConditions: words('ready serving terminating'),
  endpointHints: words('forNodes forZones'),
  endpointHint: words('name'),
  endpointPort: words('appProtocol name port protocol'),
  endpoints: words('apiVersion kind metadata subsets'),
  endpointSubset: words('addresses notReadyAddresses ports'),
  endpointAddress: words('hostname ip nodeName targetRef'),

  deploymentSpec: words(`minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit selector
    strategy template`),
  replicaSetSpec: words('minReadySeconds replicas selector template'),
  podTemplate: words('metadata spec'),
  podSpec: words(`activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy
    enableServiceLinks ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname
    hostnameOverride imagePullSecrets initContainers nodeName nodeSelector os overhead preemptionPolicy priority
    priorityClassName readinessGates resourceClaims resources restartPolicy runtimeClassName schedulerName
    schedulingGates securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace
    subdomain terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes workloadRef`),
  container: words(`args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports
    readinessProbe resizePolicy resources restartPolicy restartPolicyRules securityContext startupProbe stdin
    stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir`),
  containerPort: words('containerPort hostIP hostPort name protocol'),

  nodeSpec: words('configSource externalID podCIDR podCIDRs providerID taints unschedulable'),
  nodeAddress: words('address type'),
} as const

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/))
}

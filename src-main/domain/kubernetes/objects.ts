/**
 * The Kubernetes objects that Chainwalk knows, after defaulting: what the API server would store, less the
 * fields that neither the lab nor kube-proxy reads. Field names and values are the API's own.
 */

export type Protocol = 'TCP' | 'UDP' | 'SCTP'
export type IpFamily = 'IPv4' | 'IPv6'
export type Labels = Readonly<Record<string, string>>

export interface ObjectMeta {
  readonly name: string
  /** Empty for cluster-scoped kinds (Node, Namespace). */
  readonly namespace: string
  readonly labels: Labels
  readonly annotations: Labels
  /** RFC 3339; absent until the lab has stored the object. */
  readonly creationTimestamp?: string
  readonly ownerReferences?: readonly OwnerReference[]
}

export interface OwnerReference {
  readonly kind: string
  readonly name: string
}

export interface Namespace {
  readonly kind: 'Namespace'
  readonly metadata: ObjectMeta
}

export interface NodeObject {
  readonly kind: 'Node'
  readonly metadata: ObjectMeta
  readonly spec: { readonly podCIDRs: readonly string[] }
  readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] }
}

export interface ContainerPort {
  /** Empty when unnamed. */
  readonly name: string
  readonly containerPort: number
  readonly protocol: Protocol
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly ports: readonly ContainerPort[]
}

export interface PodSpec {
  readonly containers: readonly Container[]
  /** Set by the manifest or by the scheduler; empty while unscheduled. */
  readonly nodeName: string
  readonly hostNetwork: boolean
}

export interface PodTemplate {
  readonly metadata: Pick<ObjectMeta, 'labels' | 'annotations'>
  readonly spec: PodSpec
}

/** matchLabels and matchExpressions, both of which must hold. */
export interface LabelSelector {
  readonly matchLabels: Labels
  readonly matchExpressions: readonly {
    readonly key: string
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
    readonly values: readonly string[]
  }[]
}

export interface Deployment {
  readonly kind: 'Deployment'
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly replicas: number
    readonly selector: LabelSelector
    readonly template: PodTemplate
  }
}

export interface ReplicaSet {
  readonly kind: 'ReplicaSet'
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly replicas: number
    readonly selector: LabelSelector
    readonly template: PodTemplate
  }
}

export interface Pod {
  readonly kind: 'Pod'
  readonly metadata: ObjectMeta
  readonly spec: PodSpec
  readonly status: {
    /** Empty until the lab gives one. */
    readonly podIPs: readonly string[]
    readonly ready: boolean
    readonly terminating: boolean
  }
}

export interface ServicePort {
  /** Empty when unnamed. */
  readonly name: string
  readonly protocol: Protocol
  readonly port: number
  /** A container port's number or its name. */
  readonly targetPort: number | string
  /** 0 when the Service has none. */
  readonly nodePort: number
  readonly appProtocol?: string
}

export type ServiceType = 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName'
export type TrafficPolicy = 'Cluster' | 'Local'

export interface LoadBalancerIngress {
  readonly ip?: string
  readonly hostname?: string
  readonly ipMode?: 'VIP' | 'Proxy'
}

export interface Service {
  readonly kind: 'Service'
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly type: ServiceType
    readonly selector: Labels
    readonly ports: readonly ServicePort[]
    /** One a family, ["None"] when headless, empty for ExternalName or until allocated. */
    readonly clusterIPs: readonly string[]
    readonly ipFamilies: readonly IpFamily[]
    readonly ipFamilyPolicy: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack' | ''
    readonly externalIPs: readonly string[]
    readonly externalName: string
    readonly externalTrafficPolicy: TrafficPolicy
    readonly internalTrafficPolicy: TrafficPolicy
    readonly sessionAffinity: 'None' | 'ClientIP'
    /** Only meaningful with sessionAffinity ClientIP; 10800 by default. */
    readonly sessionAffinityTimeoutSeconds: number
    readonly loadBalancerIP: string
    readonly loadBalancerClass: string
    readonly loadBalancerSourceRanges: readonly string[]
    readonly allocateLoadBalancerNodePorts: boolean
    /** 0 when there is none. */
    readonly healthCheckNodePort: number
    readonly publishNotReadyAddresses: boolean
    readonly trafficDistribution: string
  }
  readonly status: { readonly loadBalancer: { readonly ingress: readonly LoadBalancerIngress[] } }
}

export interface Endpoint {
  readonly addresses: readonly string[]
  /** A missing condition stays missing: kube-proxy reads absent ready and serving as true. */
  readonly conditions: {
    readonly ready?: boolean
    readonly serving?: boolean
    readonly terminating?: boolean
  }
  readonly hostname?: string
  readonly nodeName?: string
  readonly zone?: string
  readonly hints?: {
    readonly forZones?: readonly { readonly name: string }[]
    readonly forNodes?: readonly { readonly name: string }[]
  }
  readonly targetRef?: { readonly kind: string; readonly name: string; readonly namespace?: string }
}

export interface EndpointPort {
  readonly name: string
  readonly protocol: Protocol
  /** Absent means all ports, which kube-proxy ignores. */
  readonly port?: number
}

export interface EndpointSlice {
  readonly kind: 'EndpointSlice'
  readonly metadata: ObjectMeta
  readonly addressType: IpFamily | 'FQDN'
  readonly endpoints: readonly Endpoint[]
  readonly ports: readonly EndpointPort[]
}

/** The older core/v1 Endpoints; mirrored into EndpointSlices by the controllers, as in a cluster. */
export interface Endpoints {
  readonly kind: 'Endpoints'
  readonly metadata: ObjectMeta
  readonly subsets: readonly {
    readonly addresses: readonly EndpointAddress[]
    readonly notReadyAddresses: readonly EndpointAddress[]
    readonly ports: readonly EndpointPort[]
  }[]
}

export interface EndpointAddress {
  readonly ip: string
  readonly hostname?: string
  readonly nodeName?: string
  readonly targetRef?: { readonly kind: string; readonly name: string; readonly namespace?: string }
}

export type KubernetesObject =
  | Namespace
  | NodeObject
  | Deployment
  | ReplicaSet
  | Pod
  | Service
  | EndpointSlice
  | Endpoints

export type Kind = KubernetesObject['kind']

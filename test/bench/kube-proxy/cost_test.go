package iptables

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	iptablestest "k8s.io/kubernetes/pkg/util/iptables/testing"
)

const (
	serviceCount  = 10000
	endpointCount = 5
	rounds        = 6
)

// TestCost writes what each sync of the cluster of rule-generation.bench.ts costs, one JSON object a round, to the
// file that COST names. iptables itself is a stand-in of Kubernetes' own: the text is made, and nobody loads it.
func TestCost(t *testing.T) {
	out, err := os.Create(os.Getenv("COST"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var services []*v1.Service
	var slices []*discovery.EndpointSlice
	for i := 0; i < serviceCount; i++ {
		services = append(services, costService(i))
		var addresses []string
		for j := 0; j < endpointCount; j++ {
			n := i*endpointCount + j
			addresses = append(addresses, fmt.Sprintf("10.%d.%d.%d", 128+(n>>16), (n>>8)&255, n&255))
		}
		slices = append(slices, costSlice(i, addresses))
	}
	for round := 0; round < rounds; round++ {
		proxier := NewFakeProxier(iptablestest.NewFake(), true)
		cost := map[string]float64{}
		measure := func(name string, work func()) {
			began := time.Now()
			work()
			cost[name] = float64(time.Since(began).Microseconds()) / 1000
		}
		// What kube-proxy takes in as objects arrive, ours takes in with the sync.
		measure("objects", func() {
			for i := range services {
				proxier.OnServiceAdd(services[i])
				proxier.OnEndpointSliceAdd(slices[i])
			}
		})
		proxier.servicesSynced = true
		proxier.endpointSlicesSynced = true
		measure("cold", proxier.syncProxyRules)
		measure("warm", proxier.syncProxyRules)
		proxier.OnEndpointSliceUpdate(slices[serviceCount/2], costSlice(serviceCount/2, []string{"10.128.9.1", "10.1.1.1"}))
		measure("oneEndpoint", proxier.syncProxyRules)
		if err := json.NewEncoder(out).Encode(cost); err != nil {
			t.Fatal(err)
		}
	}
}

func costService(i int) *v1.Service {
	return makeTestService("default", fmt.Sprintf("svc-%05d", i), func(service *v1.Service) {
		service.Spec.ClusterIP = fmt.Sprintf("10.%d.%d.%d", 96+(i>>16), (i>>8)&255, i&255)
		service.Spec.Ports = []v1.ServicePort{
			{Name: "http", Protocol: v1.ProtocolTCP, Port: 80, TargetPort: intstr.FromInt(8080)},
		}
	})
}

func costSlice(i int, addresses []string) *discovery.EndpointSlice {
	name := fmt.Sprintf("svc-%05d", i)
	portName, port, protocol := "http", int32(8080), v1.ProtocolTCP
	ready, node := true, "node-b"
	slice := &discovery.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name:      name + "-abcde",
			Namespace: "default",
			Labels:    map[string]string{discovery.LabelServiceName: name},
		},
		AddressType: discovery.AddressTypeIPv4,
		Ports:       []discovery.EndpointPort{{Name: &portName, Port: &port, Protocol: &protocol}},
	}
	for _, address := range addresses {
		slice.Endpoints = append(slice.Endpoints, discovery.Endpoint{
			Addresses:  []string{address},
			Conditions: discovery.EndpointConditions{Ready: &ready},
			NodeName:   &node,
		})
	}
	return slice
}

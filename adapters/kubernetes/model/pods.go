// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	helpers "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1"
)

// Labels and annotations that users set on pods.
const (
	// GroupLabel names the group of a pod, as coscheduling has it. There need be no PodGroup.
	GroupLabel = "scheduling.x-k8s.io/pod-group"
	// MinLabel, a label or annotation, is how many pods of a group start together, where no PodGroup
	// says so; without it all that there are do.
	MinLabel = "scheduling.x-k8s.io/min-member"
	// WithinAnnotation is a label of nodes of which all pods of the group get the same value.
	WithinAnnotation = "kueue.x-k8s.io/podset-required-topology"
	// QueueLabel names the pod's queue; without it that is the queue of its namespace.
	QueueLabel = "kueue.x-k8s.io/queue-name"
)

// pod is what the model needs of a pod. It is made once for each version of the pod.
type pod struct {
	*v1.Pod
	// group is namespace/name of the pod's group, or ""; policy the one of Objects.Groups that is its.
	group, policy string
	// requests has all that the pod asks for: CPU in thousandths, all else in units, rounded up; itself too.
	requests map[string]int64
	// filter is the same for pods that may use the same nodes; spec for pods that ask for the same.
	filter, spec string
	// rows are those of the pod's own terms.
	rows []row
	// refused says what the pod asks for that can't be expressed; "": nothing.
	refused string

	// In this round: takes is requests and rows in the Cluster's units. Pods of the same kind are alike.
	takes map[string]int64
	kind  string
}

func newPod(p *v1.Pod) *pod {
	x := &pod{Pod: p, requests: map[string]int64{string(v1.ResourcePods): 1}, refused: refusal(p), rows: rowsOf(p)}
	if w := p.Spec.WorkloadRef; w != nil {
		x.policy = p.Namespace + "/" + w.Name + "/" + w.PodGroup
		x.group = strings.TrimSuffix(x.policy+"/"+w.PodGroupReplicaKey, "/")
	} else if g := p.Labels[GroupLabel]; g != "" {
		x.group = p.Namespace + "/" + g
		x.policy = x.group
	}
	for name, q := range helpers.PodRequests(p, helpers.PodResourcesOptions{}) {
		if v := amount(string(name), q); v > 0 {
			x.requests[string(name)] = v
		}
	}
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				x.requests[fmt.Sprint(hostPort, port.HostPort, "/", port.Protocol)] = 1
			}
		}
	}
	x.filter = hash(p.Namespace, p.Spec.NodeSelector, p.Spec.Affinity, p.Spec.Tolerations)
	x.spec = hash(x.filter, x.requests, p.Spec.TopologySpreadConstraints, p.Spec.PriorityClassName, p.Labels[QueueLabel])
	return x
}

// refusal says which required term of a pod the model has no words for.
func refusal(p *v1.Pod) string {
	switch {
	case len(p.Spec.ResourceClaims) > 0:
		return "resource claims are not supported"
	case slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }):
		return "persistent volumes are not supported"
	}
	for _, t := range slices.Concat(required(p, false), required(p, true)) {
		if t.NamespaceSelector != nil || t.MatchLabelKeys != nil || t.MismatchLabelKeys != nil {
			return "affinity and anti-affinity with a namespaceSelector or matchLabelKeys are not supported"
		}
	}
	for _, t := range required(p, true) {
		if t.TopologyKey != v1.LabelHostname {
			return "required anti-affinity is supported for " + v1.LabelHostname + " only, not for " + t.TopologyKey
		}
	}
	for _, s := range p.Spec.TopologySpreadConstraints {
		if s.WhenUnsatisfiable == v1.DoNotSchedule &&
			(s.TopologyKey != v1.LabelHostname || s.MinDomains != nil || s.MatchLabelKeys != nil) {
			return "a required topology spread is supported for " + v1.LabelHostname + " only, without minDomains and matchLabelKeys"
		}
	}
	return ""
}

// required are the pod's required terms of affinity, or of anti-affinity.
func required(p *v1.Pod, anti bool) []v1.PodAffinityTerm {
	switch a := p.Spec.Affinity; {
	case a == nil:
	case anti && a.PodAntiAffinity != nil:
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	case !anti && a.PodAffinity != nil:
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// amount is a quantity in the units of pod.requests, rounded up; quantity is the quantity of an amount.
func amount(name string, q resource.Quantity) int64 {
	if name == string(v1.ResourceCPU) {
		return q.MilliValue()
	}
	return q.Value()
}

func quantity(name string, v int64) *resource.Quantity {
	switch v1.ResourceName(name) {
	case v1.ResourceCPU:
		return resource.NewMilliQuantity(v, resource.DecimalSI)
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return resource.NewQuantity(v, resource.BinarySI)
	}
	return resource.NewQuantity(v, resource.DecimalSI)
}

// room is a quantity in the units of pod.requests, rounded down.
func room(name string, q resource.Quantity) int64 {
	v := amount(name, q)
	if quantity(name, v).Cmp(q) > 0 {
		v--
	}
	return max(0, v)
}

func (p *pod) name() string    { return p.Namespace + "/" + p.Name }
func (p *pod) priority() int32 { return corev1.PodPriority(p.Pod) }

// Cache keeps what was made of pods.
type Cache map[types.UID]*pod

// of is what was made of a pod.
func (c Cache) of(p *v1.Pod) *pod {
	if x := c[p.UID]; x != nil && x.ResourceVersion == p.ResourceVersion && x.Name == p.Name {
		x.Pod = p
		return x
	}
	c[p.UID] = newPod(p)
	return c[p.UID]
}

// hash is the same for the same values.
func hash(values ...any) string {
	text, _ := json.Marshal(values) // which sorts maps
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// sorted are the keys of m, ascending.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

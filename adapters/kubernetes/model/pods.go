// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	// least is how many start together as the pod itself says, or 0.
	group, policy string
	least         int
	// requests are the amounts of all that the pod asks for, itself too.
	requests map[string]int64
	// filter is the same for pods that may use the same nodes; spec for pods that ask for the same.
	filter, spec string
	// near are the required terms of affinity, rows those of anti-affinity and spread.
	near []term
	rows []row
	// refused says what the pod asks for that can't be expressed; "": nothing.
	refused string

	// In this round: takes is requests and rows in the Cluster's units. Pods of the same kind are alike.
	takes map[string]int64
	kind  string
}

func newPod(p *v1.Pod) *pod {
	x := &pod{Pod: p, requests: amounts(helpers.PodRequests(p, helpers.PodResourcesOptions{}))}
	x.requests[string(v1.ResourcePods)] = 1
	if w := p.Spec.WorkloadRef; w != nil {
		x.policy = p.Namespace + "/" + w.Name + "/" + w.PodGroup
		x.group = strings.TrimSuffix(x.policy+"/"+w.PodGroupReplicaKey, "/")
	} else if g := p.Labels[GroupLabel]; g != "" {
		x.group = p.Namespace + "/" + g
		x.policy = x.group
		x.least, _ = strconv.Atoi(cmp.Or(p.Labels[MinLabel], p.Annotations[MinLabel]))
	}
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				x.requests[fmt.Sprint(hostPort, port.HostPort, "/", port.Protocol)] = 1
			}
		}
	}
	x.setTerms()
	x.filter = hash(p.Namespace, p.Spec.NodeSelector, p.Spec.Affinity, p.Spec.Tolerations)
	x.spec = hash(x.filter, x.requests, p.Spec.TopologySpreadConstraints, p.Spec.PriorityClassName, p.Labels[QueueLabel])
	return x
}

// amount is a quantity in the units of amounts, rounded up as the API does.
func amount(name string, q resource.Quantity) int64 {
	if name == string(v1.ResourceCPU) {
		return q.MilliValue()
	}
	return q.Value()
}

func (p *pod) name() string    { return p.Namespace + "/" + p.Name }
func (p *pod) priority() int32 { return corev1.PodPriority(p.Pod) }

// holds is 1 of a pod that holds something of a node, and 0 of one that waits.
func (p *pod) holds() int { return min(1, len(p.Spec.NodeName)) }

// split are those of sorted pods that wait, and those that hold something.
func split(pods []*pod) (wait, held []*pod) {
	n, _ := slices.BinarySearchFunc(pods, 1, func(p *pod, holds int) int { return p.holds() - holds })
	return pods[:n], pods[n:]
}

// Scheduled is the condition of a pod that says whether it is bound, since when, or why not.
func Scheduled(p *v1.Pod) (condition v1.PodCondition) {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled {
			condition = c
		}
	}
	return condition
}

// Cache keeps what was made of pods.
type Cache map[types.UID]*pod

// of is what was made of a pod.
func (c Cache) of(p *v1.Pod) *pod {
	x := c[p.UID]
	if x == nil || x.ResourceVersion != p.ResourceVersion || x.Name != p.Name {
		x = newPod(p)
		c[p.UID] = x
	}
	x.Pod = p
	return x
}

// by are pods by a key that is not "", in the order of the first of each.
func by(pods []*pod, key func(*pod) string) (all [][]*pod) {
	at := make(map[string]int)
	for _, p := range pods {
		name := key(p)
		k, ok := at[name]
		switch {
		case name == "":
			continue
		case !ok:
			k = len(all)
			at[name], all = k, append(all, nil)
		}
		all[k] = append(all[k], p)
	}
	return all
}

// hash is the same for the same values.
func hash(values ...any) string {
	text, _ := json.Marshal(values) // which sorts maps
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// sorted are the keys of m, ascending.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

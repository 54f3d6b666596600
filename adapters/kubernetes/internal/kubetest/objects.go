// SPDX-License-Identifier: BSD-3-Clause

// Package kubetest makes nodes and pods for tests.
package kubetest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Rack is the label of racks.
const Rack = "topology.kubernetes.io/rack"

// List is a resource list of "name=amount" pairs.
func List(pairs ...string) v1.ResourceList {
	l := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// Node is a ready node with 8 CPUs and 32 GiB, or with pairs.
func Node(name string, pairs ...string) *v1.Node {
	l := List("pods", "110", "cpu", "8", "memory", "32Gi")
	for k, v := range List(pairs...) {
		l[k] = v
	}
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
		Status: v1.NodeStatus{Allocatable: l, Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}}}
}

var serial int

// Pod is a pod of namespace default that asks for pairs.
func Pod(name string, pairs ...string) *v1.Pod {
	serial++
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(fmt.Sprint("uid-", serial)),
			Labels: map[string]string{}, Annotations: map[string]string{},
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, 0, serial, 0, time.UTC))},
		Spec: v1.PodSpec{SchedulerName: "aucsched",
			Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: List(pairs...)}}}}}
}

// Group has pods be of a group.
func Group(group string, min int, pods ...*v1.Pod) []runtime.Object {
	var all []runtime.Object
	for _, p := range pods {
		p.Labels["scheduling.x-k8s.io/pod-group"] = group
		if min > 0 {
			p.Labels["scheduling.x-k8s.io/min-member"] = fmt.Sprint(min)
		}
		all = append(all, p)
	}
	return all
}

// Pods are n pods that ask for pairs.
func Pods(name string, n int, pairs ...string) (all []*v1.Pod) {
	for i := range n {
		all = append(all, Pod(fmt.Sprint(name, "-", i), pairs...))
	}
	return all
}

// Number is a number from the environment.
func Number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// Drawn is a group of 1 to 12 pods, or of two kinds, some of which want GPUs, one rack, or less than all.
func Drawn(r *rand.Rand, name string) (group []*v1.Pod) {
	n, cpu, gpu := 1+r.IntN(12), 1+r.IntN(16), 0
	if r.IntN(3) == 0 {
		gpu = 1 + r.IntN(8)
	}
	least, oneRack, unlike := n, r.IntN(5) == 0, r.IntN(6) == 0
	if r.IntN(4) == 0 {
		least = 1 + r.IntN(n)
		unlike = false
	}
	class := []string{"low", "mid"}[r.IntN(2)]
	for k := range n {
		p := Pod(fmt.Sprint(name, "-", k), "cpu", fmt.Sprint(cpu), "memory", fmt.Sprint(1+r.IntN(1), "Gi"))
		if unlike && k == 0 {
			p = Pod(fmt.Sprint(name, "-", k), "cpu", "2", "memory", "1000000001")
		}
		p.UID, p.CreationTimestamp = "", metav1.Time{}
		p.Spec.PriorityClassName = class
		p.Spec.Containers[0].Name, p.Spec.Containers[0].Image = "c", "x"
		if gpu > 0 {
			q := List("nvidia.com/gpu", fmt.Sprint(gpu))["nvidia.com/gpu"]
			p.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = q
			p.Spec.Containers[0].Resources.Limits = v1.ResourceList{"nvidia.com/gpu": q}
			p.Spec.Tolerations = []v1.Toleration{{Key: "nvidia.com/gpu", Operator: v1.TolerationOpExists}}
		}
		if n > 1 {
			p.Labels["scheduling.x-k8s.io/pod-group"], p.Labels["scheduling.x-k8s.io/min-member"] = name, fmt.Sprint(least)
			if oneRack {
				p.Annotations["kueue.x-k8s.io/podset-required-topology"] = Rack
			}
		}
		group = append(group, p)
	}
	return group
}

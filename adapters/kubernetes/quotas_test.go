// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha1 "k8s.io/api/scheduling/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Quotas are read from their ConfigMap.
func TestQuotas(t *testing.T) {
	of := metav1.ObjectMeta{Name: "quotas", Namespace: "kube-system"}
	quotas := &v1.ConfigMap{ObjectMeta: of, Data: map[string]string{
		"quotas.yaml": "queues: [{name: a, namespaces: [default], nominal: {cpu: 4}}]"}}
	s := newServer(t, aNode("n1"), quotas, aPod("a", "cpu", "3"), aPod("b", "cpu", "3"))
	s.start(func(c *scheduler) { c.namespace, c.quotaName = "kube-system", "quotas" })
	s.bound(1)
	s.told("b", "queue a: cpu")
}

// PodGroups say how many pods start together.
func TestPodGroups(t *testing.T) {
	group := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
		"metadata": map[string]any{"name": "g", "namespace": "default"}, "spec": map[string]any{"minMember": int64(2)}}}
	s := newServer(t, append([]runtime.Object{aNode("n1"), group}, inGroup("g", 0, pods("g", 4, "cpu", "4")...)...)...)
	s.start(func(c *scheduler) { c.groups = groupKinds[:1] })
	s.bound(2)
}

// ofWorkload has pods be of a group of a Workload.
func ofWorkload(workload, group string, pods ...*v1.Pod) (all []runtime.Object) {
	for _, p := range pods {
		p.Spec.WorkloadRef = &v1.WorkloadReference{Name: workload, PodGroup: group}
		all = append(all, p)
	}
	return all
}

// aWorkload has a group g of which two pods start together, and one, b, of which each starts by itself.
func aWorkload() *schedulingv1alpha1.Workload {
	gang := schedulingv1alpha1.PodGroupPolicy{Gang: &schedulingv1alpha1.GangSchedulingPolicy{MinCount: 2}}
	basic := schedulingv1alpha1.PodGroupPolicy{Basic: &schedulingv1alpha1.BasicSchedulingPolicy{}}
	return &schedulingv1alpha1.Workload{ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "default"},
		Spec: schedulingv1alpha1.WorkloadSpec{PodGroups: []schedulingv1alpha1.PodGroup{{Name: "g", Policy: gang}, {Name: "b", Policy: basic}}}}
}

// Workloads say it in Kubernetes' own words, for each replica of a group.
func TestWorkloads(t *testing.T) {
	whole, part, basic := pods("whole", 2, "cpu", "1"), pods("part", 1, "cpu", "1"), pods("basic", 1, "cpu", "1")
	objects := []runtime.Object{aNode("n1"), aWorkload()}
	objects = append(objects, ofWorkload("w", "g", append(whole, part...)...)...)
	objects = append(objects, ofWorkload("w", "b", basic...)...)
	objects = append(objects, ofWorkload("none", "g", pods("early", 1, "cpu", "1")...)...)
	for i, replica := range []string{"0", "0", "1"} {
		append(whole, part...)[i].Spec.WorkloadRef.PodGroupReplicaKey = replica
	}
	s := newServer(t, objects...)
	s.start(func(c *scheduler) { c.groups = groupKinds[1:] })
	all := s.bound(3)
	require.Empty(t, all["part-0"].Spec.NodeName)
	s.told("part-0", "1 of the 2 pods of group default/w/g/1 are there")
	s.told("early-0", "there is no Workload with a group default/none/g")
}

// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"testing"

	v1 "k8s.io/api/core/v1"
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
	s.start(func(c *Config) { c.Namespace, c.QuotaName = "kube-system", "quotas" })
	s.bound(1)
	s.told("b", "queue a: cpu")
}

// PodGroups say how many pods start together.
func TestPodGroups(t *testing.T) {
	group := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
		"metadata": map[string]any{"name": "g", "namespace": "default"}, "spec": map[string]any{"minMember": int64(2)}}}
	s := newServer(t, append([]runtime.Object{aNode("n1"), group}, inGroup("g", 0, pods("g", 4, "cpu", "4")...)...)...)
	s.start(func(c *Config) { c.Groups = true })
	s.bound(2)
}

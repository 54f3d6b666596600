// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const twoTeams = `
queues:
- {name: a, namespaces: [default], cohort: c, nominal: {cpu: 4, memory: 8Gi}}
- {name: b, cohort: c, nominal: {cpu: 4}, limit: {cpu: 7}}
`

func withQuotas(text string) (*v1.ConfigMap, func(*Config)) {
	of := metav1.ObjectMeta{Name: "quotas", Namespace: "kube-system"}
	return &v1.ConfigMap{ObjectMeta: of, Data: map[string]string{"quotas.yaml": text}},
		func(c *Config) { c.QuotaNamespace, c.QuotaName = "kube-system", "quotas" }
}

// queued are pods of queue b.
func queued(pods ...*v1.Pod) []*v1.Pod {
	for _, p := range pods {
		p.Labels[QueueLabel] = "b"
	}
	return pods
}

// A queue borrows what others of its cohort do not use, up to its limit, and gives it back to its owner.
func TestLentQuotaIsTakenBack(t *testing.T) {
	quotas, with := withQuotas(twoTeams)
	objects := []runtime.Object{aNode("n1", "cpu", "16"), quotas}
	for _, p := range queued(pods("b", 8, "cpu", "1")...) {
		objects = append(objects, p)
	}
	s := newServer(t, objects...)
	x := s.start(with)
	s.bound(7)
	s.told("b-7", "waits for 1 of 1 of queue b: cpu")
	_, err := s.CoreV1().Pods("default").Create(context.Background(), aPod("own", "cpu", "3"), metav1.CreateOptions{})
	require.NoError(t, err)
	all := s.eventually(func(all map[string]*v1.Pod) bool { return all["own"].Spec.NodeName != "" })
	require.Equal(t, 1+5, boundOf(all), "8 in all")
	require.Equal(t, int64(2), x.Metrics.Evicted.Load())
	_, err = s.CoreV1().Pods("default").Create(context.Background(), aPod("more", "cpu", "2"), metav1.CreateOptions{})
	require.NoError(t, err)
	s.told("more", "cohort c: cpu")
	require.Equal(t, int64(2), x.Metrics.Evicted.Load(), "that would not be its own")
}

func TestReadQuotas(t *testing.T) {
	for text, fault := range map[string]string{
		"queues: [{name: a}, {name: a}]": "unlike all others",
		"queues: [{nominal: {cpu: 1}}]":  "needs a name",
		"queue: []":                      "unknown field",
	} {
		_, err := ReadQuotas(text)
		require.ErrorContains(t, err, fault)
	}
	q, err := ReadQuotas(twoTeams)
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, q.cohorts())
}

// PodGroups say how many pods start together.
func TestPodGroups(t *testing.T) {
	group := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
		"metadata": map[string]any{"name": "g", "namespace": "default"}, "spec": map[string]any{"minMember": int64(2)}}}
	kinds := map[schema.GroupVersionResource]string{PodGroups: "PodGroupList"}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, group)
	s := newServer(t, append([]runtime.Object{aNode("n1")}, inGroup("g", 0, pods("g", 4, "cpu", "4")...)...)...)
	s.start(func(c *Config) { c.Dynamic = client })
	s.bound(2)
}

// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/aucsched/aucsched/adapters/kubernetes/internal/kubetest"
	"github.com/aucsched/aucsched/core"
)

const rack = kubetest.Rack

var (
	list, aNode, aPod, inGroup, pods = kubetest.List, kubetest.Node, kubetest.Pod, kubetest.Group, kubetest.Pods
	number, drawn                    = kubetest.Number, kubetest.Drawn
)

// world is a cluster in which whatever a Cluster decides happens at once.
type world struct {
	t       *testing.T
	objects Objects
	cluster *core.Cluster
	known   Cache
	evicted int
	words   map[string]string // why pods wait
}

func newWorld(t *testing.T, objects ...runtime.Object) *world {
	w := &world{t: t, known: make(Cache), objects: Objects{SchedulerName: "aucsched", Topology: []string{rack, v1.LabelTopologyZone}}}
	w.add(objects...)
	return w
}

func (w *world) add(objects ...runtime.Object) {
	for _, o := range objects {
		switch o := o.(type) {
		case *v1.Node:
			w.objects.Nodes = append(w.objects.Nodes, *o)
		case *v1.Pod:
			w.objects.Pods = append(w.objects.Pods, *o)
		}
	}
}

func (w *world) remove(which func(*v1.Pod) bool) {
	var left []v1.Pod
	for i := range w.objects.Pods {
		if p := &w.objects.Pods[i]; !which(p) {
			left = append(left, *p)
		}
	}
	w.objects.Pods = left
}

// round decides once, and reports whether something was bound or evicted.
func (w *world) round() bool {
	m, err := New(&w.objects, time.Now(), w.known,
		core.ClusterOptions{Continues: w.cluster, StrictPreemption: true})
	require.NoError(w.t, err)
	w.cluster = m.Cluster
	cycle, err := w.cluster.Decide(context.Background())
	require.NoError(w.t, err)
	bindings := m.Bindings(cycle)
	for _, b := range bindings {
		require.Empty(w.t, b.Pod.Spec.NodeName)
		b.Pod.Spec.NodeName = b.Node
		b.Pod.ResourceVersion += "b"
	}
	evicted := make(map[*v1.Pod]bool)
	for _, x := range cycle.Preempted {
		for _, p := range m.PodsOf(x.Job) {
			evicted[p] = true
		}
	}
	w.remove(func(p *v1.Pod) bool { return evicted[p] })
	w.evicted += len(evicted)
	w.words = make(map[string]string)
	for _, x := range cycle.Waiting {
		e, err := w.cluster.Explain(context.Background(), x.Job, core.ExplainOptions{})
		require.NoError(w.t, err)
		for _, p := range m.PodsOf(x.Job) {
			w.words[p.Name] = m.Words(x, e)
		}
	}
	for p, why := range m.Refused {
		w.words[p.Name] = why
	}
	return len(bindings)+len(evicted) > 0
}

// bound decides until nothing more happens, and holds the number of bound pods against n.
func (w *world) bound(n int) map[string]*v1.Pod {
	w.t.Helper()
	for rounds := 0; w.round(); rounds++ {
		require.Less(w.t, rounds, 50)
	}
	all, bound := make(map[string]*v1.Pod), 0
	for i := range w.objects.Pods {
		p := &w.objects.Pods[i]
		all[p.Name] = p
		if p.Spec.NodeName != "" {
			bound++
		}
	}
	require.Equal(w.t, n, bound)
	return all
}

// told holds what a pod was told last against words.
func (w *world) told(pod, words string) {
	w.t.Helper()
	require.NotEmpty(w.t, w.words[pod])
	require.Contains(w.t, w.words[pod], words)
	w.t.Log(pod, ": ", w.words[pod])
}

func named(prefix string) func(*v1.Pod) bool {
	return func(p *v1.Pod) bool { return strings.HasPrefix(p.Name, prefix) }
}

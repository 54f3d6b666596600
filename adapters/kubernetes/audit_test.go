// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// audit is an independent referee: it sees each version of each pod in the server's order, and counts in
// the API's own quantities. It shares no code with the adapter but for the names of labels.
type audit struct {
	mu     sync.Mutex
	room   map[string]v1.ResourceList // of nodes, those that are gone too
	nodes  map[string]*v1.Node
	on     map[string]map[string]*v1.Pod // by node and UID
	placed map[string]string             // the node of each UID that was ever bound
	faults []string

	bound, ended int
	last         time.Time // when a pod was bound
}

// newAudit audits until the bed ends.
func newAudit(b *bed) *audit {
	a := &audit{room: make(map[string]v1.ResourceList), nodes: make(map[string]*v1.Node), on: make(map[string]map[string]*v1.Pod),
		placed: make(map[string]string)}
	f := informers.NewSharedInformerFactory(b.Interface, 0)
	nodes := f.Core().V1().Nodes().Informer()
	_, err := nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(x any) { a.node(x.(*v1.Node)) },
		UpdateFunc: func(_, x any) { a.node(x.(*v1.Node)) }})
	require.NoError(b.t, err)
	stop := make(chan struct{})
	b.t.Cleanup(func() { close(stop) })
	f.Start(stop)
	f.WaitForCacheSync(stop)
	pods := f.Core().V1().Pods().Informer()
	_, err = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(x any) { a.pod(x.(*v1.Pod), false) },
		UpdateFunc: func(old, x any) {
			if old.(*v1.Pod).UID != x.(*v1.Pod).UID {
				a.pod(old.(*v1.Pod), true)
			}
			a.pod(x.(*v1.Pod), false)
		},
		DeleteFunc: func(x any) {
			if gone, ok := x.(cache.DeletedFinalStateUnknown); ok {
				x = gone.Obj
			}
			a.pod(x.(*v1.Pod), true)
		}})
	require.NoError(b.t, err)
	f.Start(stop)
	f.WaitForCacheSync(stop)
	return a
}

func (a *audit) node(n *v1.Node) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.room[n.Name], a.nodes[n.Name] = n.Status.Allocatable, n
}

func (a *audit) fault(format string, args ...any) {
	if len(a.faults) < 20 {
		a.faults = append(a.faults, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

// pod counts a version of a pod.
func (a *audit) pod(p *v1.Pod, gone bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, node := string(p.UID), p.Spec.NodeName
	if was, ok := a.placed[id]; ok && node != was {
		a.fault("pod %s was on %s and is on %q", p.Name, was, node)
	}
	if node == "" {
		return
	}
	_, known := a.placed[id]
	a.placed[id] = node
	if a.on[node] == nil {
		a.on[node] = make(map[string]*v1.Pod)
	}
	if gone || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
		if a.on[node][id] != nil {
			a.ended++
		}
		delete(a.on[node], id)
		return
	}
	a.on[node][id] = p
	if known {
		return
	}
	a.bound++
	a.last = time.Now()
	sum := v1.ResourceList{v1.ResourcePods: *resource.NewQuantity(int64(len(a.on[node])), resource.DecimalSI)}
	for _, x := range a.on[node] {
		for _, c := range x.Spec.Containers {
			for name, q := range c.Resources.Requests {
				total := sum[name]
				total.Add(q)
				sum[name] = total
			}
		}
	}
	for name, q := range sum {
		if room := a.room[node][name]; q.Cmp(room) > 0 {
			a.fault("node %s has %s of %s, of which pods ask for %s (the last: %s)", node, room.String(), name, q.String(), p.Name)
		}
	}
	n := a.nodes[node]
	for key, value := range p.Spec.NodeSelector {
		if n.Labels[key] != value {
			a.fault("pod %s wants %s=%s and is on %s", p.Name, key, value, node)
		}
	}
	for _, taint := range n.Spec.Taints {
		ok := taint.Effect == v1.TaintEffectPreferNoSchedule
		for _, t := range p.Spec.Tolerations {
			ok = ok || t.Key == taint.Key && t.Operator == v1.TolerationOpExists
		}
		if !ok {
			a.fault("pod %s is on %s in spite of taint %s", p.Name, node, taint.Key)
		}
	}
}

// groups are how many pods of each group are bound and not over, and how many there have to be.
func groups(all []v1.Pod) (bound, least map[string]int) {
	bound, least = make(map[string]int), make(map[string]int)
	for _, p := range all {
		g := p.Labels[model.GroupLabel]
		if g == "" || p.DeletionTimestamp != nil {
			continue
		}
		g = p.Namespace + "/" + g
		if _, err := fmt.Sscan(p.Labels[model.MinLabel], new(int)); err == nil {
			n := 0
			fmt.Sscan(p.Labels[model.MinLabel], &n)
			least[g] = n
		}
		if p.Spec.NodeName != "" {
			bound[g]++
		}
	}
	return bound, least
}

// inPart are the groups of which some pods are bound, but fewer than have to be.
func (b *bed) inPart() (names []string) {
	l, err := b.CoreV1().Pods("").List(ctx(), metav1.ListOptions{})
	require.NoError(b.t, err)
	bound, least := groups(l.Items)
	for g, n := range bound {
		if n < least[g] {
			names = append(names, fmt.Sprintf("%s: %d of %d", g, n, least[g]))
		}
	}
	return names
}

// racks are the groups that asked for one rack and have several.
func (a *audit) racks(b *bed) (names []string) {
	l, err := b.CoreV1().Pods("").List(ctx(), metav1.ListOptions{})
	require.NoError(b.t, err)
	at := make(map[string]string)
	for _, p := range l.Items {
		g := p.Labels[model.GroupLabel]
		near := p.Annotations[model.WithinAnnotation] == rack || p.Spec.Affinity != nil && p.Spec.Affinity.PodAffinity != nil
		if !near || p.Spec.NodeName == "" || p.DeletionTimestamp != nil {
			continue
		}
		where := a.nodes[p.Spec.NodeName].Labels[rack]
		if was, ok := at[g]; ok && was != where {
			names = append(names, g)
		}
		at[g] = where
	}
	return names
}

// settled waits until no pod was bound for a while, at most for SECONDS, and holds the audit's faults
// against the test.
func (a *audit) settled(b *bed, quiet time.Duration) {
	last, since := -1, time.Now()
	end := since.Add(time.Duration(number("SECONDS", 3600)) * time.Second)
	for time.Since(since) < quiet && time.Now().Before(end) {
		time.Sleep(quiet / 10)
		a.mu.Lock()
		if a.bound != last {
			last, since = a.bound, time.Now()
		}
		a.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	require.Empty(b.t, a.faults)
}

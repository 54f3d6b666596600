// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
)

const rack = "topology.kubernetes.io/rack"

// list is a resource list of "name=amount" pairs.
func list(pairs ...string) v1.ResourceList {
	l := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func aNode(name string, pairs ...string) *v1.Node {
	l := list("pods", "110", "cpu", "8", "memory", "32Gi")
	for k, v := range list(pairs...) {
		l[k] = v
	}
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
		Status: v1.NodeStatus{Allocatable: l, Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}}}
}

var serial int

// aPod is a pod of namespace default that asks for pairs.
func aPod(name string, pairs ...string) *v1.Pod {
	serial++
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(fmt.Sprint("uid-", serial)),
			Labels: map[string]string{}, Annotations: map[string]string{},
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, 0, serial, 0, time.UTC))},
		Spec: v1.PodSpec{SchedulerName: "aucsched",
			Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: list(pairs...)}}}}}
}

// inGroup has pods be of a group.
func inGroup(group string, min int, pods ...*v1.Pod) []runtime.Object {
	var all []runtime.Object
	for _, p := range pods {
		p.Labels[GroupLabel] = group
		if min > 0 {
			p.Labels[MinLabel] = fmt.Sprint(min)
		}
		all = append(all, p)
	}
	return all
}

// pods are n pods that ask for pairs.
func pods(name string, n int, pairs ...string) (all []*v1.Pod) {
	for i := range n {
		all = append(all, aPod(fmt.Sprint(name, "-", i), pairs...))
	}
	return all
}

// server is a fake API server: bindings and evictions do what they do on a real one.
type server struct {
	*fake.Clientset
	t      *testing.T
	events *record.FakeRecorder
	refuse func(pod string) error // what a binding of the pod is answered with
}

func newServer(t *testing.T, objects ...runtime.Object) *server {
	s := &server{Clientset: fake.NewClientset(objects...), t: t, events: record.NewFakeRecorder(10000),
		refuse: func(string) error { return nil }}
	podsResource := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	s.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		switch a.GetSubresource() {
		case "binding":
			b := a.(clienttesting.CreateAction).GetObject().(*v1.Binding)
			if err := s.refuse(b.Name); err != nil {
				return true, nil, err
			}
			x, err := s.Tracker().Get(podsResource, b.Namespace, b.Name)
			if err != nil {
				return true, nil, err
			}
			p := x.(*v1.Pod).DeepCopy()
			require.Empty(t, p.Spec.NodeName, "bound twice")
			p.Spec.NodeName = b.Target.Name
			return true, nil, s.Tracker().Update(podsResource, p, b.Namespace)
		case "eviction":
			e := a.(clienttesting.CreateAction).GetObject().(metav1.Object)
			return true, nil, s.Tracker().Delete(podsResource, e.GetNamespace(), e.GetName())
		}
		return false, nil, nil
	})
	return s
}

// start runs a Scheduler until the test is over.
func (s *server) start(change func(*Config)) *Scheduler {
	c := Config{Options: Options{SchedulerName: "aucsched", Topology: []string{rack}}, Client: s, Interval: 5 * time.Millisecond,
		Deadline: time.Second, Workers: 4, Log: slog.New(slog.DiscardHandler), Metrics: new(Metrics), Events: s.events}
	if change != nil {
		change(&c)
	}
	x := &Scheduler{Config: c}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	s.t.Cleanup(func() {
		stop()
		require.NoError(s.t, <-done)
		require.Zero(s.t, x.Metrics.Failed.Load(), "rounds failed")
	})
	return x
}

func (s *server) all() map[string]*v1.Pod {
	l, err := s.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	require.NoError(s.t, err)
	all := make(map[string]*v1.Pod)
	for i := range l.Items {
		all[l.Items[i].Name] = &l.Items[i]
	}
	return all
}

// eventually waits until what is true of the pods, by name.
func (s *server) eventually(what func(map[string]*v1.Pod) bool) map[string]*v1.Pod {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return what(s.all()) }, 10*time.Second, 10*time.Millisecond)
	return s.all()
}

// bound waits until so many pods are bound.
func (s *server) bound(n int) map[string]*v1.Pod {
	s.t.Helper()
	all := s.eventually(func(all map[string]*v1.Pod) bool { return boundOf(all) >= n })
	require.Equal(s.t, n, boundOf(all))
	return all
}

func boundOf(all map[string]*v1.Pod) (n int) {
	for _, p := range all {
		if p.Spec.NodeName != "" {
			n++
		}
	}
	return n
}

// told waits until the condition of a pod has the words.
func (s *server) told(pod, words string) {
	s.t.Helper()
	last := ""
	require.Eventually(s.t, func() bool {
		for _, c := range s.all()[pod].Status.Conditions {
			if c.Type == v1.PodScheduled {
				last = c.Message
			}
		}
		return last != "" && contains(last, words)
	}, 10*time.Second, 10*time.Millisecond, "%v", told{&last})
	s.t.Log(pod, ": ", last)
}

type told struct{ last *string }

func (x told) String() string { return *x.last }

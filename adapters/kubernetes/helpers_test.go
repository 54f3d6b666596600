// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/internal/kubetest"
	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
)

const rack = kubetest.Rack

var (
	list, aNode, aPod, inGroup, pods = kubetest.List, kubetest.Node, kubetest.Pod, kubetest.Group, kubetest.Pods
	number, drawn                    = kubetest.Number, kubetest.Drawn
)

// server is a fake API server: bindings and evictions do what they do on a real one.
type server struct {
	*fake.Clientset
	t      *testing.T
	events *record.FakeRecorder
	refuse func(pod string) error // what a binding of the pod is answered with
	faults bytes.Buffer           // what is logged of them
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
	c := Config{Options: model.Options{SchedulerName: "aucsched", Topology: []string{rack, v1.LabelTopologyZone}}, Client: s,
		Interval: 5 * time.Millisecond, Deadline: time.Second, Workers: 4, Events: s.events,
		Log: slog.New(slog.NewTextHandler(&s.faults, &slog.HandlerOptions{Level: slog.LevelError}))}
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
		require.Empty(s.t, s.faults.String(), "rounds failed")
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

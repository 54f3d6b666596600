// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/internal/kubetest"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const rack = kubetest.Rack

var (
	list, aNode, aPod, inGroup, pods = kubetest.List, kubetest.Node, kubetest.Pod, kubetest.Group, kubetest.Pods
	number, drawn                    = kubetest.Number, kubetest.Drawn
)

// server is a fake API server: bindings do what they do on a real one.
type server struct {
	client.WithWatch
	t      *testing.T
	events *record.FakeRecorder
	refuse func(pod string) error // what a binding of the pod is answered with
}

func newServer(t *testing.T, objects ...runtime.Object) *server {
	s := &server{t: t, events: record.NewFakeRecorder(10000), refuse: func(string) error { return nil }}
	bind := interceptor.Funcs{SubResourceCreate: func(ctx context.Context, c client.Client, name string, o, what client.Object,
		options ...client.SubResourceCreateOption) error {
		to, ok := what.(*v1.Binding)
		if !ok {
			return c.SubResource(name).Create(ctx, o, what, options...)
		}
		if err := s.refuse(to.Name); err != nil {
			return err
		}
		return s.setNode(to.Name, to.Target.Name)
	}}
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	s.WithWatch = fake.NewClientBuilder().WithScheme(scheme).WithRuntimeObjects(objects...).WithInterceptorFuncs(bind).Build()
	return s
}

// setNode has a pod be on a node.
func (s *server) setNode(pod, node string) error {
	p := new(v1.Pod)
	if err := s.Get(ctx(), client.ObjectKey{Namespace: "default", Name: pod}, p); err != nil {
		return err
	}
	require.Empty(s.t, p.Spec.NodeName, "bound twice")
	p.Spec.NodeName = node
	return s.Update(ctx(), p)
}

// start runs a Scheduler until the test is over.
func (s *server) start(change func(*scheduler)) {
	x := &scheduler{name: "aucsched", topology: []string{rack, v1.LabelTopologyZone}, Client: s,
		interval: 5 * time.Millisecond, deadline: time.Second, workers: 4, events: s.events}
	if change != nil {
		change(x)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		var faults error
		for ctx.Err() == nil {
			if _, err := x.Reconcile(ctx, ctrl.Request{}); ctx.Err() == nil {
				faults = errors.Join(faults, err)
			}
		}
		done <- faults
	}()
	s.t.Cleanup(func() {
		stop()
		require.NoError(s.t, <-done, "rounds failed")
	})
}

func (s *server) all() map[string]*v1.Pod {
	var l v1.PodList
	require.NoError(s.t, s.List(ctx(), &l))
	all := make(map[string]*v1.Pod)
	for i := range l.Items {
		all[l.Items[i].Name] = &l.Items[i]
	}
	return all
}

// add creates a pod, and remove deletes some.
func (s *server) add(p runtime.Object) { require.NoError(s.t, s.Create(ctx(), p.(client.Object))) }

func (s *server) remove(names ...string) {
	for _, name := range names {
		require.NoError(s.t, s.Delete(ctx(), s.all()[name]))
	}
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

// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// groupKinds say how many pods of a group start together: coscheduling's and Kubernetes' own.
var groupKinds = []schema.GroupVersionKind{
	{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"},
	{Group: "scheduling.k8s.io", Version: "v1alpha1", Kind: "Workload"},
}

// tick is the most time between rounds.
const tick = 5 * time.Second

// scheduler schedules pods. There may be one at a time for a cluster.
//
// Each round makes a model of the API's objects (package model), and of the model a Cluster. The Cluster
// decides, and the scheduler binds, evicts and reports. A round ends when the cache shows what it did. So a
// round depends on nothing but the objects and what the Cluster before it has learnt, and a new leader
// goes on where the old one ended.
type scheduler struct {
	client.Client
	events record.EventRecorder
	groups []schema.GroupVersionKind // those of groupKinds that the server has
	// See the flags.
	name, namespace, quotaName      string
	topology                        []string
	interval, deadline, gangTimeout time.Duration
	reservations, workers           int

	cluster *core.Cluster // of the last round
	known   model.Cache
	since   map[string]time.Time // of groups that lack pods

	explained   int        // jobs so far
	explainNext time.Time  // when another may be explained
	teller      sync.Mutex // held while pods are told

	// quotas are what quotasOf, the ConfigMap's text, last said without a fault.
	quotas   model.Quotas
	quotasOf string
}

// read is what the cache has.
func (s *scheduler) read(ctx context.Context) (*model.Objects, error) {
	var nodes v1.NodeList
	var pods v1.PodList
	var budgets policyv1.PodDisruptionBudgetList
	err := errors.Join(s.List(ctx, &nodes), s.List(ctx, &pods), s.List(ctx, &budgets), s.readQuotas(ctx))
	o := &model.Objects{SchedulerName: s.name, Topology: s.topology, Quotas: s.quotas, Groups: make(map[string]int),
		Nodes: nodes.Items, Pods: pods.Items, Budgets: budgets.Items}
	for _, kind := range s.groups {
		var groups unstructured.UnstructuredList
		groups.SetGroupVersionKind(kind)
		err = errors.Join(err, s.List(ctx, &groups))
		for _, g := range groups.Items {
			addGroups(o.Groups, &g)
		}
	}
	return o, err
}

// addGroups adds how many pods of the groups of a PodGroup or Workload start together.
func addGroups(all map[string]int, x *unstructured.Unstructured) {
	name := x.GetNamespace() + "/" + x.GetName()
	if n, ok, _ := unstructured.NestedInt64(x.Object, "spec", "minMember"); ok {
		all[name] = int(n)
	}
	groups, _, _ := unstructured.NestedSlice(x.Object, "spec", "podGroups")
	for _, g := range groups {
		group, _ := g.(map[string]any)
		n, _, _ := unstructured.NestedInt64(group, "policy", "gang", "minCount")
		all[fmt.Sprint(name, "/", group["name"])] = int(n)
	}
}

// readQuotas reads the ConfigMap of the quotas, if it is there. Until it can be read those of before hold.
func (s *scheduler) readQuotas(ctx context.Context) error {
	m := new(v1.ConfigMap)
	err := s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: s.quotaName}, m)
	if text := m.Data["quotas.yaml"]; s.quotasOf != text && client.IgnoreNotFound(err) == nil {
		s.quotasOf = text
		if q, err := model.ReadQuotas(text); err != nil {
			s.events.Eventf(m, v1.EventTypeWarning, "InvalidQuotas", "%v", err)
		} else {
			s.quotas = q
		}
	}
	return client.IgnoreNotFound(err)
}

// Reconcile is a round: the Cluster decides on the objects, and what it says is done. It returns when the
// cache shows that, so that the next round sees it.
func (s *scheduler) Reconcile(ctx context.Context, _ ctrl.Request) (next ctrl.Result, err error) {
	begin := time.Now()
	options := core.ClusterOptions{Continues: s.cluster, Deadline: s.deadline, StrictPreemption: true}
	if s.cluster == nil {
		auction := core.Preset("none")
		auction.Reservations, auction.Estimates = s.reservations, true
		if options.Policy, err = core.NewAuction(auction, nil); err != nil {
			return next, err
		}
		s.known = make(model.Cache)
	}
	o, err := s.read(ctx)
	if err != nil {
		return next, err
	}
	m, err := model.New(o, begin, s.known, options)
	if err != nil {
		return next, err
	}
	s.cluster = m.Cluster
	told := time.Now()
	cycle, err := s.cluster.Decide(ctx)
	if err != nil {
		return next, err
	}
	deciding.Add(time.Since(told).Seconds())
	pending.Set(float64(m.Pending))
	refused.Set(float64(len(m.Refused)))
	broken.Set(float64(len(m.Broken)))
	bindings := m.Bindings(cycle)
	s.tell(ctx, m, cycle)
	workqueue.ParallelizeUntil(ctx, s.workers, len(bindings), func(i int) { s.bind(ctx, bindings[i].Pod, bindings[i].Node) })
	for _, x := range cycle.Preempted {
		s.evict(ctx, m.PodsOf(x.Job), "Preempted", "stopped for "+x.For[0])
	}
	since := make(map[string]time.Time)
	for name, pods := range m.Broken {
		since[name] = cmp.Or(s.since[name], begin)
		if s.gangTimeout > 0 && begin.Sub(since[name]) > s.gangTimeout {
			s.evict(ctx, pods, "GroupIncomplete", "the group has lacked pods for "+s.gangTimeout.String())
		}
	}
	s.since = since
	time.Sleep(time.Until(begin.Add(s.interval)))
	if len(cycle.Starts) > 0 || cycle.Stats.TimedOut > 0 { // there may be more to start
		return ctrl.Result{RequeueAfter: time.Nanosecond}, nil
	}
	return ctrl.Result{RequeueAfter: tick}, nil
}

// bind binds a pod, and tries again until the server has said yes or no: the pod's place is its own
// meanwhile, so that a group stays whole.
func (s *scheduler) bind(ctx context.Context, p *v1.Pod, node string) {
	binding := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		Target: v1.ObjectReference{Kind: "Node", Name: node}}
	settled := func(p *v1.Pod) bool { return p.Spec.NodeName != "" || p.DeletionTimestamp != nil }
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, tick) {
		err := s.SubResource("binding").Create(ctx, p, binding.DeepCopy())
		if err == nil {
			podsBound.Inc()
			s.events.Eventf(p, v1.EventTypeNormal, "Scheduled", "Successfully assigned %s/%s to %s", p.Namespace, p.Name, node)
			s.await(ctx, p, settled)
			return
		}
		switch apierrors.ReasonForError(err) {
		case metav1.StatusReasonConflict, metav1.StatusReasonNotFound: // it is bound, as an answer was lost, or is leaving
			s.await(ctx, p, settled)
			fallthrough
		case metav1.StatusReasonInvalid, metav1.StatusReasonForbidden:
			slog.Warn("not bound", "pod", p.Namespace+"/"+p.Name, "node", node, "error", err)
			bindErrors.Inc()
			return
		}
		time.Sleep(wait) // the server may be away
	}
}

// evict evicts pods, all that are not leaving already. Budgets that forbid it are heard.
func (s *scheduler) evict(ctx context.Context, pods []*v1.Pod, reason, why string) {
	workqueue.ParallelizeUntil(ctx, s.workers, len(pods), func(i int) {
		p := pods[i]
		if p.DeletionTimestamp != nil {
			return
		}
		err := s.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
			DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}}})
		if client.IgnoreNotFound(err) != nil {
			slog.Warn("not evicted", "pod", p.Namespace+"/"+p.Name, "error", err)
			return
		}
		evicted.Inc()
		s.events.Event(p, v1.EventTypeWarning, reason, why)
		s.await(ctx, p, func(p *v1.Pod) bool { return p.DeletionTimestamp != nil })
	})
}

// await waits until the cache shows what is true of the pod, or that the pod is gone.
func (s *scheduler) await(ctx context.Context, p *v1.Pod, what func(*v1.Pod) bool) {
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		now := new(v1.Pod)
		err := s.Get(ctx, client.ObjectKeyFromObject(p), now)
		if apierrors.IsNotFound(err) || err == nil && (now.UID != p.UID || what(now)) {
			return
		}
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
)

// PodGroups is the resource of pod groups, as coscheduling has it.
var PodGroups = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}

// Config is what a Scheduler needs.
type Config struct {
	Options
	Client kubernetes.Interface
	// Dynamic reads PodGroups; nil: there are none.
	Dynamic dynamic.Interface
	// QuotaNamespace and QuotaName name the ConfigMap of the quotas; without a name there are none.
	QuotaNamespace, QuotaName string
	// Interval is the least time between rounds, Deadline the most that a decision takes.
	Interval, Deadline time.Duration
	// GangTimeout is for how long a group may lack pods that have to run; then all are evicted. 0: for ever.
	GangTimeout time.Duration
	// Workers bind and evict at once.
	Workers int
	Log     *slog.Logger
	Metrics *Metrics
	Events  record.EventRecorder
}

// Scheduler schedules pods until its context ends. There may be one at a time for a cluster.
type Scheduler struct {
	Config
	cluster *core.Cluster // of this round
	known   podCache
	dirty   chan struct{}
	slots   chan struct{} // one for each worker
	idle    sync.WaitGroup
	report  report
	since   map[string]time.Time // of groups that lack pods

	mu    sync.Mutex
	fates map[types.UID]fate
	// quotas are what quotasOf, the ConfigMap's text, last said without a fault.
	quotas   *Quotas
	quotasOf string
}

// fate is what is being done to a pod, and the informer has not shown yet.
type fate struct {
	node   string // where it is being bound, or is
	leaves bool   // it is being evicted
	doomed bool   // it is to be evicted once the informer shows it bound
}

// Run schedules until ctx ends; the caller is the leader all that time. It returns when nothing is being
// bound any more.
func (s *Scheduler) Run(ctx context.Context) error {
	s.known, s.dirty, s.slots = make(podCache), make(chan struct{}, 1), make(chan struct{}, s.Workers)
	s.fates, s.since = make(map[types.UID]fate), make(map[string]time.Time)
	s.report.init()
	read, err := s.watch(ctx)
	if err != nil {
		return err
	}
	s.Metrics.Ready.Store(true)
	defer s.Metrics.Ready.Store(false)
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.idle.Wait()
			return nil
		case <-s.dirty:
		case <-tick.C:
		}
		begin := time.Now()
		if err := s.round(ctx, read()); err != nil && ctx.Err() == nil {
			s.Log.Error("a round failed; the next one begins anew", "error", err)
			s.Metrics.Failed.Add(1)
			s.changed()
		}
		select {
		case <-time.After(s.Interval - time.Since(begin)):
		case <-ctx.Done():
		}
	}
}

// changed asks for a round.
func (s *Scheduler) changed() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// round has the Cluster decide on the objects, and does what it says.
func (s *Scheduler) round(ctx context.Context, o *Objects) error {
	begin := time.Now()
	fates := s.catchUp(o.Pods)
	m := newModel(s.Options, o, begin, func(p *v1.Pod) *pod {
		x, f := s.known.of(p), fates[p.UID]
		x.node, x.leaves = cmp.Or(p.Spec.NodeName, f.node), p.DeletionTimestamp != nil || f.leaves || f.doomed
		return x
	})
	var err error
	s.cluster, err = m.cluster(core.ClusterOptions{Continues: s.cluster, Deadline: s.Deadline, StrictPreemption: true})
	if err != nil {
		return err
	}
	told := time.Now()
	cycle, err := s.cluster.Decide(ctx)
	if err != nil {
		return err
	}
	decided := time.Now()
	starts := make(map[string]bool) // groups
	for _, start := range cycle.Starts {
		if err := s.launch(ctx, m, start); err != nil {
			return err
		}
		starts[m.jobs[start.Job].parts[0][0].group] = true
		m.running[start.Job] = start
	}
	for _, x := range cycle.Preempted {
		victims := m.jobs[x.Job].pods()
		for _, p := range m.pending { // of the same group, and started in this round
			if p.group != "" && p.group == victims[0].group && starts[p.group] && s.fate(p).node != "" {
				victims = append(victims, p)
			}
		}
		s.evictAll(ctx, victims, "Preempted", "stopped for "+x.For[0])
	}
	for _, p := range m.bound {
		if fates[p.UID].doomed && p.Spec.NodeName != "" {
			s.evictAll(ctx, []*pod{p}, "Preempted", "its group was stopped")
		}
	}
	s.breakUp(ctx, m)
	s.report.tell(ctx, s, m, cycle)
	s.Metrics.round(m, cycle, told.Sub(begin), decided.Sub(told))
	if len(cycle.Starts) > 0 || cycle.Stats.TimedOut > 0 {
		s.changed() // there may be more to start
	}
	return nil
}

// catchUp forgets what the informer shows by now, and returns what is left.
func (s *Scheduler) catchUp(pods []*v1.Pod) map[types.UID]fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := make(map[types.UID]fate)
	for _, p := range pods {
		f, ok := s.fates[p.UID]
		if p.Spec.NodeName != "" {
			f.node = ""
		} else if f.node == "" {
			f.doomed = false // it has not been bound after all
		}
		if ok && f != (fate{}) {
			left[p.UID] = f
		}
	}
	s.fates = left
	if len(s.known) > 2*len(pods)+1000 { // most of them are gone
		clear(s.known)
	}
	return maps.Clone(left)
}

// fate is what is being done to a pod; change changes it.
func (s *Scheduler) fate(p *pod) fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fates[p.UID]
}

func (s *Scheduler) change(id types.UID, change func(*fate)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fates[id]
	change(&f)
	s.fates[id] = f
}

// launch binds the pods of a job to the nodes it got. Pods of one part are alike.
func (s *Scheduler) launch(ctx context.Context, m *model, start core.Start) error {
	j := m.jobs[start.Job]
	for k, part := range append([]core.Start{start}, start.Components...) {
		pods := j.parts[k]
		for _, share := range part.Nodes {
			n := cmp.Or(j.each[start.Alternative][k], share.Cores)
			if n > len(pods) {
				return fmt.Errorf("%s: part %d got more nodes than it has pods", start.Job, k)
			}
			for _, p := range pods[:n] {
				s.bind(ctx, p.Pod, share.Node)
			}
			pods = pods[n:]
		}
	}
	return nil
}

// bind binds a pod, and tries again until the server has said yes or no: the pod's place is its own
// meanwhile, so that a group stays whole.
func (s *Scheduler) bind(ctx context.Context, p *v1.Pod, node string) {
	s.change(p.UID, func(f *fate) { f.node = node })
	binding := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		Target: v1.ObjectReference{Kind: "Node", Name: node}}
	s.do(func() {
		for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
			err := s.Client.CoreV1().Pods(p.Namespace).Bind(ctx, binding, metav1.CreateOptions{})
			if err == nil {
				s.Metrics.Bound.Add(1)
				s.Events.Eventf(p, v1.EventTypeNormal, "Scheduled", "Successfully assigned %s/%s to %s", p.Namespace, p.Name, node)
				return
			}
			if ctx.Err() == nil && s.settle(ctx, p, err) {
				s.Log.Warn("not bound", "pod", p.Namespace+"/"+p.Name, "node", node, "error", err)
				s.Metrics.BindErrors.Add(1)
				return
			}
			time.Sleep(wait)
		}
	})
}

// settle finds out where a pod is that could not be bound. It reports whether that is known.
func (s *Scheduler) settle(ctx context.Context, p *v1.Pod, cause error) bool {
	if !apierrors.IsConflict(cause) && !apierrors.IsNotFound(cause) && !apierrors.IsInvalid(cause) && !apierrors.IsForbidden(cause) {
		return false // the server may be away
	}
	now, err := s.Client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return false
	}
	node := ""
	if err == nil && now.UID == p.UID {
		node = now.Spec.NodeName
	}
	s.change(p.UID, func(f *fate) { f.node = node })
	s.changed()
	return true
}

// evictAll evicts pods, all that are not leaving already: those that are being bound a little later.
// Budgets that forbid it are heard.
func (s *Scheduler) evictAll(ctx context.Context, pods []*pod, reason, why string) {
	for _, p := range pods {
		if p.DeletionTimestamp != nil || s.fate(p).leaves {
			continue
		}
		bound := p.Spec.NodeName != ""
		s.change(p.UID, func(f *fate) { f.leaves, f.doomed = bound, !bound })
		if !bound {
			continue
		}
		s.do(func() {
			err := s.Client.PolicyV1().Evictions(p.Namespace).Evict(ctx, &policyv1.Eviction{
				ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
				DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}}})
			if err == nil || apierrors.IsNotFound(err) {
				s.Metrics.Evicted.Add(1)
				s.Events.Event(p.Pod, v1.EventTypeWarning, reason, why)
				return
			}
			s.change(p.UID, func(f *fate) { f.leaves = false })
			s.Log.Warn("not evicted", "pod", p.name(), "error", err)
		})
	}
}

// do has a worker do something, once one is free.
func (s *Scheduler) do(f func()) {
	s.slots <- struct{}{}
	s.idle.Go(func() {
		f()
		<-s.slots
	})
}

// breakUp evicts groups that have lacked pods for too long.
func (s *Scheduler) breakUp(ctx context.Context, m *model) {
	maps.DeleteFunc(s.since, func(name string, _ time.Time) bool { return m.broken[name] == nil })
	for name, pods := range m.broken {
		if _, ok := s.since[name]; !ok {
			s.since[name] = m.now
		}
		if s.GangTimeout > 0 && m.now.Sub(s.since[name]) > s.GangTimeout {
			s.evictAll(ctx, pods, "GroupIncomplete", "the group has lacked pods for "+s.GangTimeout.String())
		}
	}
}

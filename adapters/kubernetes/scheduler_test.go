// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func contains(s, words string) bool { return strings.Contains(s, words) }

func prioritized(priority int32, pods ...*v1.Pod) []*v1.Pod {
	for _, p := range pods {
		p.Spec.Priority = &priority
	}
	return pods
}

// A group starts as a whole or not at all, and is told what it lacks and who has it.
func TestGangsStartWhole(t *testing.T) {
	objects := []runtime.Object{aNode("n1"), aNode("n2")}
	first := prioritized(1, pods("a", 3, "cpu", "4")...)
	for _, p := range first {
		limit := int64(3600)
		p.Spec.ActiveDeadlineSeconds = &limit
	}
	objects = append(objects, inGroup("a", 0, first...)...)
	objects = append(objects, inGroup("b", 0, pods("b", 2, "cpu", "4")...)...)
	s := newServer(t, objects...)
	s.start(nil)
	all := s.bound(3)
	require.Empty(t, all["b-0"].Spec.NodeName)
	s.told("b-1", "waits for room for 1 of 2 pods (cpu), held by group default/a until ")
	s.remove("a-0", "a-1", "a-2")
	s.bound(2)
}

// Whole groups of lower priority are evicted, however many, and none of a higher one.
func TestPreemption(t *testing.T) {
	objects := []runtime.Object{aNode("n1"), aNode("n2")}
	objects = append(objects, inGroup("low", 0, prioritized(1, pods("low", 2, "cpu", "4")...)...)...)
	objects = append(objects, inGroup("mid", 0, prioritized(5, pods("mid", 2, "cpu", "4")...)...)...)
	s := newServer(t, objects...)
	s.start(nil)
	s.bound(4)
	for _, p := range inGroup("high", 0, prioritized(7, pods("high", 1, "cpu", "8")...)...) {
		s.add(p)
	}
	all := s.eventually(func(all map[string]*v1.Pod) bool { return all["high-0"].Spec.NodeName != "" })
	whole := map[string]int{}
	for name := range all {
		whole[name[:3]]++
	}
	for group, n := range map[string]int{"low": whole["low"], "mid": whole["mid"]} {
		require.Contains(t, []int{0, 2}, n, group)
	}
	require.Equal(t, 1, whole["hig"])
}

// A server that does not answer is asked again, for the same node: the group stays whole.
func TestBindingsAreTriedAgain(t *testing.T) {
	s := newServer(t, append([]runtime.Object{aNode("n1"), aNode("n2")}, inGroup("g", 0, pods("g", 4, "cpu", "4")...)...)...)
	down := time.Now().Add(500 * time.Millisecond)
	s.refuse = func(string) error {
		if time.Now().Before(down) {
			return apierrors.NewServiceUnavailable("away")
		}
		return nil
	}
	s.start(nil)
	s.bound(4)
}

// A binding whose answer was lost is not tried for ever: the next round begins.
func TestLostAnswers(t *testing.T) {
	s := newServer(t, aNode("n1"), aPod("a", "cpu", "4"))
	lost := false
	s.refuse = func(name string) error {
		if name != "a" {
			return nil
		}
		if lost {
			return apierrors.NewConflict(v1.Resource("pods"), name, errors.New("bound already"))
		}
		lost = true
		require.NoError(t, s.setNode(name, "n1"))
		return apierrors.NewServiceUnavailable("away")
	}
	s.start(nil)
	s.bound(1)
	s.add(aPod("b", "cpu", "4"))
	s.bound(2)
}

// A pod of a running group that is gone is replaced before all else; if that can't be, the group ends.
func TestBrokenGroups(t *testing.T) {
	s := newServer(t, append([]runtime.Object{aNode("n1")}, inGroup("g", 2, pods("g", 2, "cpu", "4")...)...)...)
	s.start(func(c *scheduler) { c.gangTimeout = 300 * time.Millisecond })
	s.bound(2)
	s.remove("g-0")
	s.add(inGroup("g", 2, aPod("again", "cpu", "4"))[0])
	s.bound(2)
	s.remove("again")
	s.eventually(func(all map[string]*v1.Pod) bool { return len(all) == 0 })
}

// What joins a group that does not say how many it needs leaves the others where they are.
func TestLatePods(t *testing.T) {
	s := newServer(t, append([]runtime.Object{aNode("n1")}, inGroup("g", 0, pods("g", 2, "cpu", "4")...)...)...)
	s.start(func(c *scheduler) { c.gangTimeout = time.Millisecond })
	s.bound(2)
	s.add(inGroup("g", 0, aPod("late", "cpu", "4"))[0])
	s.told("late", "waits for 1 of 1 nodes (cpu)")
	s.bound(2)
}

// A place is kept for a blocked pod if so many reservations are asked for, but not one that pods without an
// end hold: those may stay for ever.
func TestReservations(t *testing.T) {
	hour, minute := int64(3600), int64(60)
	for _, x := range []struct {
		reservations int
		runs, small  *int64 // for so long at most
		starts       bool
	}{{0, &hour, nil, true}, {16, &hour, nil, false}, {16, &hour, &minute, true}, {16, nil, nil, true}} {
		running, big, small := aPod("running", "cpu", "6"), aPod("big", "cpu", "8"), aPod("small", "cpu", "2")
		running.Spec.NodeName, running.CreationTimestamp = "n1", metav1.Now()
		running.Spec.ActiveDeadlineSeconds, small.Spec.ActiveDeadlineSeconds = x.runs, x.small
		s := newServer(t, aNode("n1"), running, big, small)
		s.start(func(c *scheduler) { c.reservations = x.reservations })
		if x.starts {
			require.NotEmpty(t, s.bound(2)["small"].Spec.NodeName)
		} else {
			s.told("small", "")
			s.bound(1)
		}
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func prioritized(priority int32, pods ...*v1.Pod) []*v1.Pod {
	for _, p := range pods {
		p.Spec.Priority = &priority
	}
	return pods
}

// A group starts as a whole or not at all, and is told what it lacks and who has it.
func TestGangsStartWhole(t *testing.T) {
	objects := []runtime.Object{aNode("n1"), aNode("n2")}
	first := pods("a", 3, "cpu", "4")
	for _, p := range first {
		limit := int64(3600)
		p.Spec.ActiveDeadlineSeconds = &limit
	}
	objects = append(objects, inGroup("a", 0, first...)...)
	objects = append(objects, inGroup("b", 0, pods("b", 2, "cpu", "4")...)...)
	s := newWorld(t, objects...)
	all := s.bound(3)
	require.Empty(t, all["b-0"].Spec.NodeName)
	s.told("b-1", "waits for room for 1 of 2 pods (cpu), held by group default/a until ")
	s.remove(named("a-"))
	s.bound(2)
}

// Pods of a group share nodes unevenly if that is how they fit. Those that ask for nothing fit everywhere, as long as
// a node takes more pods.
func TestSeats(t *testing.T) {
	objects := []runtime.Object{aNode("n1", "cpu", "8", "pods", "4"), aNode("n2", "cpu", "4", "pods", "2")}
	objects = append(objects, inGroup("g", 3, pods("g", 3, "cpu", "4")...)...)
	s := newWorld(t, objects...)
	s.bound(3)
	s.add(inGroup("idle", 3, pods("idle", 3)...)...)
	s.bound(6)
	s.add(inGroup("over", 2, pods("over", 2)...)...)
	s.bound(6)
}

// What pods of other schedulers hold of a node is not there for others.
func TestOtherSchedulers(t *testing.T) {
	other := aPod("other", "cpu", "7", "nvidia.com/gpu", "3")
	other.Spec.NodeName, other.Spec.SchedulerName = "n1", "default-scheduler"
	s := newWorld(t, aNode("n1", "nvidia.com/gpu", "4"), other, aPod("two", "nvidia.com/gpu", "2"), aPod("cpu", "cpu", "2"),
		aPod("one", "cpu", "1", "nvidia.com/gpu", "1"))
	all := s.bound(2)
	require.Equal(t, "n1", all["one"].Spec.NodeName)
}

// The example of the page starts, on nodes without labels and whatever else comes.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("../manifests/example.yaml")
	require.NoError(t, err)
	s := newWorld(t, aNode("n1", "cpu", "3"), aNode("n2", "cpu", "1"))
	var p *v1.Pod
	for i, one := range strings.Split(string(text), "---") {
		p = new(v1.Pod)
		require.NoError(t, yaml.UnmarshalStrict([]byte(one), p))
		p.Namespace, p.UID = "default", types.UID(fmt.Sprint(i))
		s.add(p)
	}
	s.add(aPod("other", "cpu", "1"))
	s.bound(3)
	late := p.DeepCopy()
	late.Name, late.UID, late.Spec.NodeName = "late", "late", ""
	s.add(late)
	s.bound(4)
	lost := aPod("lost")
	lost.Annotations[WithinAnnotation] = "rack"
	s.add(inGroup("racks", 1, lost)...)
	s.bound(4)
	s.told("lost", "no node that it may use has a fitting label rack")
}

// Amounts are compared as they are: a byte too much is too much.
func TestToTheByte(t *testing.T) {
	s := newWorld(t, aNode("n1", "memory", "1000"),
		aPod("fits", "memory", "999"), aPod("byte", "memory", "1"), aPod("more", "memory", "1"))
	all := s.bound(2)
	require.Empty(t, all["more"].Spec.NodeName)

	t.Run("rounding", func(t *testing.T) { // 1 TiB and a byte has 41 bits
		s := newWorld(t, aNode("n1", "memory", "1099511627777"), aPod("all", "memory", "1Ti"), aPod("byte", "memory", "1"))
		s.bound(1)
	})
}

func TestFiltersOfNodes(t *testing.T) {
	gpu, plain := aNode("gpu", "nvidia.com/gpu", "8"), aNode("plain")
	gpu.Spec.Taints = []v1.Taint{{Key: "nvidia.com/gpu", Effect: v1.TaintEffectNoSchedule}}
	plain.Labels["disk"] = "ssd"
	tolerant, blind, picky := aPod("tolerant", "nvidia.com/gpu", "8"), aPod("blind", "nvidia.com/gpu", "1"), aPod("picky", "cpu", "1")
	tolerant.Spec.Tolerations = []v1.Toleration{{Key: "nvidia.com/gpu", Operator: v1.TolerationOpExists}}
	picky.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	gated := aPod("gated", "cpu", "1")
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	lost := aPod("lost", "example.com/fpga", "1")
	s := newWorld(t, gpu, plain, tolerant, blind, picky, gated, lost)
	all := s.bound(2)
	require.Equal(t, "gpu", all["tolerant"].Spec.NodeName)
	require.Equal(t, "plain", all["picky"].Spec.NodeName)
	s.told("blind", "")
	s.told("lost", "example.com/fpga")
	require.Empty(t, s.words["gated"])
}

// What can't be expressed is refused in words, and is in nobody's way.
func TestRefused(t *testing.T) {
	claim, spread := aPod("claim"), aPod("spread")
	claim.Spec.Volumes = []v1.Volume{{VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{}}}}
	spread.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{TopologyKey: v1.LabelTopologyZone, MaxSkew: 1,
		WhenUnsatisfiable: v1.DoNotSchedule}}
	s := newWorld(t, aNode("n1"), claim, spread, aPod("plain", "cpu", "1"))
	s.bound(1)
	s.told("claim", "persistent volumes are not supported")
	s.told("spread", "kubernetes.io/hostname only")
}

// antiAffine has pods be on different nodes than pods with label app=x.
func antiAffine(pods ...*v1.Pod) []*v1.Pod {
	for _, p := range pods {
		p.Labels["app"] = "x"
		apart := []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: apart}}
	}
	return pods
}

func TestAntiAffinity(t *testing.T) {
	other := aPod("other")
	other.Labels["app"] = "x"
	other.Spec.NodeName, other.Spec.SchedulerName = "n1", "default-scheduler"
	objects := []runtime.Object{aNode("n1"), aNode("n2"), aNode("n3"), other}
	objects = append(objects, inGroup("g", 0, antiAffine(pods("g", 2, "cpu", "1")...)...)...)
	for _, p := range antiAffine(pods("p", 2, "cpu", "1")...) {
		objects = append(objects, p)
	}
	s := newWorld(t, objects...)
	all := s.bound(3) // other, and g
	require.ElementsMatch(t, []string{"n2", "n3"}, []string{all["g-0"].Spec.NodeName, all["g-1"].Spec.NodeName})
}

func TestSpread(t *testing.T) {
	objects := []runtime.Object{aNode("n1"), aNode("n2", "cpu", "1"), aNode("n3")}
	for _, p := range pods("p", 9, "cpu", "1") {
		p.Labels["app"] = "x"
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{TopologyKey: v1.LabelHostname, MaxSkew: 2,
			WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}
		objects = append(objects, p)
	}
	s := newWorld(t, objects...)
	s.bound(7) // n2 has room for one, the others may have two more
}

// A group that asks for one rack gets one, though pods fit better elsewhere.
func TestRacks(t *testing.T) {
	var objects []runtime.Object
	for i, name := range []string{"a1", "b1", "a2", "b2", "b3"} {
		n := aNode(name)
		n.Labels[rack] = name[:1]
		if i == 2 {
			n = aNode(name, "cpu", "2")
			n.Labels[rack] = "a"
		}
		objects = append(objects, n)
	}
	g := pods("g", 3, "cpu", "6")
	for _, p := range g {
		p.Annotations[WithinAnnotation] = rack
	}
	objects = append(objects, inGroup("g", 0, g...)...)
	huge := pods("huge", 4, "cpu", "2")
	for _, p := range huge { // of two kinds
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			TopologyKey: rack, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{GroupLabel: "huge"}}}}}}
	}
	huge[0].Spec.Containers[0].Resources.Requests = list("cpu", "4")
	objects = append(objects, inGroup("huge", 0, huge...)...)
	work := pods("work", 2, "cpu", "1") // of a Workload
	for _, p := range work {
		p.Annotations[WithinAnnotation] = rack
		p.Spec.WorkloadRef = &v1.WorkloadReference{Name: "w", PodGroup: "g"}
		objects = append(objects, p)
	}
	s := newWorld(t, objects...)
	s.objects.Groups = map[string]int{"default/w/g": 2}
	all := s.bound(9)
	for _, p := range g {
		require.Equal(t, "b", all[p.Name].Spec.NodeName[:1])
	}
	require.Equal(t, all["work-0"].Spec.NodeName[:1], all["work-1"].Spec.NodeName[:1])
	for _, p := range huge {
		require.Equal(t, "a", all[p.Name].Spec.NodeName[:1])
	}
}

// An elastic group starts with as many pods as there is room for, and no fewer than its least.
func TestElasticGroups(t *testing.T) {
	objects := append([]runtime.Object{aNode("n1")}, inGroup("g", 3, pods("g", 6, "cpu", "2")...)...)
	s := newWorld(t, objects...)
	s.bound(4)
	s.add(aNode("n2"))
	s.bound(6)
	late := inGroup("late", 2, aPod("late-0", "cpu", "1"))
	s.add(late...)
	s.bound(6)
	s.told("late-0", "1 of the 2 pods of group default/late are there")
}

// Whole groups of lower priority are evicted, however many, and none of a higher one.
func TestPreemption(t *testing.T) {
	objects := []runtime.Object{aNode("n1"), aNode("n2")}
	objects = append(objects, inGroup("low", 0, prioritized(1, pods("low", 2, "cpu", "4")...)...)...)
	objects = append(objects, inGroup("mid", 0, prioritized(5, pods("mid", 2, "cpu", "4")...)...)...)
	s := newWorld(t, objects...)
	s.bound(4)
	s.add(inGroup("high", 0, prioritized(7, pods("high", 1, "cpu", "8")...)...)...)
	all := s.bound(3)
	require.Equal(t, 2, s.evicted)
	whole := map[string]int{}
	for name := range all {
		whole[name[:3]]++
	}
	for group, n := range map[string]int{"low": whole["low"], "mid": whole["mid"]} {
		require.Contains(t, []int{0, 2}, n, group)
	}
	require.Equal(t, 1, whole["hig"])
}

// Pods that join a running group are bound in its rack, or wait for that.
func TestElasticGroupsStayInTheirRack(t *testing.T) {
	a, b := aNode("a"), aNode("b")
	a.Labels[rack], b.Labels[rack] = "a", "b"
	g := pods("g", 3, "cpu", "4")
	for _, p := range g {
		p.Annotations[WithinAnnotation] = rack
	}
	s := newWorld(t, append([]runtime.Object{a, b}, inGroup("g", 2, g...)...)...)
	s.bound(2)
	s.told("g-2", "waits for 1 of 1 nodes (cpu)")
	s.bound(2)
}

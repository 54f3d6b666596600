// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// addNodes has the nodes with what pods of ours may have of them. A "core" of the Cluster is a pod's
// place: one of the node's number of pods. All else is a further resource, of which a pod takes so
// much a "core".
func (m *model) addNodes() {
	most := make(map[string]int64)
	for _, n := range m.objects.Nodes {
		for name, q := range n.Status.Allocatable {
			if name != v1.ResourcePods {
				most[string(name)] = max(most[string(name)], room(name, q))
			}
		}
	}
	rows := make(map[string]row)
	for _, p := range slices.Concat(m.bound, m.pending) {
		for _, r := range p.rows {
			rows[r.name] = r
		}
		if m.ours(p.Pod) {
			for name := range p.requests {
				most[name] = max(most[name], 0)
			}
		}
	}
	for _, name := range sorted(rows) {
		if len(most)+len(m.rows) < nodeset.MaxResources {
			m.rows = append(m.rows, rows[name])
		}
	}
	m.units = make(map[string]int64)
	for name, v := range most {
		m.units[name] = 1
		for v/m.units[name] > math.MaxInt32 {
			m.units[name] *= 2
		}
	}
	used, foreign := make(map[string]map[string]int64), make(map[string]map[string]int64)
	for _, p := range m.bound {
		to := foreign
		if m.ours(p.Pod) {
			to = used
		}
		if to[p.node] == nil {
			to[p.node] = make(map[string]int64)
		}
		to[p.node]["pods"]++
		for name, use := range m.takes(p) {
			to[p.node][name] += use.PerCore
		}
	}
	skews := m.skews()
	seen := make(map[string]int)
	for _, n := range m.objects.Nodes {
		left := func(name string, total int64) int64 {
			return max(0, total-foreign[n.Name][name], used[n.Name][name])
		}
		x := core.Node{Name: n.Name, Down: n.Spec.Unschedulable || !ready(n), Leaf: m.leaf(n, seen), Resources: make(map[string]int64)}
		pods := n.Status.Allocatable[v1.ResourcePods]
		x.Cores = uint16(min(math.MaxUint16, left("pods", pods.Value())))
		for name, unit := range m.units {
			total := int64(0)
			if strings.HasPrefix(name, "hostPort:") {
				total = 1
			}
			if q, ok := n.Status.Allocatable[v1.ResourceName(name)]; ok {
				total = room(v1.ResourceName(name), q) / unit
			}
			x.Resources[name] = left(name, total)
		}
		for _, r := range m.rows {
			if r.skew == 0 {
				x.Resources[r.name] = left(r.name, apart)
			} else {
				x.Resources[r.name] = max(used[n.Name][r.name], skews[r.name][n.Name])
			}
		}
		for _, t := range n.Spec.Taints {
			if t.Effect == v1.TaintEffectPreferNoSchedule {
				x.Tier = 1
			}
		}
		m.nodes = append(m.nodes, x)
	}
}

func ready(n *v1.Node) bool {
	return !slices.ContainsFunc(n.Status.Conditions, func(c v1.NodeCondition) bool {
		return c.Type == v1.NodeReady && c.Status != v1.ConditionTrue
	})
}

// skews are how many pods of each row of a spread a node may have, those that are not of the row taken
// off.
func (m *model) skews() map[string]map[string]int64 {
	all := make(map[string]map[string]int64)
	for i := range m.rows {
		r := &m.rows[i]
		if r.skew == 0 {
			continue
		}
		count, others := make(map[string]int64), make(map[string]int64)
		for _, p := range m.bound {
			if r.selects(p.Pod) {
				count[p.node]++
				others[p.node] += 1 - min(1, r.takes(p))
			}
		}
		var one *pod // whose nodes count: those of pods with one term are taken to be the same
		for _, p := range slices.Concat(m.pending, m.bound) {
			if r.takes(p) > 0 {
				one = p
				break
			}
		}
		if one == nil {
			continue
		}
		fewest := int64(math.MaxInt32) - r.skew
		for _, n := range m.objects.Nodes {
			if ok, err := nodeaffinity.GetRequiredNodeAffinity(one.Pod).Match(n); ok && err == nil {
				fewest = min(fewest, count[n.Name])
			}
		}
		room := make(map[string]int64)
		for _, n := range m.objects.Nodes {
			room[n.Name] = max(0, fewest+r.skew-others[n.Name])
		}
		all[r.name] = room
	}
	return all
}

// leaf is the name of the domain of a node's smallest label of topology, which it adds to the switches,
// and those above it. A node without one of the labels is in a domain of its own.
func (m *model) leaf(n *v1.Node, seen map[string]int) string {
	parent, path := -1, ""
	for level := len(m.Topology) - 1; level >= 0; level-- {
		value := n.Labels[m.Topology[level]]
		if value == "" {
			value = "node " + n.Name
		}
		path += "/" + value
		at, ok := seen[path]
		if !ok {
			at = len(m.switches)
			seen[path] = at
			m.switches = append(m.switches, nodeset.Switch{Name: path, Parent: parent})
		}
		parent = at
	}
	return path
}

// takes is what a pod takes of resources and rows, in the Cluster's units, rounded up.
func (m *model) takes(p *pod) map[string]nodeset.Use {
	takes := make(map[string]nodeset.Use)
	for name, v := range p.requests {
		if unit := m.units[name]; unit > 0 {
			takes[name] = nodeset.Use{PerCore: (v + unit - 1) / unit}
		}
	}
	for i := range m.rows {
		if v := m.rows[i].takes(p); v > 0 {
			takes[m.rows[i].name] = nodeset.Use{PerCore: v}
		}
	}
	return takes
}

// on are the names of the nodes that a pod may use; nil: all of them.
func (m *model) on(p *pod) []string {
	if on, ok := m.filters[p.filter]; ok {
		return on
	}
	affinity := nodeaffinity.GetRequiredNodeAffinity(p.Pod)
	on := []string{}
	for _, n := range m.objects.Nodes {
		if ok, err := affinity.Match(n); !ok || err != nil {
			continue
		}
		_, bad := corev1.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, p.Spec.Tolerations, func(t *v1.Taint) bool {
			return t.Effect != v1.TaintEffectPreferNoSchedule
		}, false)
		if !bad {
			on = append(on, n.Name)
		}
	}
	if len(on) == len(m.objects.Nodes) {
		on = nil
	}
	slices.Sort(on)
	m.filters[p.filter] = on
	return on
}

// prefers are the nodes to which the pod's preferred affinity gives the most weight.
func (m *model) prefers(p *pod) []string {
	if p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return nil
	}
	best, most := []string(nil), int64(0)
	for _, n := range m.objects.Nodes {
		if w := terms.Score(n); w > most {
			best, most = []string{n.Name}, w
		} else if w == most && w > 0 {
			best = append(best, n.Name)
		}
	}
	return best
}

// equal reports whether the Cluster knows a node as it is.
func equal(a, b core.Node) bool {
	return maps.Equal(a.Resources, b.Resources) && a.Capacity == b.Capacity && a.Down == b.Down && a.Tier == b.Tier && a.Leaf == b.Leaf
}

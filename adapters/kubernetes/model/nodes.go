// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"cmp"
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

const hostPort = "hostPort:" // a resource of which each node has 1

// Cores and GPUs of the Cluster, as names of amounts.
const (
	cores = "cores"
	gpus  = "gpus"
)

// setNodes has the nodes with what pods of ours may have of them. All that pods ask for is a further
// resource of the Cluster, compared to the unit. Beside these a node has the Cluster's cores and GPUs:
// its CPU and GPUs in units that fit their range. Pods take of them what they request, rounded down, so
// that they are never short where the resources are not. They say what jobs are worth and what a start
// makes useless.
func (m *Model) setNodes() error {
	rows := make(map[string]row)
	for _, p := range m.pods {
		for _, r := range p.rows {
			rows[r.name] = r
		}
		if m.ours(p.Pod) {
			for name := range p.requests {
				m.most[name] = 0
			}
		}
	}
	for _, name := range sorted(rows) {
		if len(m.most) < nodeset.MaxResources {
			m.rows, m.most[name] = append(m.rows, rows[name]), 0
		}
	}
	m.setRooms()
	m.most[cores], m.most[gpus] = 0, 0
	for name, most := range m.most {
		for _, n := range m.objects.Nodes {
			most = max(most, m.allocatable(n, name))
		}
		m.units[name] = unitOf(most, cmp.Or(map[string]int64{cores: math.MaxUint16, gpus: math.MaxUint8}[name], math.MaxInt32))
		m.most[name] = most / m.units[name]
	}
	type at [2]string // a node, and a name
	used, foreign := make(map[at]int64), make(map[at]int64)
	known := make(map[string]map[string]int64)
	for _, p := range m.pods {
		m.setTakes(p, known)
		to := foreign
		if m.ours(p.Pod) {
			to = used
		}
		for name, v := range p.takes {
			to[at{p.Spec.NodeName, name}] += v
		}
	}
	var nodes []core.Node
	var switches []nodeset.Switch
	seen := make(map[string]int)
	for _, n := range m.objects.Nodes {
		left := func(name string, total int64) int64 {
			return max(0, total-foreign[at{n.Name, name}], used[at{n.Name, name}])
		}
		x := core.Node{Name: n.Name, Down: n.Spec.Unschedulable || !ready(n), Resources: make(map[string]int64)}
		x.Leaf, switches = m.leaf(n, seen, switches)
		for name := range m.most {
			switch v := left(name, m.allocatable(n, name)/m.units[name]); name {
			case cores:
				x.Cores = uint16(v)
			case gpus:
				x.GPUs = uint8(v)
			default:
				x.Resources[name] = v
			}
		}
		if slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Effect == v1.TaintEffectPreferNoSchedule }) {
			x.Tier = 1
		}
		nodes = append(nodes, x)
	}
	err := m.Cluster.SetTopology(switches)
	for k := 0; k < len(nodes) && err == nil; k++ {
		err = m.Cluster.SetNode(nodes[k])
	}
	return err
}

// unitOf is the least power of two of which v has at most so many.
func unitOf(v, most int64) int64 {
	unit := int64(1)
	for v/unit > most {
		unit *= 2
	}
	return unit
}

// allocatable is what a node has in all, in the units of pod.requests.
func (m *Model) allocatable(n *v1.Node, name string) (sum int64) {
	switch has := m.rooms[name]; {
	case has != nil:
		return has[n.Name]
	case strings.HasPrefix(name, hostPort):
		return 1
	case name == cores:
		name = string(v1.ResourceCPU)
	case name == gpus:
		for name, q := range n.Status.Allocatable {
			if isGPU(string(name)) {
				sum += room(string(name), q)
			}
		}
		return sum
	}
	return room(name, n.Status.Allocatable[v1.ResourceName(name)])
}

// isGPU reports whether a resource is whole GPUs by its name, as nvidia.com/gpu is.
func isGPU(name string) bool { return strings.HasSuffix(name, "/gpu") }

// setTakes fills in what a pod takes: of resources rounded up, of cores and GPUs rounded down. known has
// what pods take that are alike, as long as there are no rows.
func (m *Model) setTakes(p *pod, known map[string]map[string]int64) {
	p.kind = p.spec
	if p.takes = known[p.spec]; p.takes != nil {
		return
	}
	p.takes = map[string]int64{cores: p.requests[string(v1.ResourceCPU)] / m.units[cores]}
	for name, v := range p.requests {
		if unit := m.units[name]; unit > 0 {
			p.takes[name] = (v + unit - 1) / unit
		}
		if isGPU(name) {
			p.takes[gpus] += v
		}
	}
	p.takes[gpus] /= m.units[gpus]
	for i := range m.rows {
		if v := m.rows[i].takes(p); v > 0 {
			p.takes[m.rows[i].name] = v
		}
	}
	if len(m.rows) > 0 {
		p.kind = hash(p.spec, p.takes)
	} else {
		known[p.spec] = p.takes
	}
}

func ready(n *v1.Node) bool {
	return !slices.ContainsFunc(n.Status.Conditions, func(c v1.NodeCondition) bool {
		return c.Type == v1.NodeReady && c.Status != v1.ConditionTrue
	})
}

// leaf is the name of the domain of a node's smallest label of topology, which it adds to the switches,
// and those above it. Nodes without a label are in one domain, in which no group can ask to be: see near.
func (m *Model) leaf(n *v1.Node, seen map[string]int, switches []nodeset.Switch) (path string, all []nodeset.Switch) {
	parent := -1
	for _, label := range slices.Backward(m.Topology) {
		path += "/" + n.Labels[label]
		at, ok := seen[path]
		if !ok {
			at = len(switches)
			seen[path], switches = at, append(switches, nodeset.Switch{Name: path, Parent: parent})
		}
		parent = at
	}
	return path, switches
}

// on are the names of the nodes that a pod may use; nil: all of them.
func (m *Model) on(p *pod) []string {
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
	m.filters[p.filter] = on
	return on
}

// prefers are the nodes to which the pod's preferred affinity gives the most weight.
func (m *Model) prefers(p *pod) (best []string) {
	if p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return nil
	}
	most := int64(1)
	for _, n := range m.objects.Nodes {
		if w := terms.Score(n); w > most {
			best, most = []string{n.Name}, w
		} else if w == most {
			best = append(best, n.Name)
		}
	}
	return best
}

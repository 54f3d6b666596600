// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

const (
	hostPort = "hostPort:" // a resource of which each node has 1
	maxPods  = 1<<15 - 1   // of a node
	// Cores and GPUs of the Cluster, as names of amounts.
	cores, gpus = "cores", "gpus"
)

// node is a node with the amounts that pods of ours may have of it, and what they take, in the Cluster's units.
type node struct {
	*v1.Node
	has, takes map[string]int64
}

// amounts are quantities by name: CPU in thousandths, all else in units. Cores are the CPU, and GPUs those
// that are whole GPUs by the name of the resource, as nvidia.com/gpu is.
func amounts(list v1.ResourceList) map[string]int64 {
	all := make(map[string]int64)
	for name, q := range list {
		v := amount(string(name), q)
		if name == v1.ResourceCPU {
			all[cores] = v
		}
		if strings.HasSuffix(string(name), "/gpu") {
			all[gpus] += v
		}
		if v > 0 {
			all[string(name)] = v
		}
	}
	return all
}

// setNodes has the nodes with what pods of ours may have of them. All that pods ask for is a further
// resource of the Cluster, compared to the unit. Beside these a node has the Cluster's cores and GPUs:
// its CPU and GPUs in units that fit their range, and a core more for each pod. Pods take of them what they
// request, rounded down, so that they are never short where the resources are not. They say what a start
// makes useless.
func (m *Model) setNodes() error {
	rows := make(map[string]row)
	for _, p := range m.pods {
		for _, r := range p.rows {
			rows[r.name] = r
		}
		for name := range p.requests {
			if m.ours(p.Pod) {
				m.units[name] = 1
			}
		}
	}
	for _, name := range sorted(rows) {
		if len(m.units) < nodeset.MaxResources {
			m.rows, m.units[name] = append(m.rows, rows[name]), 1
		}
	}
	m.setRooms()
	m.units[cores], m.units[gpus] = 1, 1
	for name := range m.units {
		limit := cmp.Or(map[string]int64{cores: maxPods, gpus: bids.MaxGPUsPerNode}[name], nodeset.MaxAmount)
		for _, n := range m.nodes {
			if strings.HasPrefix(name, hostPort) {
				n.has[name] = 1
			}
			for n.has[name]/m.units[name] > limit {
				m.units[name] *= 2
			}
		}
	}
	known := make(map[string]map[string]int64)
	for _, p := range m.pods {
		m.setTakes(p, known)
		for name, v := range p.takes {
			if n := m.byName[p.Spec.NodeName]; n != nil && m.ours(p.Pod) {
				n.takes[name] += v
			} else if n != nil {
				n.has[name] -= v * m.units[name]
			}
		}
	}
	var nodes []core.Node
	var switches []nodeset.Switch
	seen := make(map[string]int)
	for _, n := range m.nodes {
		x := core.Node{Name: n.Name, Down: n.Spec.Unschedulable, Resources: make(map[string]int64)}
		x.Leaf, switches = m.leaf(n, seen, switches)
		for name, unit := range m.units {
			has := n.has[name] / unit
			if name == cores {
				has += min(maxPods, n.Status.Allocatable.Pods().Value())
			}
			x.Resources[name] = max(0, has, n.takes[name])
		}
		x.Cores, x.GPUs = uint16(x.Resources[cores]), uint8(x.Resources[gpus])
		delete(x.Resources, cores)
		delete(x.Resources, gpus)
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

// setTakes fills in what a pod takes: of resources rounded up, of cores and GPUs rounded down. known has
// what pods of a kind take.
func (m *Model) setTakes(p *pod, known map[string]map[string]int64) {
	p.kind = p.spec
	for i := range m.rows {
		p.kind += fmt.Sprint(" ", m.rows[i].takes(p))
	}
	if p.takes = known[p.kind]; p.takes != nil {
		return
	}
	p.takes = map[string]int64{cores: 1 + p.requests[cores]/m.units[cores], gpus: p.requests[gpus] / m.units[gpus]}
	for name, v := range p.requests {
		if unit := m.units[name]; unit > 0 && name != cores && name != gpus {
			p.takes[name] = (v + unit - 1) / unit
		}
	}
	for i := range m.rows {
		if v := m.rows[i].takes(p); v > 0 {
			p.takes[m.rows[i].name] = v
		}
	}
	known[p.kind] = p.takes
}

// leaf is the name of the domain of a node's smallest label of topology, which it adds to the switches,
// and those above it. Nodes without a label are in one domain, in which no group can ask to be: see near.
func (m *Model) leaf(n *node, seen map[string]int, switches []nodeset.Switch) (path string, all []nodeset.Switch) {
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
	hard := func(t *v1.Taint) bool { return t.Effect != v1.TaintEffectPreferNoSchedule }
	on := []string{}
	for _, n := range m.nodes {
		fits, err := affinity.Match(n.Node)
		_, taint := corev1.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, p.Spec.Tolerations, hard, false)
		if fits && err == nil && !taint {
			on = append(on, n.Name)
		}
	}
	if len(on) == len(m.nodes) {
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
	for _, n := range m.nodes {
		if w := terms.Score(n.Node); w > most {
			best, most = []string{n.Name}, w
		} else if w == most {
			best = append(best, n.Name)
		}
	}
	return best
}

// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// apart is what a pod takes of the row of its own anti-affinity: all that a node has.
const apart = 1 << 20

// row is a further resource that stands for a term: required anti-affinity between pods of a node, or
// a required spread over nodes.
//
// Of anti-affinity a node has apart of the row. A pod with the term takes all of it, and another pod that
// the term selects takes 1. Of a spread a pod takes 1, and each node has as much as the pods on the node
// that has fewest, and maxSkew more: so the skew holds after each start.
type row struct {
	term
	name string
	skew int64   // 0: anti-affinity
	of   *v1.Pod // has the term, and nodes to be spread over: those of pods with one term are taken to be the same
}

// term selects pods.
type term struct {
	namespaces []string
	selector   labels.Selector
}

// newTerm selects pods of some namespaces; without any, of the given one.
func newTerm(namespace string, namespaces []string, s *metav1.LabelSelector) term {
	if len(namespaces) == 0 {
		namespaces = []string{namespace}
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		selector = labels.Nothing()
	}
	return term{namespaces, selector}
}

func (t *term) selects(p *v1.Pod) bool {
	return slices.Contains(t.namespaces, p.Namespace) && t.selector.Matches(labels.Set(p.Labels))
}

// rowsOf are the rows of a pod's own terms.
func rowsOf(p *v1.Pod) (rows []row) {
	add := func(kind string, t term, skew int64) {
		rows = append(rows, row{t, kind + ":" + hash(t.namespaces, t.selector.String(), skew), skew, p})
	}
	for _, t := range required(p, true) {
		if t.TopologyKey == v1.LabelHostname {
			add("apart", newTerm(p.Namespace, t.Namespaces, t.LabelSelector), 0)
		}
	}
	for _, s := range p.Spec.TopologySpreadConstraints {
		if s.WhenUnsatisfiable == v1.DoNotSchedule && s.TopologyKey == v1.LabelHostname {
			add("spread", newTerm(p.Namespace, nil, s.LabelSelector), int64(s.MaxSkew))
		}
	}
	return rows
}

// takes is what a pod takes of a row.
func (r *row) takes(p *pod) int64 {
	own := slices.ContainsFunc(p.rows, func(x row) bool { return x.name == r.name })
	switch {
	case own && r.skew == 0:
		return apart
	case r.selects(p.Pod) && (r.skew == 0 || own):
		return 1
	}
	return 0
}

// near narrows the nodes that a pod may use, nil being all, by its own terms of affinity: to the domains of
// pods that the term selects. A term that selects the pod itself and nobody who runs narrows them to nodes
// with its key, which is one of within. WithinAnnotation is a term that selects the pod's group.
func (m *Model) near(p *pod, on []string) (left, within []string, why string) {
	terms := required(p.Pod, false)
	if key := p.Annotations[WithinAnnotation]; key != "" && p.group != "" {
		terms = append(slices.Clone(terms), v1.PodAffinityTerm{TopologyKey: key,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{GroupLabel: p.Labels[GroupLabel]}}})
	}
	if len(terms) > 0 && on == nil {
		for _, n := range m.objects.Nodes {
			on = append(on, n.Name)
		}
	}
	left = slices.Clone(on)
	for _, t := range terms {
		selected, values := newTerm(p.Namespace, t.Namespaces, t.LabelSelector), make(map[string]bool)
		for _, x := range m.bound {
			if n := m.byName[x.Spec.NodeName]; n != nil && selected.selects(x.Pod) && n.Labels[t.TopologyKey] != "" {
				values[n.Labels[t.TopologyKey]] = true
			}
		}
		if len(values) == 0 {
			if !selected.selects(p.Pod) {
				return nil, nil, "no running pod matches its required affinity"
			}
			within = append(within, t.TopologyKey)
		}
		if !slices.ContainsFunc(m.objects.Nodes, func(n *v1.Node) bool { return n.Labels[t.TopologyKey] != "" }) {
			return nil, nil, "no node has a label " + t.TopologyKey
		}
		left = slices.DeleteFunc(left, func(name string) bool {
			value, found := m.byName[name].Labels[t.TopologyKey]
			return !found || len(values) > 0 && !values[value]
		})
	}
	return left, within, ""
}

// setRooms has what each node has of each row: of a spread, those pods that are not of the row taken off.
func (m *Model) setRooms() {
	for i := range m.rows {
		r := &m.rows[i]
		count, others, room := make(map[string]int64), make(map[string]int64), make(map[string]int64)
		for _, p := range m.bound {
			if r.selects(p.Pod) {
				count[p.Spec.NodeName]++
				others[p.Spec.NodeName] += 1 - min(1, r.takes(p))
			}
		}
		fewest, nodes := int64(math.MaxInt32)-r.skew, nodeaffinity.GetRequiredNodeAffinity(r.of)
		for _, n := range m.objects.Nodes {
			if ok, err := nodes.Match(n); ok && err == nil {
				fewest = min(fewest, count[n.Name])
			}
		}
		for _, n := range m.objects.Nodes {
			if room[n.Name] = apart; r.skew > 0 {
				room[n.Name] = max(0, fewest+r.skew-others[n.Name])
			}
		}
		m.rooms[r.name] = room
	}
}

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
	name       string
	namespaces []string
	selector   labels.Selector
	skew       int64 // 0: anti-affinity
}

// rowsOf are the rows of a pod's own terms.
func rowsOf(p *v1.Pod) (rows []row) {
	for _, t := range required(p, true) {
		if t.TopologyKey != v1.LabelHostname {
			continue
		}
		rows = append(rows, newRow("apart", p, t.Namespaces, t.LabelSelector, 0))
	}
	for _, s := range p.Spec.TopologySpreadConstraints {
		if s.WhenUnsatisfiable == v1.DoNotSchedule && s.TopologyKey == v1.LabelHostname {
			rows = append(rows, newRow("spread", p, nil, s.LabelSelector, int64(s.MaxSkew)))
		}
	}
	return rows
}

// newRow is a row for the pods of some namespaces; without any, of those in that of p.
func newRow(kind string, p metav1.Object, namespaces []string, s *metav1.LabelSelector, skew int64) row {
	if len(namespaces) == 0 {
		namespaces = []string{p.GetNamespace()}
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		selector = labels.Nothing()
	}
	return row{kind + ":" + hash(namespaces, selector.String(), skew), namespaces, selector, skew}
}

func (r *row) selects(p *v1.Pod) bool {
	return slices.Contains(r.namespaces, p.Namespace) && r.selector.Matches(labels.Set(p.Labels))
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

// near is where pods of the pod's own terms of affinity are: the names of the nodes that are in a domain of
// such a pod for each term, and the keys of terms that select the pod itself and nobody who runs. ok is
// false if there is a term that nobody meets. WithinAnnotation is a term that selects the pod's group.
func (m *Model) near(p *pod) (on map[string]bool, within []string, ok bool) {
	terms := required(p.Pod, false)
	if key := p.Annotations[WithinAnnotation]; key != "" && p.group != "" {
		terms = append(slices.Clone(terms), v1.PodAffinityTerm{TopologyKey: key,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{GroupLabel: p.Labels[GroupLabel]}}})
	}
	for _, t := range terms {
		r := newRow("near", p, t.Namespaces, t.LabelSelector, 0)
		values := make(map[string]bool)
		for _, x := range m.bound {
			if n := m.byName[x.Spec.NodeName]; n != nil && r.selects(x.Pod) && n.Labels[t.TopologyKey] != "" {
				values[n.Labels[t.TopologyKey]] = true
			}
		}
		if len(values) == 0 {
			if !r.selects(p.Pod) {
				return nil, nil, false
			}
			within = append(within, t.TopologyKey)
		}
		was := on
		on = make(map[string]bool)
		for _, n := range m.objects.Nodes {
			value, found := n.Labels[t.TopologyKey]
			if (was == nil || was[n.Name]) && found && (len(values) == 0 || values[value]) {
				on[n.Name] = true
			}
		}
	}
	return on, within, true
}

// skews are how many pods of each row of a spread a node may have, those that are not of the row taken
// off.
func (m *Model) skews() map[string]map[string]int64 {
	all := make(map[string]map[string]int64)
	for i := range m.rows {
		r := &m.rows[i]
		if r.skew == 0 {
			continue
		}
		count, others := make(map[string]int64), make(map[string]int64)
		for _, p := range m.bound {
			if r.selects(p.Pod) {
				count[p.Spec.NodeName]++
				others[p.Spec.NodeName] += 1 - min(1, r.takes(p))
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

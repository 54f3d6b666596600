// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"encoding/json"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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
		namespaces := t.Namespaces
		if len(namespaces) == 0 {
			namespaces = []string{p.Namespace}
		}
		rows = append(rows, newRow("apart", namespaces, t.LabelSelector, 0))
	}
	for _, s := range p.Spec.TopologySpreadConstraints {
		if s.WhenUnsatisfiable == v1.DoNotSchedule && s.TopologyKey == v1.LabelHostname {
			rows = append(rows, newRow("spread", []string{p.Namespace}, s.LabelSelector, int64(s.MaxSkew)))
		}
	}
	return rows
}

func newRow(kind string, namespaces []string, s *metav1.LabelSelector, skew int64) row {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		selector = labels.Nothing()
	}
	key, _ := json.Marshal([]any{namespaces, selector.String(), skew})
	return row{kind + ":" + hash(key), namespaces, selector, skew}
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
func (m *model) near(p *pod) (on map[string]bool, within []string, ok bool) {
	terms := required(p.Pod, false)
	if key := p.Annotations[WithinAnnotation]; key != "" && p.group != "" {
		terms = append(slices.Clone(terms), v1.PodAffinityTerm{TopologyKey: key,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{GroupLabel: p.Labels[GroupLabel]}}})
	}
	for _, t := range terms {
		namespaces := t.Namespaces
		if len(namespaces) == 0 {
			namespaces = []string{p.Namespace}
		}
		r := newRow("near", namespaces, t.LabelSelector, 0)
		values := make(map[string]bool)
		for _, x := range m.bound {
			if n := m.byName[x.node]; n != nil && r.selects(x.Pod) && n.Labels[t.TopologyKey] != "" {
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

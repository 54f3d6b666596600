// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"cmp"
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

// term selects the pods of a group, or others, on nodes that have one value of a label.
type term struct {
	group      string
	namespaces []string
	selector   labels.Selector
	label      string
}

// newTerm selects pods of some namespaces; without any, of the given one.
func newTerm(namespace string, namespaces []string, s *metav1.LabelSelector, label string) term {
	if len(namespaces) == 0 {
		namespaces = []string{namespace}
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		selector = labels.Nothing()
	}
	return term{"", namespaces, selector, label}
}

func (t *term) selects(p *pod) bool {
	if t.group != "" {
		return t.group == p.group
	}
	return slices.Contains(t.namespaces, p.Namespace) && t.selector.Matches(labels.Set(p.Labels))
}

// setTerms has the pod's required terms, and says which of them the model has no words for.
func (p *pod) setTerms() {
	unless := func(ok bool, why string) {
		if !ok {
			p.refused = cmp.Or(p.refused, why)
		}
	}
	unless(len(p.Spec.ResourceClaims) == 0, "resource claims are not supported")
	for _, v := range p.Spec.Volumes {
		unless(v.PersistentVolumeClaim == nil && v.Ephemeral == nil, "persistent volumes are not supported")
	}
	terms := func(all []v1.PodAffinityTerm) (terms []term) {
		for _, t := range all {
			unless(t.NamespaceSelector == nil && t.MatchLabelKeys == nil && t.MismatchLabelKeys == nil,
				"affinity and anti-affinity with a namespaceSelector or matchLabelKeys are not supported")
			terms = append(terms, newTerm(p.Namespace, t.Namespaces, t.LabelSelector, t.TopologyKey))
		}
		return terms
	}
	add := func(kind string, t term, skew int64) {
		p.rows = append(p.rows, row{t, kind + ":" + hash(t.namespaces, t.selector.String(), skew), skew, p.Pod})
	}
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		p.near = terms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if label := p.Annotations[WithinAnnotation]; label != "" && p.group != "" {
		p.near = append(p.near, term{group: p.group, label: label})
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, t := range terms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) {
			unless(t.label == v1.LabelHostname, "required anti-affinity is supported for "+v1.LabelHostname+" only, not for "+t.label)
			add("anti-affinity", t, 0)
		}
	}
	for _, s := range p.Spec.TopologySpreadConstraints {
		if s.WhenUnsatisfiable == v1.DoNotSchedule {
			unless(s.TopologyKey == v1.LabelHostname && s.MinDomains == nil && s.MatchLabelKeys == nil,
				"a required topology spread is supported for "+v1.LabelHostname+" only, without minDomains and matchLabelKeys")
			add("spread", newTerm(p.Namespace, nil, s.LabelSelector, s.TopologyKey), int64(s.MaxSkew))
		}
	}
}

// takes is what a pod takes of a row.
func (r *row) takes(p *pod) int64 {
	own := slices.ContainsFunc(p.rows, func(x row) bool { return x.name == r.name })
	switch {
	case own && r.skew == 0:
		return apart
	case r.selects(p) && (r.skew == 0 || own):
		return 1
	}
	return 0
}

// near narrows the nodes that a pod may use, nil being all, by its own terms of affinity: to the domains of
// pods that the term selects. A term that selects the pod itself and nobody who runs narrows them to nodes
// with its label, which is one of within.
func (m *Model) near(p *pod, on []string) (left, within []string, why string) {
	for _, t := range p.near {
		values := make(map[string]bool)
		for _, x := range m.bound {
			if n := m.byName[x.Spec.NodeName]; n != nil && t.selects(x) && n.Labels[t.label] != "" {
				values[n.Labels[t.label]] = true
			}
		}
		if len(values) == 0 {
			if !t.selects(p) {
				return nil, nil, "no running pod matches its required affinity"
			}
			within = append(within, t.label)
		}
		if left = []string{}; on == nil {
			on = sorted(m.byName)
		}
		for _, name := range on {
			if value, ok := m.byName[name].Labels[t.label]; ok && (len(values) == 0 || values[value]) {
				left = append(left, name)
			}
		}
		if on = left; len(on) == 0 {
			return nil, nil, "no node that it may use has a fitting label " + t.label
		}
	}
	return on, within, ""
}

// setRooms has what each node has of each row: of a spread, those pods that are not of the row taken off.
func (m *Model) setRooms() {
	for i := range m.rows {
		r := &m.rows[i]
		count, others := make(map[string]int64), make(map[string]int64)
		for _, p := range m.bound {
			if r.selects(p) {
				count[p.Spec.NodeName]++
				others[p.Spec.NodeName] += 1 - min(1, r.takes(p))
			}
		}
		fewest, nodes := int64(math.MaxInt32)-r.skew, nodeaffinity.GetRequiredNodeAffinity(r.of)
		for _, n := range m.nodes {
			if ok, err := nodes.Match(n.Node); ok && err == nil {
				fewest = min(fewest, count[n.Name])
			}
		}
		for _, n := range m.nodes {
			if n.has[r.name] = apart; r.skew > 0 {
				n.has[r.name] = max(0, fewest+r.skew-others[n.Name])
			}
		}
	}
}

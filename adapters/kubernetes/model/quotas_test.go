// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
)

const twoTeams = `
queues:
- {name: a, namespaces: [default], cohort: c, nominal: {cpu: 4, memory: 8Gi}}
- {name: b, cohort: c, nominal: {cpu: 4}, limit: {cpu: 7}}
`

// queued are pods of queue b.
func queued(pods ...*v1.Pod) []*v1.Pod {
	for _, p := range pods {
		p.Labels[QueueLabel] = "b"
	}
	return pods
}

// A queue borrows what others of its cohort do not use, up to its limit, and gives it back to its owner.
func TestLentQuotaIsTakenBack(t *testing.T) {
	quotas, err := ReadQuotas(twoTeams)
	require.NoError(t, err)
	s := newWorld(t, aNode("n1", "cpu", "16"))
	s.objects.Quotas = quotas
	for _, p := range queued(pods("b", 8, "cpu", "1")...) {
		s.add(p)
	}
	s.bound(7)
	s.told("b-7", "waits for 1000 of 1000 of queue b: cpu (m)")
	s.add(aPod("own", "cpu", "3"))
	all := s.bound(1 + 5) // 8 CPUs in all
	require.NotEmpty(t, all["own"].Spec.NodeName)
	require.Equal(t, 2, s.evicted)
	s.add(aPod("more", "cpu", "2"))
	s.bound(1 + 5)
	s.told("more", "cohort c: cpu")
	require.Equal(t, 2, s.evicted, "that would not be its own")
}

func TestReadQuotas(t *testing.T) {
	for text, fault := range map[string]string{
		"queues: [{name: a}, {name: a}]": "unlike all others",
		"queues: [{nominal: {cpu: 1}}]":  "needs a name",
		"queue: []":                      "unknown field",
	} {
		_, err := ReadQuotas(text)
		require.ErrorContains(t, err, fault)
	}
}

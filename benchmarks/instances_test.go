// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
)

func model(t *testing.T, i Instance, merge bool) *ipmodel.Model {
	t.Helper()
	m, err := i.Model(merge)
	require.NoError(t, err)
	require.NoError(t, m.Validate())
	return m
}

func TestInstanceIsWhatItSays(t *testing.T) {
	base := Instance{Nodes: 256, Jobs: 60, Bids: 15, Busy: 0.5, Seed: 3}
	m := model(t, base, false)
	require.Equal(t, base.Jobs, m.Groups())
	require.Equal(t, m, model(t, base, false), "equal instances make equal models")
	most := int32(0)
	for g := range m.Groups() {
		most = max(most, m.GroupStart[g+1]-m.GroupStart[g])
	}
	require.EqualValues(t, base.Bids, most)
	for name, change := range map[string]func(*Instance){
		"seed":     func(i *Instance) { i.Seed++ },
		"busy":     func(i *Instance) { i.Busy = 0.9 },
		"bids":     func(i *Instance) { i.Bids = 60 },
		"priority": func(i *Instance) { i.Priority = Multifactor },
		"size":     func(i *Instance) { i.Priority = MultifactorSize },
		"ranges":   func(i *Instance) { i.GPURanges = true },
		"combined": func(i *Instance) { i.Combined = true },
	} {
		other := base
		change(&other)
		require.NotEqual(t, base.String(), other.String(), name)
		require.NotEqual(t, m, model(t, other, false), name)
	}
}

func TestInstanceMergedHasFewerRows(t *testing.T) {
	i := Instance{Nodes: 1024, Jobs: 50, Bids: 5, Seed: 1}
	plain, merged := model(t, i, false), model(t, i, true)
	require.Len(t, plain.Cap, 2*i.Nodes)
	require.Less(t, len(merged.Cap), i.Nodes)
	require.Equal(t, plain.Value, merged.Value)
}

func TestInstanceIsAsBusyAsItSays(t *testing.T) {
	for _, busy := range []float64{0, 0.5, 0.9} {
		free, all := int64(0), 0
		for seed := range uint64(5) {
			m := model(t, Instance{Nodes: 1024, Jobs: 5, Bids: 1, Busy: busy, Seed: seed}, false)
			for _, c := range m.Cap[:1024] {
				free += c
			}
			all += 1024 * CoresPerNode
		}
		require.InDelta(t, 1-busy, float64(free)/float64(all), 0.04)
	}
}

func TestInstancePriorities(t *testing.T) {
	spread := func(p Priority) float64 {
		m := model(t, Instance{Nodes: 512, Jobs: 50, Bids: 5, Priority: p, Seed: 2}, true)
		least, most := int64(math.MaxInt64), int64(0)
		for g := range m.Groups() {
			if m.GroupStart[g] < m.GroupStart[g+1] {
				w := m.Value[m.GroupStart[g]]
				least, most = min(least, w), max(most, w)
			}
		}
		return float64(most) / float64(least)
	}
	require.Less(t, spread(Basic), 1.1)
	require.Greater(t, spread(Multifactor), 3.0)
	require.Greater(t, spread(MultifactorSize), 2*spread(Multifactor))
}

func TestInstanceRefuses(t *testing.T) {
	good := Instance{Nodes: 16, Jobs: 1, Bids: 1}
	model(t, good, true)
	for name, change := range map[string]func(*Instance){
		"nodes":    func(i *Instance) { i.Nodes = 15 },
		"jobs":     func(i *Instance) { i.Jobs = 0 },
		"bids":     func(i *Instance) { i.Bids = 0 },
		"busy":     func(i *Instance) { i.Busy = 0.96 },
		"NaN":      func(i *Instance) { i.Busy = math.NaN() },
		"priority": func(i *Instance) { i.Priority = 3 },
	} {
		bad := good
		change(&bad)
		_, err := bad.Model(true)
		require.ErrorContains(t, err, "must be", name)
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// dumbConflict looks at every second of every core and at all GPUs of every node.
func dumbConflict(machine []nodeset.Capacity, stays []stay) bool {
	for _, s := range stays {
		if s.node >= len(machine) {
			return true
		}
	}
	for n, c := range machine {
		for second := int64(0); second < 40; second++ {
			cores, gpus := map[int]int{}, 0
			for _, s := range stays {
				if s.node != n || second < s.start || second >= s.end {
					continue
				}
				gpus += s.gpus
				for _, core := range s.cpus {
					if cores[core]++; cores[core] > 1 || core >= int(c.Cores) {
						return true
					}
				}
			}
			if gpus > int(c.GPUs) {
				return true
			}
		}
	}
	return false
}

func TestCheckStays(t *testing.T) {
	var conflicts, none int
	rapid.Check(t, func(t *rapid.T) {
		machine := make([]nodeset.Capacity, rapid.IntRange(1, 3).Draw(t, "nodes"))
		for i := range machine {
			machine[i] = nodeset.Capacity{Cores: uint16(rapid.IntRange(1, 4).Draw(t, "cores")),
				GPUs: uint8(rapid.IntRange(0, 2).Draw(t, "gpus"))}
		}
		tame := rapid.Bool().Draw(t, "tame") // random stays rarely go together
		var stays []stay
		for i := range rapid.IntRange(0, 16).Draw(t, "stays") {
			start := rapid.Int64Range(0, 30).Draw(t, "start")
			s := stay{job: string(rune('a' + i)), node: rapid.IntRange(0, len(machine)-1).Draw(t, "node"),
				gpus:  rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "used"),
				start: start, end: start + rapid.Int64Range(1, 9).Draw(t, "length")}
			s.cpus = rapid.SliceOfNDistinct(rapid.IntRange(0, 4), 1, 2, rapid.ID).Draw(t, "cpus")
			if tame && dumbConflict(machine, append(slices.Clone(stays), s)) {
				continue
			}
			stays = append(stays, s)
		}
		want := dumbConflict(machine, stays)
		err := checkStays(machine, stays)
		require.Equal(t, want, err != nil, "%v", err)
		if want {
			conflicts++
		} else if len(stays) > 1 {
			none++
		}
	})
	require.Positive(t, conflicts)
	require.Positive(t, none)
}

func TestCheckStaysSays(t *testing.T) {
	machine := []nodeset.Capacity{{Cores: 4, GPUs: 2}}
	for _, c := range []struct {
		want string
		more []stay
	}{
		{"", []stay{{"b", 0, []int{0, 1}, 2, 20, 30}}},
		{"", []stay{{"b", 0, []int{2, 3}, 1, 10, 30}}},
		{"jobs a and b both had core 1 of node 1 in second 19", []stay{{"b", 0, []int{1, 2}, 0, 19, 30}}},
		{"jobs had 3 GPUs of the 2 of node 1 in second 12, when b started", []stay{{"b", 0, []int{3}, 2, 12, 13}}},
		{"job b had core 4 of node 1, which has 4", []stay{{"b", 0, []int{4}, 0, 50, 60}}},
		{"job b ran on node 2 of 1", []stay{{"b", 1, []int{0}, 0, 50, 60}}},
	} {
		err := checkStays(machine, append([]stay{{"a", 0, []int{0, 1}, 1, 10, 20}}, c.more...))
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.want)
		}
	}
}

func TestStaysOf(t *testing.T) {
	h := had("gpu:4", 2, "n0002", "n0005")
	segs, err := segments(h)
	require.NoError(t, err)
	j := workload.Job{}
	j.ID = "x"
	stays, err := staysOf(h, &sim.Record{Job: &j, Start: 3, End: 9, Segs: segs})
	require.NoError(t, err)
	require.Equal(t, []stay{{"x", 1, []int{0, 1}, 2, 3, 9}, {"x", 4, []int{0, 1}, 2, 3, 9}}, stays)
}

// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The referee finds what it is there for.
func TestReferee(t *testing.T) {
	p := invasive.Partition{Nodes: 2, Sockets: 1, CoresPerSocket: 4}
	one, two := malleable(0, 10, 4, 2, 8), rigid(0, 10, 2)
	two.MinNodes, two.MaxNodes = 1, 1
	a, b := &run{Job: one, job: one.job(1)}, &run{Job: two, job: two.job(2)}
	tests := []struct {
		name string
		play func(f *referee) error
		err  string
	}{
		{"good", func(f *referee) error {
			f.pass(10 * time.Second)
			return f.end(a)
		}, ""},
		{"two owners", func(f *referee) error { return f.give(b.job, []uint32{3, 4}, true) }, "core 3 of job 1 is given to job 2"},
		{"launched twice", func(f *referee) error { return f.give(a.job, []uint32{4}, true) },
			"job 1 is launched twice, or grows without a launch"},
		{"grows before", func(f *referee) error { return f.give(b.job, []uint32{4, 5}, false) },
			"job 2 is launched twice, or grows without a launch"},
		{"too few", func(f *referee) error { return f.release(a.job, []uint32{0, 1, 2}) }, "job 1 has 1 cores, and can use 2 to 8"},
		{"not its own", func(f *referee) error { return f.release(a.job, []uint32{4}) }, "job 1 lets go of core 4 of job 0"},
		{"nodes", func(f *referee) error {
			require.NoError(t, f.release(a.job, []uint32{3}))
			return f.give(b.job, []uint32{3, 4}, true)
		}, "job 2 is on 2 nodes, and needs 1 to 1"},
		{"work lost", func(f *referee) error {
			f.pass(9 * time.Second)
			return f.end(a)
		}, "job 1 has done 36 of 40 core seconds of work"},
		{"never launched", func(f *referee) error { return f.end(b) }, "job 2 ends before its launch"},
		{"lost", func(f *referee) error { return f.finish([]run{*a}) }, "job 1 is lost: launched false, ended false, told false"},
		{"cores lost", func(f *referee) error { return f.finish(nil) }, "core 0 still belongs to job 1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newReferee(&p, time.Second)
			require.NoError(t, f.give(a.job, []uint32{0, 1, 2, 3}, true))
			if err := test.play(f); test.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, test.err)
			}
		})
	}
}

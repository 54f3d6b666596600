// SPDX-License-Identifier: BSD-3-Clause

//go:build highs

package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/highs"
	"github.com/aucsched/aucsched/benchmarks/mpsread"
	"github.com/aucsched/aucsched/internal/test/beside"
	"github.com/aucsched/aucsched/ipmodel"
)

// sharedInstance is an auction window beside the checkout, if it is there.
func sharedInstance(t *testing.T, name string) *mpsread.File {
	t.Helper()
	p, err := readMPS(beside.Shared(t, "instances/"+name))
	require.NoError(t, err)
	return p
}

func TestHiGHSHoldsItsDeadlineWithAnIncumbent(t *testing.T) {
	p := sharedInstance(t, "steady_1024_200_15.mps.gz")
	var r ipmodel.Result
	most := int64(0)
	for g := range p.Model.Groups() {
		most += slices.Max(p.Model.Value[p.Model.GroupStart[g]:p.Model.GroupStart[g+1]])
	}
	// How soon HiGHS has a first solution and a bound depends on the machine; the deadline does not.
	for limit := 2 * time.Second; limit <= 64*time.Second; limit *= 2 {
		began := time.Now()
		o := ipmodel.Options{Deadline: began.Add(limit)}
		require.NoError(t, highs.New(highs.Options{}).Solve(context.Background(), p.Model, o, &r))
		took := time.Since(began)
		t.Logf("%v after %v: objective %v, bound %v, %d nodes", r.Status, took, p.Objective(r.Chosen), p.Bound(r.Bound), r.Nodes)
		require.Less(t, took, limit+time.Second) // the test may have to wait for a processor
		require.Equal(t, ipmodel.Feasible, r.Status)
		if len(r.Chosen) > 0 && r.Bound < most {
			break
		}
	}
	require.NotEmpty(t, r.Chosen)
	require.Less(t, r.Bound, most, "HiGHS's own bound came in time")
	worth, err := p.Model.Check(r.Chosen)
	require.NoError(t, err)
	require.Equal(t, worth, r.Value)
}

func TestHiGHSSolvesASteadyWindow(t *testing.T) {
	p := sharedInstance(t, "steady_128_50_5.mps.gz")
	var r ipmodel.Result
	o := ipmodel.Options{Deadline: time.Now().Add(2 * time.Minute)}
	require.NoError(t, highs.New(highs.Options{}).Solve(context.Background(), p.Model, o, &r))
	require.InDelta(t, -4670.54547885, p.Objective(r.Chosen), 1e-7)
	require.InDelta(t, -4670.54547885, p.Bound(r.Bound), 1e-6)
}

// SPDX-License-Identifier: BSD-3-Clause

package portfolio

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// fake answers with a fixed result after the context ends or at once.
type fake struct {
	answer ipmodel.Result
	err    error
	hang   bool
}

func (f *fake) Name() string { return "fake" }

func (f *fake) Solve(ctx context.Context, _ *ipmodel.Model, _ ipmodel.Options, r *ipmodel.Result) error {
	if f.hang {
		<-ctx.Done()
	}
	*r = f.answer
	return f.err
}

func feasible(worth, bound int64) *fake {
	return &fake{answer: ipmodel.Result{Status: ipmodel.Feasible, Value: worth, Bound: bound, Chosen: []int32{int32(worth)}}}
}

func TestBestOfAll(t *testing.T) {
	failing := &fake{err: errors.New("broken")}
	unknown := &fake{answer: ipmodel.Result{Status: ipmodel.Unknown, Bound: 6}}
	for name, c := range map[string]struct {
		members      []ipmodel.Solver
		status       ipmodel.Status
		worth, bound int64
	}{
		"more worth from one, a lower bound from another": {[]ipmodel.Solver{feasible(5, 9), feasible(4, 7)}, ipmodel.Feasible, 5, 7},
		"together they prove it":                          {[]ipmodel.Solver{feasible(5, 9), feasible(4, 5)}, ipmodel.Optimal, 5, 5},
		"one fails":                                       {[]ipmodel.Solver{failing, feasible(4, 7)}, ipmodel.Feasible, 4, 7},
		"one knows nothing but a bound":                   {[]ipmodel.Solver{unknown, feasible(4, 7)}, ipmodel.Feasible, 4, 6},
		"infeasible wins": {[]ipmodel.Solver{unknown,
			&fake{answer: ipmodel.Result{Status: ipmodel.Infeasible}}}, ipmodel.Infeasible, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var r ipmodel.Result
			require.NoError(t, New(c.members...).Solve(context.Background(), &ipmodel.Model{}, ipmodel.Options{}, &r))
			require.Equal(t, c.status, r.Status)
			require.Equal(t, []int64{c.worth, c.bound}, []int64{r.Value, r.Bound})
			if c.worth > 0 {
				require.Equal(t, []int32{int32(c.worth)}, r.Chosen)
			}
		})
	}
	var r ipmodel.Result
	require.ErrorContains(t, New(failing, failing).Solve(context.Background(), &ipmodel.Model{}, ipmodel.Options{}, &r), "broken")
}

// broken is a solver with a bug.
type broken struct{}

func (broken) Name() string { return "broken" }

func (broken) Solve(context.Context, *ipmodel.Model, ipmodel.Options, *ipmodel.Result) error {
	panic("boom")
}

// A member's panic, on a goroutine of its own, is that member's failure.
func TestPanicOfAMember(t *testing.T) {
	var r ipmodel.Result
	require.NoError(t, New(broken{}, feasible(4, 7)).Solve(context.Background(), &ipmodel.Model{}, ipmodel.Options{}, &r))
	require.EqualValues(t, 4, r.Value)
	require.ErrorContains(t, New(broken{}).Solve(context.Background(), &ipmodel.Model{}, ipmodel.Options{}, &r), "broken: panic: boom")
}

func TestTheFirstWithinTheGapEndsTheRest(t *testing.T) {
	slow := feasible(0, 100)
	slow.hang = true
	var r ipmodel.Result
	begin := time.Now()
	require.NoError(t, New(slow, feasible(100, 110)).Solve(context.Background(), &ipmodel.Model{}, ipmodel.Options{Gap: 0.1}, &r))
	require.Less(t, time.Since(begin), 5*time.Second)
	require.Equal(t, []int64{100, 100}, []int64{r.Value, r.Bound})
}

func TestTheFirstToSettleEndsTheRest(t *testing.T) {
	m := &ipmodel.Model{GroupStart: []int32{0, 1}, ColStart: []int32{0, 1}, Value: []int64{7},
		Row: []int32{0}, Coef: []int32{1}, Cap: []int64{1}}
	slow := feasible(0, 100)
	slow.hang = true
	var r ipmodel.Result
	begin := time.Now()
	require.NoError(t, New(slow, native.New()).Solve(context.Background(), m, ipmodel.Options{}, &r))
	require.Less(t, time.Since(begin), 5*time.Second)
	require.Equal(t, ipmodel.Optimal, r.Status)
	require.EqualValues(t, 7, r.Value)
}

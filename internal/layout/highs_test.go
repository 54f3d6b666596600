// SPDX-License-Identifier: BSD-3-Clause

//go:build highs

package layout

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/highs"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// On windows beyond enumeration the answer is HiGHS's, which gets the program written out.
func TestAnswersAsHiGHSDoes(t *testing.T) {
	stronger := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawWindow(t, 12, 10, 5)
		for i, b := range m.book.Bids { // worths that floating point tells apart
			m.model.Worth[i] = 1000*m.Asks[b.Job].Priority + int64(100*b.Preference)
		}
		d := m.direct(t)
		if d.Columns() == 0 {
			return
		}
		var r Result
		require.NoError(t, New(native.New()).Solve(context.Background(), &m.Window, ipmodel.Options{Seed: 1}, &r))
		x, optimal, err := highs.SolveProgram(&d.Program, time.Minute)
		require.NoError(t, err)
		if !optimal {
			require.Equal(t, ipmodel.Infeasible, r.Status)
			return
		}
		worth, err := d.Check(x)
		require.NoError(t, err)
		require.Equal(t, ipmodel.Optimal, r.Status)
		require.Equal(t, worth, r.Worth)
		m.judge(t, d, &r)
		if r.Worth > r.FixedWorth {
			stronger++
		}
	})
	t.Logf("worth more than fixed layouts in %d windows", stronger)
}

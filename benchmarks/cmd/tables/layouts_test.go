// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/core"
)

// The page's figures are those of the plans: one small window. AUCSCHED1's answer
// is never worth less.
func TestLayoutsMeasures(t *testing.T) {
	w, err := benchmarks.NewWindow(64, 40, 1)
	require.NoError(t, err)
	o := core.Preset("paper")
	o.Work = 100_000
	x, err := benchmarks.CompareLayouts(w, o)
	require.NoError(t, err)
	require.Equal(t, int64(40+2*64), x.Fixed.Rows)
	require.Equal(t, x.Fixed.Columns+2*40*64, x.Printed.Columns)
	require.Less(t, x.Direct.Columns, x.Printed.Columns)
	require.GreaterOrEqual(t, x.Auction1.Objective, x.Auction2.Objective)
	text, err := layoutsPage(seedRange{1, 1}, []layoutRow{{64, bidding{5, 0}, []*benchmarks.Layouts{x}}})
	require.NoError(t, err)
	require.Contains(t, text, "| 64    | 5 bids, 0 drafts |")
}

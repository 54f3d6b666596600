// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
)

func TestNames(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{
		"other": core.Why(0), "no_fit": core.NoFit, "lost": core.Lost, "reserved": core.Reserved, "never": core.Never,
		"unmodelled": core.Unmodelled, "timed_out": core.TimedOut, "Why(9)": core.Why(9),
	} {
		require.Equal(t, want, got.String())
	}
}

func TestOptionErrors(t *testing.T) {
	for want, spoil := range map[string]func(o *core.AuctionOptions){
		"window 0: must be a number from 1 to 1048576":       func(o *core.AuctionOptions) { o.Window = 0 },
		"patience -1: must be a number from 0 to 3153600000": func(o *core.AuctionOptions) { o.Patience = -1 },
		"work -1: must be a number from 0 to 1000000000000":  func(o *core.AuctionOptions) { o.Work = -1 },
		"objective 9: must be priority, size or rate":        func(o *core.AuctionOptions) { o.Objective = 9 },
	} {
		o := core.Preset("none")
		_, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		spoil(&o)
		_, err = core.NewAuction(o, nil)
		require.ErrorContains(t, err, want)
		var option *core.OptionError
		require.ErrorAs(t, err, &option)
	}
}

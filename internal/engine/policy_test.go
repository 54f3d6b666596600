// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/test/race"
)

// whys are the reasons of an outcome's decisions.
func whys(out *Output) (why []uint8) {
	for _, d := range out.Decisions {
		why = append(why, d.Why)
	}
	return why
}

// policyCases are settings, and how many jobs of table I of ipsched start with them. Of the papers'
// five bids a job no three go together.
var policyCases = map[string]int{"policy=auction2": 3, "policy=auction2 paper=yes": 2}

func TestPoliciesDecideTableI(t *testing.T) {
	for settings, starts := range policyCases {
		t.Run(settings, func(t *testing.T) {
			e, in := open(t, settings+" deadline_ms=5000"), tableI()
			require.Equal(t, e.Settings().Policy.String(), e.policy.Name())
			var out Output
			require.NoError(t, e.Cycle(in, &out))
			require.NoError(t, check(in, &out))
			require.Equal(t, []any{starts, 3, false}, []any{out.Starts, out.Window, out.Late})
			require.NotZero(t, out.Bids)
		})
	}
}

// The auction can be held to blocks of nodes.
func TestContiguousBids(t *testing.T) {
	in := &Input{Jobs: []Job{{Priority: 9, Cores: 8, TimeLimit: 9, Mask: -1}}}
	for _, free := range []uint16{4, 0, 4} {
		in.Nodes = append(in.Nodes, Node{Cores: 4, FreeCores: free, Up: 1})
	}
	for settings, why := range map[string]uint8{"": Starts, "contiguous_bids=yes reservations=0": WaitsFit} {
		var out Output
		require.NoError(t, open(t, settings).Cycle(in, &out))
		require.Equal(t, why, out.Decisions[0].Why, settings)
	}
}

// What a panic has left of a policy is not used again.
func TestForgetKeepsThePolicy(t *testing.T) {
	for settings := range policyCases {
		e := open(t, settings)
		before := e.policy
		e.forget()
		require.NotSame(t, before, e.policy)
		require.Equal(t, before.Name(), e.policy.Name())
	}
}

func TestThePolicyHearsOfTheEnd(t *testing.T) {
	_, ok := open(t, "").policy.(ender)
	require.True(t, ok)
}

// An engine has the older policies only if it was given them.
func TestOlderPoliciesAreRefused(t *testing.T) {
	e := open(t, "window=5")
	for _, name := range []string{older.Auction1, older.IPSched} {
		_, err := New("policy="+name, Options{})
		var fault *SettingError
		require.ErrorAs(t, err, &fault)
		require.EqualError(t, e.Configure("policy="+name),
			"setting policy="+name+": is in libaucsched-older.so, not in this library")
		require.Equal(t, 5, e.Settings().Auction.Window, "the old settings stay")
	}
}

// Words alone are no reason to the library.
func TestReasonsHaveCodes(t *testing.T) {
	for why, want := range map[core.Why]bool{0: false, core.NoFit: true, core.OverQuota: true, core.OverQuota + 1: false} {
		code, ok := codeOf(why)
		require.Equal(t, want, ok, "reason %d", why)
		require.Equal(t, want, code != 0)
	}
}

// A look at the clock can cost as much as a step of a search.
func TestClockIsAskedSeldom(t *testing.T) {
	race.Slow(t)
	for settings := range policyCases {
		looks := 0
		var mu sync.Mutex
		clock := func() time.Time { mu.Lock(); defer mu.Unlock(); looks++; return time.Now() }
		e, err := New(settings+" deadline_ms=600000", Options{Now: clock})
		require.NoError(t, err)
		var out Output
		require.NoError(t, e.Cycle(largeInput(64, 50), &out))
		require.Positive(t, out.Starts)
		t.Logf("%s: %d looks in %v", settings, looks, out.Elapsed)
		require.Less(t, looks, 50_000, settings)
	}
}

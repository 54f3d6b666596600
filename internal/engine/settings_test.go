// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
)

func TestParseSettings(t *testing.T) {
	s, err := ParseSettings("")
	require.NoError(t, err)
	require.Equal(t, DefaultSettings(), s)
	require.Equal(t, 200*time.Millisecond, s.Deadline)

	s, err = ParseSettings(" preset=none window=1,depth=0\tbids=20 drafts=9,,reservations=2\ndeadline_ms=150 " +
		"objective=size work=0 window=77,file_age_s=60 memory_mb=512")
	require.NoError(t, err)
	some := core.Preset("none")
	some.Window, some.Depth, some.MaxBidsPerJob, some.Drafts, some.Reservations = 77, 0, 20, 9, 2
	some.Objective, some.Work = core.BySize, 0
	require.Equal(t, Settings{
		Auction:  some,
		IPSched:  older.Options{Window: 77, NodeLimits: true, Objective: core.BySize},
		Deadline: 150 * time.Millisecond, FileAge: 60, Memory: 512,
	}, s)

	s, err = ParseSettings("reservations=2 throughput=yes compact=no")
	require.NoError(t, err)
	most := core.Preset("packed")
	most.Reservations, most.Compact = 2, false
	require.Equal(t, most, s.Auction, "what is given comes on top, wherever it stands")
	s, err = ParseSettings("throughput=yes,patience_s=60 throughput=no objective=rate compact=yes")
	require.NoError(t, err)
	some = core.Preset("default")
	some.Patience, some.Compact, some.Objective = 60, true, core.ByRate
	require.Equal(t, some, s.Auction)

	s, err = ParseSettings("keep_holes=yes")
	require.NoError(t, err)
	require.Equal(t, core.Preset("default"), s.Auction, "it is always on")

	s, err = ParseSettings("promise_s=60 preset=default reservations=3")
	require.NoError(t, err)
	planned := core.Preset("default")
	planned.Promise, planned.Reservations = 60, 3
	require.Equal(t, planned, s.Auction)
	s, err = ParseSettings("preset=none")
	require.NoError(t, err)
	require.Equal(t, core.Preset("none"), s.Auction)
	for _, bad := range []string{"preset=fastest", "preset=default paper=yes", "throughput=yes preset=default", "promise_s=-1"} {
		_, err = ParseSettings(bad)
		require.Error(t, err, bad)
	}

	s, err = ParseSettings("bids=6 paper=yes policy=auction1 contiguous_bids=yes")
	require.NoError(t, err)
	paper := core.Preset("paper")
	paper.MaxBidsPerJob, paper.ContiguousOnly = 6, true
	require.Equal(t, paper, s.Auction)
	require.Equal(t, Auction1, s.Policy)
	s, err = ParseSettings("paper=yes throughput=yes paper=no")
	require.NoError(t, err, "the last of each counts")
	require.Equal(t, core.Preset("packed"), s.Auction)

	s, err = ParseSettings("window=9 node_limits=no policy=ipsched on_timeout=halve bids=3 drafts=2 throughput=yes")
	require.NoError(t, err, "what means nothing for ipsched is ignored")
	require.Equal(t, IPSched, s.Policy)
	require.Equal(t, older.Options{Window: 9, OnTimeout: older.Halve, Work: older.DefaultOptions().Work}, s.IPSched)
}

func TestSettingFaults(t *testing.T) {
	for text, want := range map[string]string{
		"window=0":                  "setting window=0: must be a number from 1 to 1048576",
		"window=1048577":            "from 1 to 1048576",
		"window=x":                  "setting window=x: must be a number",
		"window=":                   "setting window=: must be a number",
		"window":                    "setting window=: has no value",
		"=3":                        "setting =3: there is no such setting",
		"depth=-1":                  "setting depth=-1: must be a number from 0",
		"bids=4097":                 "from 1 to 4096",
		"reservations=65":           "from 0 to 64",
		"deadline_ms=0":             "from 1 to 3600000",
		"deadline_ms=3600001":       "from 1 to 3600000",
		"objective=speed":           "setting objective=speed: must be priority, size or rate",
		"patience_s=-1":             "setting patience_s=-1: must be a number from 0",
		"compact=true":              "setting compact=true: must be no or yes",
		"throughput=":               "setting throughput=: must be yes or no",
		"record=aucsched":           "setting record=aucsched: must be an absolute path",
		"work=-1":                   "setting work=-1: must be",
		"file_age_s=-1":             "setting file_age_s=-1: must be",
		"work=99999999999999999999": "must be a number",
		"goal=fair":                 "setting goal=fair: there is no such setting",
		"depth=3 wndow=5":           "setting wndow=5: there is no such setting",
		"window=0,window=5":         "setting window=0",
		strings.Repeat("x", 1000):   "xxx...=: has no value",
		"odd\x01key=\"\n":           `setting odd\x01key=\"`,
	} {
		_, err := ParseSettings(text)
		require.ErrorContains(t, err, want)
		var fault *SettingError
		require.ErrorAs(t, err, &fault)
		require.NotContains(t, err.Error(), "\n")
		require.Less(t, len(err.Error()), 500)
	}
}

// A parse has settings that the auction accepts, or an error.
func FuzzParseSettings(f *testing.F) {
	for _, s := range []string{"", "window=5", "bids=1,drafts=1", "record=/x",
		"deadline_ms=1 work=0", "objective=size,,\t=", "policy=ipsched paper=yes node_limits=no", "\xff=\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSettings(text)
		if err != nil {
			require.Less(t, len(err.Error()), 2000)
			return
		}
		_, err = core.NewAuction(s.Auction, nil)
		require.NoError(t, err)
		if s.Policy == IPSched {
			require.NoError(t, s.IPSched.Validate())
		}
		require.Positive(t, s.Deadline)
		e, err := New(text, Options{})
		if s.Policy != Auction2 {
			require.ErrorContains(t, err, "libaucsched-older.so")
			return
		}
		require.NoError(t, err)
		require.Equal(t, s, e.Settings())
	})
}

func TestConfigure(t *testing.T) {
	e := open(t, "window=2 depth=0")
	require.ErrorContains(t, e.Configure("window=3 odd=1"), "odd=1")
	require.Equal(t, 2, e.Settings().Auction.Window, "the old settings stay")
	in := tableI()
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, NotLookedAt, out.Decisions[2].Why)
	require.NoError(t, e.Configure("deadline_ms=5000"))
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, 3, out.Starts)
}

// What this version takes by an older name decides as by the new one.
func TestOlderNames(t *testing.T) {
	const work = " work=20000 deadline_ms=3600000"
	for older, now := range map[string]string{
		"paper=yes":                          "preset=paper",
		"throughput=yes":                     "preset=packed",
		"paper=no":                           "",
		"throughput=no preset=short":         "preset=short",
		"window=50,paper=yes reservations=1": "preset=paper window=50 reservations=1",
		"compact=no throughput=yes":          "preset=packed compact=no",
		"preset=none objective=rate patience_s=14400 compact=yes": "preset=packed",
		"preset=none depth=0 bids=5 drafts=0 reservations=0":      "preset=paper",
		"bids=15 drafts=7 contiguous_bids=no":                     "preset=default", "policy=auction2": "preset=default",
	} {
		var out [2]Output
		for seed := range uint64(5) {
			for i, text := range []string{older, now} {
				rng := rand.New(rand.NewPCG(seed, 1))
				require.NoError(t, open(t, text+work).Cycle(randomInput(rng, 12, 60), &out[i]))
			}
			require.Equal(t, out[1].Decisions, out[0].Decisions, older)
			require.Equal(t, out[1].Segments, out[0].Segments, older)
		}
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package matrix

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
)

func TestFigures(t *testing.T) {
	result := func(x float64) *sim.Result {
		return &sim.Result{CPUUtilization: x, WaitMean: 10 * x, SlowdownMean: 20 * x, FragmentationMean: 30 * x, SpreadMean: 40 * x}
	}
	const best = "auction, our best settings" // a comma within
	f := Figures{
		"a": {"a", "S-V.1", best, 2, result(0.5)},
		"b": {"b", "S-V.1", best, 1, result(0.25)},
		"c": {"c", "esp-basic", "backfill", 3, result(0.75)},
		"d": {"d", "gone", "backfill", 1, result(1)},
	}
	text := string(f.CSV())
	back, err := ReadFigures(strings.NewReader(text), "f.csv")
	require.NoError(t, err)
	require.Equal(t, f, back)
	var keys []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		keys = append(keys, line[:1])
	}
	require.Equal(t, []string{"c", "b", "a", "d"}, keys)
}

func TestFiguresRefused(t *testing.T) {
	head := strings.Join(figureColumns, ",") + "\n"
	for _, test := range []struct{ text, err string }{
		{"a,b\n", "record on line 1: wrong number of fields"},
		{strings.Repeat("a,", len(figureColumns)-1) + "a\n", "f.csv:1: the columns are a,"},
		{head + "k,e,m,1,0.5,1,1,1\n", "record on line 2: wrong number of fields"},
		{head + "k,e,m,-1,0.5,1,1,1,1\n", `f.csv:2: seed: strconv.ParseUint: parsing "-1"`},
		{head + "k,e,m,1,0.5,much,1,1,1\n", `f.csv:2: wait_mean_s: strconv.ParseFloat: parsing "much"`},
		{head + "k,e,m,1,NaN,1,1,1,1\n", `f.csv:2: cpu_utilization: "NaN": not a finite number`},
		{head + "k,e,m,1,0.5,1,1,1,1\nk,e,m,2,0.5,1,1,1,1\n", `f.csv:3: key: "k": there twice, or empty`},
	} {
		_, err := ReadFigures(strings.NewReader(test.text), "f.csv")
		require.ErrorContains(t, err, test.err)
	}
}

// A run is kept under the key of its settings, and what could not be found is not.
func TestFiguresAdd(t *testing.T) {
	experiments, err := Select([]string{"S-V.1"})
	require.NoError(t, err)
	f := make(Figures)
	find := fake(func(_ string, args []string, seed uint64) bool { return args[0] == "--scheduler=auction1" || seed == 2 })
	f.Add(experiments, []uint64{1, 2, 3}, find)
	require.Len(t, f, 2*(2+len(settings.Planned()))) // backfill and our settings
	e := &experiments[0]
	key, r := find("emulate", e.ArgsOf("emulate", &e.Methods[2]), 3)
	require.Equal(t, Run{key, "S-V.1", "auction, our best settings", 3, r}, f[key])
}

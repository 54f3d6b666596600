// SPDX-License-Identifier: BSD-3-Clause

package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/golden"
)

// fake has results in which schedulers and seeds differ by round figures.
func fake(missing func(command string, args []string, seed uint64) bool) Lookup {
	return func(command string, args []string, seed uint64) (string, *sim.Result) {
		key := fmt.Sprint(command, args, seed)
		if missing != nil && missing(command, args, seed) {
			return key, nil
		}
		x := float64(seed)
		r := &sim.Result{CPUUtilization: 0.8 + x/100, WaitMean: 3600 * x, SlowdownMean: 10 * x, FragmentationMean: 2, SpreadMean: 3}
		if strings.Contains(strings.Join(args, " "), "=auction") {
			r.CPUUtilization += 0.05
			r.WaitMean -= 360 * (1 + x/10)
			r.SlowdownMean += 1 - 2*x // a sign for each seed
			r.SpreadMean = 4
		}
		if command == "simulate" {
			r.WaitMean *= 1.1
		}
		return key, r
	}
}

func TestPage(t *testing.T) {
	experiments, err := Select([]string{"tsubame-1.FC"})
	require.NoError(t, err)
	r := NewReport(experiments, []uint64{1, 2, 3}, fake(func(_ string, args []string, seed uint64) bool {
		// one seed has no noise
		return strings.Contains(strings.Join(args, " "), "ranges") && seed != 2
	}))
	golden.Equal(t, "page.golden", r.Markdown())
}

func TestVerdicts(t *testing.T) {
	experiments, err := Select([]string{"S-V.1"})
	require.NoError(t, err)
	m := NewReport(experiments, []uint64{1, 2, 3}, fake(nil)).Experiments[0].Methods[2]
	require.True(t, m.Best)
	var verdicts []Verdict
	for i := range m.Against {
		verdicts = append(verdicts, metrics[i].verdict(&m.Against[i]))
	}
	require.Equal(t, []Verdict{Better, Better, BetterNoise, Even, Worse}, verdicts)
	for i, d := range m.Deviation {
		require.InDelta(t, []float64{0, 0.1, 0, 0, 0}[i], d, 1e-12)
	}
}

// Nothing is said of a method that was not run, and what lacks its baseline is not compared.
func TestMissing(t *testing.T) {
	experiments, err := Select([]string{"S-V.1"})
	require.NoError(t, err)
	r := NewReport(experiments, []uint64{1, 2},
		fake(func(_ string, args []string, _ uint64) bool { return strings.HasSuffix(args[0], "backfill") }))
	require.Empty(t, r.Experiments[0].Methods[0].Slurm)
	require.Empty(t, r.Experiments[0].Methods[2].Against)
	require.Contains(t, r.Markdown(), "| backfill | Slurm | not run |")
}

func TestExperiments(t *testing.T) {
	names := make(map[string]bool)
	for _, e := range Experiments() {
		require.False(t, names[e.Name], e.Name)
		names[e.Name] = true
		require.Equal(t, "backfill", e.Methods[0].Scheduler)
		best := 0
		for i := range e.Methods {
			m := &e.Methods[i]
			if m.Best {
				best++
			}
			workloads := 0
			for _, a := range e.ArgsOf("emulate", m) {
				if strings.HasPrefix(a, "--workload=") {
					workloads++
				}
			}
			require.Equal(t, 1, workloads, "%s, %s", e.Name, m.Name)
			require.NotContains(t, strings.Join(e.ArgsOf("simulate", m), " "), "--rate")
		}
		require.NotZero(t, best, e.Name)
	}
	require.Len(t, names, 3+6+6+3)
	_, err := Select([]string{"nonsense"})
	require.EqualError(t, err,
		"no experiment has nonsense in its name; there are esp-basic, esp-multifactor, "+
			"esp-random, S-IV.1, S-IV.2, S-IV.3, "+
			"S-V.1, S-V.2, S-V.3, M-IV.1, M-IV.2, M-IV.3, M-V.1, M-V.2, M-V.3, tsubame-1.NC, tsubame-1.HC, tsubame-1.FC")
	some, err := Select([]string{"esp"})
	require.NoError(t, err)
	KeepBest(some)
	require.Len(t, some[0].Methods, 2+len(settings.Planned()))
	require.Contains(t, some[0].ArgsOf("emulate", &some[0].Methods[2]), "--preset=default")
	for _, e := range some[1:] {
		require.Len(t, e.Methods, 2)
	}
}

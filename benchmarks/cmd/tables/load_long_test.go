// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/emulation/load"
)

func TestLoadLongPage(t *testing.T) {
	f := longFigures{loadFigures: loadFigures{Machine: "Some CPU, 4 logical CPUs, go1, linux/amd64", Slurm: "22.05.8"}}
	f.Rivals, f.Files = load.LongRivals()[:3], "tmpfs"
	f.Options = load.Options{Seed: 3, Warm: 30 * time.Second, Window: 50 * time.Second, Asks: 100, Lists: 20}
	for i, r := range f.Rivals {
		run := &load.LongRun{Figures: inventedLoad(load.Long(), r, i+1)}
		run.Sinfo, run.TimedOut = run.Squeue, i
		for k, way := range []string{"restart", "takeover"} {
			run.Restarts = append(run.Restarts, load.Restart{Rival: r, Way: way, Ended: time.Duration(k) * time.Second,
				Answered: 2 * time.Second, Start: 2345 * time.Millisecond, Before: 100_000, After: 99_990,
				Changes: load.Changes{Again: i, Twice: k}, RSS: 100 << 20})
		}
		f.Runs = append(f.Runs, run)
	}
	text, err := f.page()
	require.NoError(t, err)
	goldenPage(t, "load-long.golden", text)
}

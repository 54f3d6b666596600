// SPDX-License-Identifier: BSD-3-Clause

package day

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/try"
)

// An hour of a real Slurm is kept as a site has it, and try reads all of it.
func TestHour(t *testing.T) {
	if os.Getenv("AUCSCHED_SLURM_TEST") != "1" {
		t.Skip("starts a real Slurm cluster: AUCSCHED_SLURM_TEST=1 to run it")
	}
	version, err := slurmtest.Version()
	if err != nil {
		t.Skip(err)
	}
	tools := filepath.Join("../../../build/emulation", version) // relative, as users give it
	if _, err := os.Stat(filepath.Join(tools, "vslurmd")); err != nil {
		t.Skipf("make emulation has not been run: %v", err)
	}
	tmp, err := os.MkdirTemp("", "aucday") // t.TempDir is too long a name for a cluster
	require.NoError(t, err)
	defer os.RemoveAll(tmp)
	require.NoError(t, os.Chmod(tmp, 0o755)) // Slurm's user is another
	o := Options{Dir: filepath.Join(tmp, "c"), Out: t.TempDir(), Tools: tools, Seed: 3, Hours: 1, Load: 1, Priority: FairShare,
		Rate: 200, Busy: 20, Log: t.Logf}
	err = Run(t.Context(), o)
	var missing *slurmtest.ErrMissing
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
	require.NoError(t, err)
	require.NoDirExists(t, o.Dir)

	tasks := 0
	for _, e := range o.events() {
		if e.submit != nil {
			tasks += e.submit.tasks
		}
	}
	p, err := try.Read(filepath.Join(o.Out, "jobs.txt"), filepath.Join(o.Out, "slurm.conf"), try.Options{Weeks: 1})
	require.NoError(t, err)
	require.Empty(t, p.Skipped)
	jobs := map[string]bool{} // without the runs before one was requeued
	for i := range p.Jobs {
		j := &p.Jobs[i]
		id, _, again := strings.Cut(j.ID, "#")
		jobs[id] = jobs[id] || !again
		require.Contains(t, []string{"physics", "biology"}, j.Past.Account)
		require.GreaterOrEqual(t, j.Past.Began, j.Submit)
	}
	require.InDelta(t, tasks, len(jobs), 2, "an array that is cancelled has one line for all tasks that waited")
	simulated, err := p.Replay(t.Context(), p.Slurm(), try.Setting{Interval: 1, Seed: 1})
	require.NoError(t, err)
	require.Empty(t, simulated.Unrun)
}

// The same seed draws the same day, of about the load that was asked for.
func TestEvents(t *testing.T) {
	o := Options{Seed: 5, Hours: 24, Load: 0.8}
	all := o.events()
	require.Equal(t, all, o.events())
	work, kinds := 0.0, map[string]int{}
	for _, e := range all {
		require.GreaterOrEqual(t, e.at, 0.0)
		if e.submit == nil {
			kinds[e.what]++
			continue
		}
		work += e.submit.work
		for _, a := range e.submit.args {
			if strings.HasPrefix(a, "-p") || strings.HasPrefix(a, "--array") || strings.HasPrefix(a, "--gres") {
				kinds[a[:3]]++
			}
		}
	}
	require.True(t, slices.IsSortedFunc(all, func(a, b event) int { return cmp.Compare(a.at, b.at) }))
	require.InDelta(t, 0.8*24*3600*(cpuNodes*cpuCores+gpuNodes*gpuCores), work, work/10)
	for _, kind := range []string{"cancel", "requeue", "-pl", "-pg", "-pd", "--a", "--g"} {
		require.Positive(t, kinds[kind], kind)
	}
}

// A limit is rarely below the run time, and of those that users ask for.
func TestLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, seconds := range []int64{60, 601, 3600, 86400, 16 * 3600} {
		for range 100 {
			minutes := limit(rng, seconds)
			require.GreaterOrEqual(t, 60*minutes, seconds)
			require.Contains(t, limits, minutes)
		}
	}
}

func TestValidate(t *testing.T) {
	good := Options{Hours: 1, Load: 1, Priority: Basic, Rate: 100, Busy: 1}
	require.NoError(t, good.Validate())
	for want, change := range map[string]func(*Options){
		"0 hours":        func(o *Options) { o.Hours = 0 },
		"169 hours":      func(o *Options) { o.Hours = 169 },
		"load -1":        func(o *Options) { o.Load = -1 },
		`priority "x"`:   func(o *Options) { o.Priority = "x" },
		"rate 0":         func(o *Options) { o.Rate = 0 },
		"busy rate 1000": func(o *Options) { o.Busy = 1000 },
	} {
		o := good
		change(&o)
		require.ErrorContains(t, o.Validate(), want)
		require.ErrorContains(t, Run(t.Context(), o), want)
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package vclock_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/emulation/vclock"
)

// probe is testdata/probe.c, compiled, with the library to put before it.
type probe struct {
	program, library string
}

// newProbe compiles both.
func newProbe(t testing.TB) *probe {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler here: the library was not tested")
	}
	dir := t.TempDir()
	p := &probe{program: filepath.Join(dir, "probe"), library: filepath.Join(dir, "vclock.so")}
	sources, err := filepath.Glob("preload/*.c")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	flags := []string{"-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread"}
	compile := func(args ...string) {
		out, err := exec.Command(cc, append(flags[:len(flags):len(flags)], args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	compile(append([]string{"-fPIC", "-shared", "-fvisibility=hidden", "-o", p.library}, append(sources, "-ldl")...)...)
	compile("-o", p.program, "testdata/probe.c", "-lrt")
	return p
}

// clockAt makes a clock that runs at a rate and may reach most.
func clockAt(t testing.TB, rate, most float64) (*vclock.Clock, string) {
	path := filepath.Join(t.TempDir(), "clock")
	clock, err := vclock.Create(path, time.Unix(1767225600, 0), most)
	require.NoError(t, err)
	t.Cleanup(func() { clock.Close() })
	require.NoError(t, clock.SetRate(rate))
	return clock, path
}

// start runs the probe by the clock of the file; the function waits for it and
// returns what it printed.
func (p *probe) start(t testing.TB, path string, args ...string) func() string {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	cmd := exec.CommandContext(ctx, p.program, args...)
	cmd.Env = append(os.Environ(), vclock.Env(p.library, path)...)
	cmd.WaitDelay = time.Second // a child of its own may hold its output
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Start())
	return func() string {
		defer cancel()
		require.NoError(t, cmd.Wait(), "probe %s: %s%s", strings.Join(args, " "), &out, &errs)
		require.Empty(t, errs.String())
		return out.String()
	}
}

// waited is what the probe prints of a wait: what the call returned, errno if that was
// -1, how long it took by the clock and by the world's, and what the call says is left.
type waited struct {
	Result, Errno       int
	Virtual, Real, Left time.Duration
}

func readWaited(t testing.TB, out string) waited {
	var w waited
	n, err := fmt.Sscan(out, &w.Result, &w.Errno, &w.Virtual, &w.Real, &w.Left)
	require.NoError(t, err, out)
	require.Equal(t, 5, n)
	return w
}

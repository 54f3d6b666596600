// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A cycle lives on libc's clock: with another one preloaded, which runs 100 times as fast, a
// deadline of a minute strikes after 0.6 s, and the cycle's figure is in minutes too.
func TestClockIsThatOfLibc(t *testing.T) {
	dir := library(t)
	program, clock := filepath.Join(dir, "clock"), filepath.Join(dir, "fastclock.so")
	strict := []string{"-std=c11", "-Wall", "-Wextra", "-Werror"}
	compile(t, "cc", linked(dir, append(strict, "ctest/clock.c", "-o", program)...)...)
	compile(t, "cc", append(strict, "-shared", "-fPIC", "ctest/fastclock.c", "-o", clock)...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program)
	c.Env = append(os.Environ(), "LD_PRELOAD="+clock)
	out, err := c.CombinedOutput()
	require.NoError(t, ctx.Err(), "the deadline was held against another clock")
	require.NoError(t, err, "%s", out)
	var deadline, cycle, libc, kernel, late int64
	_, err = fmt.Sscan(string(out), &deadline, &cycle, &libc, &kernel, &late)
	require.NoError(t, err, "%s", out)
	t.Logf("deadline %d us: cycle %d, by libc %d, by the kernel %d, late %d", deadline, cycle, libc, kernel, late)
	require.InEpsilon(t, 100*kernel, libc, 0.2, "the clock is there")
	require.InEpsilon(t, libc, cycle, 0.2)
	require.EqualValues(t, 1, late)
	require.Greater(t, libc, deadline/2)
	require.Less(t, libc, 20*deadline, "a fifth of what it would be by the kernel's, on a busy machine")
}

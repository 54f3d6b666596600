// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/invasive/link"
)

func TestIHypervisorFlags(t *testing.T) {
	race.Slow(t)
	dir := t.TempDir()
	for args, want := range map[string]string{
		"--socket x": `--socket: "x": must be unix:PATH`, "--socket tcp:h:1": "tcp needs --tls-ca", "--tls-ca f": "are for tcp",
		"--socket tcp:h:1 --allow-user 0": "is for Unix sockets",
		"--allow-user no-such-user":       "--allow-user: user: unknown user no-such-user",
		"--urgent kill,shrink":            `--urgent: "shrink": must be some of`, "--silent shrink": `--silent: "shrink": must be leave`,
		"--attempts 0": "--attempts: 0: must be 1 to 1000", "--reply 0s": "--reply: 0s: must be",
		"--min-use 2":     "--min-use: 2: must be 0 to 1",
		"--power-cap NaN": "--power-cap: NaN", "--user no-such-user": "--user: user: unknown user", "--sockets 2": "need --cores",
		"--cores 100000":                   "several would be one, which has to be asked for",
		"--cores 17000000 --oversubscribe": "must be 1 to 16777216 cores in all",
		"--slurm inv --user root":          "--user: with --slurm jobs run as the users",
		"--slurm inv --output /x":          "--output: with --slurm jobs write where",
		"--agents -1":                      "--agents: -1: must be 0 to 65536",
		"--lost-after 1m":                  "--lost-after: needs --agents",
		"--invitation x":                   "--invitation: needs --agents",
		"--agents 2 --user root":           "--user: not with --agents",
		"--agents 2 --slurm inv":           "--slurm: not with --agents",
		"--agents 2 --cores 4":             "--cores: not with --agents",
		"--agents 2 --lost-after 1ms":      "--lost-after: 1ms: must be 1s to",
		"--agents 2 --agents-listen host":  "--agents-listen: address host: missing port",
		"--agents 2 --urgent suspend":      "jobs of --agents can't be suspended",
		"--agents 2 --silent suspend":      "jobs of --agents can't be suspended",
	} {
		given := strings.Contains(args, "--user") || strings.Contains(args, "--slurm") || strings.Contains(args, "--agents")
		if os.Geteuid() == 0 && !given {
			args += " --user root"
		}
		var out, errs bytes.Buffer
		code := run(context.Background(), append([]string{"ihypervisor", "--state", dir}, strings.Fields(args)...), nil, &out, &errs)
		require.Equal(t, cli.ExitUsage, code, "%s: %s", args, errs.String())
		require.Contains(t, errs.String(), want, args)
	}
}

// It listens, says so, and ends in order.
func TestIHypervisorRuns(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "run", "socket")
	args := []string{"ihypervisor", "--socket", "unix:" + socket, "--state",
		filepath.Join(dir, "state"), "--cores", "50", "--sockets", "2", "--oversubscribe"}
	if os.Geteuid() == 0 {
		args = append(args, "--user", "root")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out, errs bytes.Buffer
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, nil, &out, &errs) }()
	e := link.Endpoint{Network: "unix", Address: socket, Users: []uint32{uint32(os.Geteuid())}}
	require.Eventually(t, func() bool {
		c, err := e.Dial(context.Background())
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 30*time.Second, 5*time.Millisecond)
	cancel()
	require.Equal(t, cli.ExitDone, <-done, errs.String())
	require.Contains(t, out.String(), `partition "invasic" of 1 nodes of 2 sockets of 50 cores`)
	require.Contains(t, out.String(), "cores of the partition are one core of this host, and their jobs share it")
}

// A task that has no iHypervisor, or one that is down, begins.
func TestTaskProlog(t *testing.T) {
	for _, socket := range []string{"", filepath.Join(t.TempDir(), "none")} {
		t.Setenv("AUCSCHED_INVASIVE", socket)
		var out, errs bytes.Buffer
		require.Zero(t, run(context.Background(), []string{"task-prolog"}, nil, &out, &errs), errs.String())
		require.Empty(t, out.String())
	}
}

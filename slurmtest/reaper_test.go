package slurmtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary pose as a program that uses the package and ends badly.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SLURMTEST_VICTIM"); dir != "" {
		victim(dir)
	}
	code := m.Run()
	if copiedPlugins != "" {
		os.RemoveAll(copiedPlugins)
	}
	os.Exit(code)
}

// victim starts a cluster and a job that nobody would miss, says so, and waits; a
// line on its input makes it panic.
func victim(dir string) {
	c, err := Start(context.Background(), dir, Config{Groups: Uniform(2, 4, 0)})
	if err == nil {
		var id uint32
		id, err = c.Sbatch(context.Background(), []string{"-N2"}, "#!/bin/sh\nsetsid env -i sleep 1000 & srun sleep 1000\n")
		if err == nil {
			_, err = c.WaitFor(context.Background(), id, 20*time.Second, "RUNNING")
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("up")
	bufio.NewReader(os.Stdin).ReadString('\n')
	panic("asked to")
}

// Whatever ends the process that started a cluster, nothing of the cluster is left.
func TestNothingIsLeft(t *testing.T) {
	bed(t)
	for _, c := range []struct {
		name string
		end  func(p *os.Process, in *bufio.Writer)
	}{
		{"killed", func(p *os.Process, _ *bufio.Writer) { p.Signal(syscall.SIGKILL) }},
		{"interrupted", func(p *os.Process, _ *bufio.Writer) { p.Signal(os.Interrupt) }},
		{"panics", func(_ *os.Process, in *bufio.Writer) { in.WriteString("\n"); in.Flush() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "slurmtest")
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "SLURMTEST_VICTIM="+dir)
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line, _ := bufio.NewReader(stdout).ReadString('\n')
			require.Equal(t, "up\n", line)
			require.Eventually(t, func() bool { return len(processesOf(dir)) >= 8 }, 10*time.Second, 50*time.Millisecond,
				"munged, slurmctld, slurmscriptd, 2 slurmd, slurmstepd, the job, its sleep: %v", processesOf(dir))
			c.end(cmd.Process, bufio.NewWriter(stdin))
			require.Error(t, cmd.Wait())
			require.Eventually(t, func() bool { return len(processesOf(dir)) == 0 }, 10*time.Second, 50*time.Millisecond,
				"left: %v", processesOf(dir))
		})
	}
}

// processesOf are the processes that have something to do with the directory, found
// in another way than the reaper does: an open file, the command line, or the
// working directory.
func processesOf(dir string) []string {
	var found []string
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		if p == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		text, _ := os.ReadFile(p + "/cmdline")
		links, _ := filepath.Glob(p + "/fd/*")
		for _, l := range append(links, p+"/cwd") {
			if to, err := os.Readlink(l); err == nil {
				text = append(text, " "+to...)
			}
		}
		if strings.Contains(string(text), dir) {
			found = append(found, fmt.Sprintf("%s %.200s", p, strings.ReplaceAll(string(text), "\x00", " ")))
		}
	}
	return found
}

// A cluster that can't be brought up says why, and leaves nothing.
func TestStartFails(t *testing.T) {
	bed(t)
	dir, err := os.MkdirTemp("", "slurmtest")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	_, err = Start(t.Context(), dir, Config{Groups: Uniform(2, 4, 0), ExtraLines: []string{"NoSuchOption=1"}})
	require.ErrorContains(t, err, "NoSuchOption", "the log's end")
	require.Empty(t, processesOf(dir))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Start(ctx, dir, Config{Groups: Uniform(2, 4, 0)})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, processesOf(dir))
}

// What a cluster is told to do, it does: parameters, restarts, drained nodes.
func TestControl(t *testing.T) {
	beside(t)
	c := cluster(t, stock, Config{Groups: Uniform(4, 4, 1), Daemonize: true})
	ctx := t.Context()
	pid := c.ControllerPid()
	require.NotZero(t, pid)
	id := submit(t, c, "sleep 30", "-n2")
	running(t, c, 10*time.Second, id)

	require.NoError(t, c.SetParameters(ctx, quickStock+",bf_max_job_test=77"))
	out, err := c.Scontrol(ctx, "show", "config")
	require.NoError(t, err)
	require.Contains(t, out, "bf_max_job_test=77")
	require.NoError(t, c.HUP())

	require.NoError(t, c.DrainNode(ctx, "n0004"))
	states, err := c.nodeStates(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, states["drained"])
	require.NoError(t, c.ResumeNode(ctx, "n0004"))

	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if sig == syscall.SIGKILL {
			time.Sleep(saveLag / 2) // let it save that the job runs
		}
		require.NoError(t, c.KillController(ctx, sig))
		require.Zero(t, c.ControllerPid())
		require.Error(t, c.KillController(ctx, sig), "there is none")
		require.NoError(t, c.StartController(ctx))
		require.NotEqual(t, pid, c.ControllerPid())
		require.Error(t, c.StartController(ctx), "it runs")
		j, err := c.WaitFor(ctx, id, 10*time.Second, "RUNNING")
		require.NoError(t, err)
		require.Zero(t, j.Restarts)
	}
	var e *CommandError
	_, err = c.Scontrol(ctx, "show", "job", "999")
	require.True(t, errors.As(err, &e))
	require.Contains(t, Stderr(err), "Invalid job id")
}

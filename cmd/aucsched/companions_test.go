// SPDX-License-Identifier: BSD-3-Clause

//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
)

// installed is a directory that has aucsched alone: a copy of this test.
func installed(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(self)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "aucsched"), text, 0o755))
	return dir
}

// script makes a program that says who it is.
func script(t *testing.T, dir, name, does string) {
	t.Helper()
	text := "#!/bin/sh\necho " + filepath.Base(dir) + " \"$@\"\n" + does + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
}

func execute(t *testing.T, program, path string, args ...string) (c *exec.Cmd, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	c = exec.Command(program, args...)
	c.Env = append(os.Environ(), "AUCSCHED_TEST_COMMAND=1", "PATH="+path)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader("input"), &o, &e
	_ = c.Run()
	return c, o.String(), e.String()
}

// A companion beside aucsched has the command before one in PATH; without either, words say
// what is missing.
func TestCompanionIsFound(t *testing.T) {
	dir, path := installed(t), t.TempDir()
	program := filepath.Join(dir, "aucsched")
	c, out, errs := execute(t, program, path, "reproduce", "ipsched-5")
	require.Equal(t, cli.ExitUsage, c.ProcessState.ExitCode())
	require.Empty(t, out)
	require.Regexp(t, `^aucsched: reproduce: aucsched-lab does this, and is neither in .* nor in PATH: make builds it`, errs)

	script(t, path, "aucsched-lab", "")
	_, out, _ = execute(t, program, path, "reproduce", "ipsched-5")
	require.Equal(t, filepath.Base(path)+" reproduce ipsched-5\n", out)

	link := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.Symlink(program, link))
	script(t, dir, "aucsched-lab", "")
	_, out, _ = execute(t, link, path, "reproduce", "ipsched-5")
	require.Equal(t, filepath.Base(dir)+" reproduce ipsched-5\n", out, "beside it, links resolved")
}

// All arguments are handed on as they are, and the companion has the streams and the exit.
func TestCompanionBecomes(t *testing.T) {
	dir := installed(t)
	program, path := filepath.Join(dir, "aucsched"), "/usr/bin:/bin"
	for _, name := range []string{"aucsched-lab", "aucsched-invasive"} {
		script(t, dir, name, "echo "+name+" >&2; cat; exit 7")
	}
	for command, name := range map[string]string{
		"reproduce --seeds 1-2 --help": "aucsched-lab", "-v emulate experiments": "aucsched-lab", "help reproduce": "aucsched-lab",
		"__complete reproduce --se": "aucsched-lab", "solve k.mps --gap=0.1": "aucsched-lab",
		"plan - --mps w.mps --json": "aucsched-lab", "-v plan --mps= w.json": "aucsched-lab",
		"plan w.json --solver highs":   "aucsched-lab",
		"plan w.json --policy=ipsched": "aucsched-lab", "explain - a --policy auction1": "aucsched-lab",
		"simulate --policy backfill": "aucsched-lab", "demo --part a,b": "aucsched-lab", "help demo": "aucsched-lab", "help simulate": "aucsched-lab", "simulate-invasive": "aucsched-lab",
		"ischeduler submit -- sh": "aucsched-invasive", "demo invasive --pause 0s": "aucsched-invasive",
		"task-prolog": "aucsched-invasive", "ihypervisor --frob": "aucsched-invasive",
		"ihypervisor-supervisor DIR": "aucsched-invasive", "crew bag FILE": "aucsched-invasive",
	} {
		c, out, errs := execute(t, program, path, strings.Fields(command)...)
		require.Equal(t, 7, c.ProcessState.ExitCode(), command)
		require.Equal(t, filepath.Base(dir)+" "+command+"\ninput", out)
		require.Equal(t, name+"\n", errs)
	}
	for _, own := range []string{"plan --help --mps", "help plan", "plan --mps", "__complete plan --mps w.mps --poli",
		"plan --policy=ipsched --frob", "plan w.json --json=maybe --mps w.mps", "plan --preset ipsched", "plan w.json --solver auto"} {
		_, out, _ := execute(t, program, path, strings.Fields(own)...)
		require.NotContains(t, out, filepath.Base(dir), "%s: is answered here", own)
	}
	script(t, dir, "aucsched-lab", "kill -TERM $$")
	c, _, _ := execute(t, program, path, "reproduce")
	require.Equal(t, syscall.SIGTERM, c.ProcessState.Sys().(syscall.WaitStatus).Signal(), "aucsched is that process")
}

// What help says of the companions' commands.
func TestHelpNamesCompanions(t *testing.T) {
	code, out, errs := aucsched(t, "", "--help")
	require.Zero(t, code, errs)
	require.Regexp(t, `(?s)Commands of aucsched-lab, the laboratory:\n +demo .*\n +emulate .*\n +reproduce .*\n +simulate .*\n +simulate-invasive .*\n +solve .*\n\n`, out)
	require.Regexp(t,
		`(?s)Commands of aucsched-invasive, the invasive resource manager:\n +agent .*\n +crew .*\n +ihypervisor .*\n +ischeduler `, out)
	require.NotContains(t, out, "supervisor ")
}

// Ctrl-C ends a command that waits for its input.
func TestSignalWhileReading(t *testing.T) {
	c := exec.Command(filepath.Join(installed(t), "aucsched"), "plan", "-")
	c.Env = append(os.Environ(), "AUCSCHED_TEST_COMMAND=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	in, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, err = in.Write(bytes.Repeat([]byte(" "), 1<<20)) // more than a pipe holds: it is being read
	require.NoError(t, err)
	require.NoError(t, c.Process.Signal(syscall.SIGINT))
	require.Error(t, c.Wait())
	require.Equal(t, 130, c.ProcessState.ExitCode())
	require.Equal(t, "aucsched: interrupted\n", errs.String())
	require.Empty(t, out.String())
}

// What can't be written is an error of help too.
func TestHelpOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full: " + err.Error())
	}
	defer full.Close()
	for _, args := range [][]string{{"--help"}, {}, {"help", "plan"}, {"plan", "-h"}, {"version"}, {"--version"},
		{"completion", "bash"},
		{"completion"}, {"schema", "window"}, {"slurm"}, {"plan", "../../examples/table1.json"}} {
		var errs bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(""), full, &errs)
		require.Equal(t, cli.ExitFailed, code, "%v", args)
		require.Contains(t, errs.String(), "no space left on device", "%v", args)
	}
}

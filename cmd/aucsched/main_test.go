// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/clitest"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/version"
	"github.com/aucsched/aucsched/internal/window"
)

// aucsched runs the command as a user would.
func aucsched(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

func TestMain(m *testing.M) {
	if os.Getenv("AUCSCHED_TEST_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestPlanPrintsTheContract(t *testing.T) {
	code, out, errs := aucsched(t, "", "plan", "../../examples/table1.json", "--json")
	require.Zero(t, code, errs)
	var o window.Outcome
	require.NoError(t, json.Unmarshal([]byte(out), &o))
	require.Equal(t, 3, o.Started)
	require.Equal(t, "n[1-512]", o.Decisions[1].Nodes)
	require.Equal(t, 2, o.Decisions[1].GPUsPerNode)
	require.Len(t, o.Decisions[0].CoresPerNode, 1024)
	require.LessOrEqual(t, o.Objective, o.Bound)
	for _, key := range []string{`"objective":`, `"bound":`, `"cycle_ms":`, `"bid_class":"A"`, `"reason":""`} {
		require.Contains(t, out, key)
	}
}

func TestWrongUsageAndInput(t *testing.T) {
	race.Slow(t)
	dir := t.TempDir()
	for want, args := range map[string][]string{
		`unknown command "frob"`: {"frob"},
		"unknown flag: --frob":   {"plan", "--frob"},
		"plan: WINDOW.json is missing; for example: aucsched plan ": {"plan"},
		"no such file": {"plan", filepath.Join(dir, "absent")},
		"aucsched: " + dir + ": is a directory: name a file\n": {"plan", dir},
		"standard input:1":           {"plan", "-"},
		`--policy: "odd" is unknown`: {"plan", "../../examples/table1.json", "--policy", "odd"},
		"--reservations 65: must be": {"plan", "../../examples/table1.json", "--reservations", "65"},
		`--solver: "odd" is unknown`: {"plan", "../../examples/table1.json", "--solver", "odd"},
		`--objective odd: must be`:   {"plan", "../../examples/table1.json", "--objective", "odd"},
		"--deadline: -1s":            {"plan", "../../examples/table1.json", "--deadline", "-1s"},
	} {
		code, out, errs := aucsched(t, "", args...)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", args, errs)
		require.Contains(t, errs, want)
		require.Equal(t, 1, strings.Count(errs, "\n"), "one line: %s", errs)
		require.Empty(t, out)
	}
}

func TestVersion(t *testing.T) {
	code, out, errs := aucsched(t, "", "--version")
	require.Zero(t, code, errs)
	require.Regexp(t, "^aucsched version "+regexp.QuoteMeta(version.Number)+`( \(commit [0-9a-f]+.*\))?\n$`, out)
}

// Under --objective size, one large job is worth more than two small ones of higher priority.
func TestObjectiveFlag(t *testing.T) {
	race.Slow(t)
	w := `{"nodes":[{"name":"n1","cores":8}],"jobs":[
		{"id":"a","priority":11,"cores":1,"time_limit_s":9},{"id":"b","priority":10,"cores":1,"time_limit_s":8},{"id":"c","priority":9,"cores":8,"time_limit_s":9}]}`
	for objective, want := range map[string]string{"priority": "a\\s+now|b\\s+now", "size": "c\\s+now"} {
		for _, paper := range []bool{false, true} {
			args := []string{"plan", "-", "--reservations", "0", "--objective", objective}
			if paper {
				args = append(args, "--preset", "paper")
			}
			code, out, errs := aucsched(t, w, args...)
			require.Zero(t, code, errs)
			require.Regexp(t, "(?m)^("+want+")", out)
			require.Equal(t, strings.Count(want, "now"), strings.Count(out, "now"), out)
		}
	}
}

// Mistyped words are answered with what they may have been.
func TestDidYouMean(t *testing.T) {
	race.Slow(t)
	plan := []string{"plan", "../../examples/table1.json"}
	for want, args := range map[string][]string{
		`unknown command "reprodcue" for "aucsched"; did you mean "reproduce"?`: {"reprodcue"},
		`--policy: "auctoin2" is unknown; known are auction1, auction2, backfill, easy, easy-sjf, easy-saf, ` +
			`easy-f1, easy-wfp3, ipsched, plan; did you mean "auction2"?`: {
			"plan", "../../examples/table1.json", "--policy", "auctoin2"},
		`--objective priorty: must be priority, size or rate; did you mean "priority"?`:       append(plan, "--objective", "priorty"),
		`--solver: "nativ" is unknown; known are native, highs, auto; did you mean "native"?`: append(plan, "--solver", "nativ"),
		`--policy: "default" is a preset of auction2: use --preset default`:                   append(plan, "--policy", "default"),
		`there is no job "wdie"; did you mean "wide"?`:                                        {"explain", "../../examples/blocked.json", "wdie"},
	} {
		code, out, errs := aucsched(t, "", args...)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", args, errs)
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
}

// A flag at which the policy does not look is taken, and said to do nothing.
func TestFlagThatDoesNothing(t *testing.T) {
	plan := func(args ...string) (out, errs string) {
		code, out, errs := aucsched(t, "", append([]string{"plan", "../../examples/table1.json"}, args...)...)
		require.Zero(t, code, errs)
		return out, errs
	}
	_, errs := plan("--explain-trials", "3")
	require.Contains(t, errs, "aucsched: warning: --explain-trials does nothing without --explain\n")
	_, errs = plan("--policy", "auction2", "--objective", "size", "--depth", "2", "--seed", "4", "--explain", "--explain-trials", "0")
	require.Empty(t, errs)
}

// Flags that only this version has decide as what has their place, and say so in a line.
func TestOlderFlags(t *testing.T) {
	plan := func(args ...string) (out, errs string) {
		code, out, errs := aucsched(t, "", append([]string{"plan", "../../examples/blocked.json", "--json"}, args...)...)
		require.Zero(t, code, errs)
		return regexp.MustCompile(`"cycle_ms":[^,]*`).ReplaceAllString(out, ""), errs
	}
	for older, now := range map[string]string{"--paper": "paper", "--throughput": "packed", "--paper=false": "default"} {
		want, errs := plan("--preset", now)
		require.Empty(t, errs)
		out, errs := plan(older)
		require.Equal(t, want, out)
		name, _, _ := strings.Cut(older, "=")
		require.Regexp(t, "^aucsched: warning: "+name+" is deprecated, and the next version does not have it: "+
			"use --preset (paper|packed)\n$", errs)
	}
	for _, flag := range []string{"--bids=15", "--drafts=7", "--work=4000000", "--contiguous-bids=false"} {
		want, _ := plan()
		out, errs := plan(flag)
		require.Equal(t, want, out)
		name, _, _ := strings.Cut(flag, "=")
		require.Equal(t, "aucsched: warning: "+name+" is deprecated, and the next version does not have it: presets say it\n", errs)
	}
}

// Help lists each flag once; where there are many, under the subject that it belongs to.
func TestHelpBySubject(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.Annotations["program"] != "" {
			continue
		}
		code, out, errs := aucsched(t, "", c.Name(), "--help")
		require.Zero(t, code, errs)
		titles := regexp.MustCompile(`(?m)^(\S.*):\n +(?:-\w, )?--`).FindAllStringSubmatch(out, -1)
		flags := 0
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			flags++
			require.Len(t, regexp.MustCompile(`(?m)^(  -\w, | {6})--`+f.Name+`( |$)`).FindAllString(out, -1), 1, "%s --%s",
				c.Name(), f.Name)
		})
		require.Equal(t, flags > 12, len(titles) > 2, "%s has %d flags: %v", c.Name(), flags, titles)
	}
}

func TestMistakes(t *testing.T) { clitest.Mistakes(t, newRoot) }

// After Ctrl-C a command says so in a word, ends with 130, and leaves nothing half-written.
func TestInterrupted(t *testing.T) {
	race.Slow(t)
	dir := t.TempDir()
	before, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, args := range [][]string{
		{"plan", "../../examples/table1.json"},
		{"plan", "-"},
		{"explain", "../../examples/blocked.json", "wide"},
		{"explain", "-", "wide"},
	} {
		var out, errs bytes.Buffer
		nothing, _, err := os.Pipe() // on which nothing comes
		require.NoError(t, err)
		code := run(clitest.Interrupted(), args, nothing, &out, &errs)
		require.NoError(t, nothing.Close())
		require.Equal(t, 130, code, "%v: %s", args, errs.String())
		require.Regexp(t, `^(aucsched: warning: .*\n)*aucsched: interrupted\n$`, errs.String(), "%v", args)
		require.Empty(t, out.String(), "%v", args)
		after, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Equal(t, len(before), len(after), "%v: %v", args, after)
	}
}

// A word that is no command is an error wherever it stands.
func TestUnknownWords(t *testing.T) {
	for args, want := range map[string]string{
		"help simulte":       `unknown command "simulte" for "aucsched"; did you mean "simulate"?`,
		"help plan x":        `unknown command "x" for "aucsched plan"`,
		"completion tcsh":    `unknown command "tcsh" for "aucsched completion"`,
		"completion bahs":    `unknown command "bahs" for "aucsched completion"; did you mean "bash"?`,
		"completion bash x":  `bash takes no arguments: "x" is one`,
		"simulte":            `unknown command "simulte" for "aucsched"; did you mean "simulate"?`,
		"help completion tc": `unknown command "tc" for "aucsched completion"`,
	} {
		code, out, errs := aucsched(t, "", strings.Fields(args)...)
		require.Equal(t, cli.ExitUsage, code, args)
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
	_, flag, _ := aucsched(t, "", "--version")
	code, word, _ := aucsched(t, "", "version")
	require.Zero(t, code)
	require.Equal(t, flag, word)
}

// Help is as wide as the terminal, or 80 columns; what is to be copied stays whole.
func TestHelpIsWrapped(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Annotations["program"] == "" && !c.Hidden {
			code, out, errs := aucsched(t, "", append(strings.Fields(c.CommandPath())[1:], "--help")...)
			require.Zero(t, code, errs)
			for line := range strings.Lines(out) {
				if !strings.HasPrefix(line, "  aucsched ") {
					require.LessOrEqual(t, utf8.RuneCountInString(line), 81, "%s: %s", c.CommandPath(), line)
				}
			}
			require.True(t, c.Example != "" || c.HasSubCommands() || !c.Runnable(), "%s has no example", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
}

// The table says how many cores a job gets on each node, so that it shows why jobs fit together.
func TestPlanTableHasCores(t *testing.T) {
	for args, want := range map[string]string{
		"../../examples/table1.json": `CORES/NODE +GPUS/NODE +NODES OR REASON\nJ1 +now +4 +0 +n\[1-1024\]\nJ2 +now +4 +2 +n\[1-512\]\n`,
		"-":                          `a +now +2-4 +0 +n\[1-2\]\nb +now +1 : 2 +0 : 1 +n3 : n4\n`,
	} {
		code, out, errs := aucsched(t, `{"nodes":[{"name":"n1","cores":4},{"name":"n2","cores":2},{"name":"n3","cores":1},
			{"name":"n4","cores":2,"gpus":1}],"jobs":[{"id":"a","priority":9,"nodes":2,"cores":6,"time_limit_s":9},
			{"id":"b","priority":8,"nodes":1,"cores":1,"time_limit_s":9,
			"components":[{"nodes":1,"cores":2,"gpus_per_node":1}]}]}`, "plan", args)
		require.Zero(t, code, errs)
		require.Regexp(t, want, out)
	}
}

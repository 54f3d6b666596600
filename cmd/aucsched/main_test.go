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
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/clitest"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/version"
	"github.com/aucsched/aucsched/internal/window"
)

// aucsched runs the command as a user would; HiGHS's worker is this test binary.
func aucsched(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "solver-worker" || os.Getenv("AUCSCHED_TEST_COMMAND") != "" {
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
	code, out, _ = aucsched(t, "", "plan", "../../examples/table1.json", "--policy", "backfill")
	require.Zero(t, code)
	require.Contains(t, out, "2 of 3 jobs start")
}

func TestSimulatePrintsTheContract(t *testing.T) {
	race.Slow(t)
	args := []string{"simulate", "--cluster", "1408x12x3", "--workload", "gen:tsubame-1.NC", "--work", "100000", "--json"}
	code, out, errs := aucsched(t, "", args...)
	require.Zero(t, code, errs)
	var r sim.Result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, []any{"auction2", 350}, []any{r.Policy, r.Jobs})
	require.InDelta(t, r.TheoreticalRuntime/float64(r.Runtime), r.CPUUtilization, 1e-9)
	_, again, _ := aucsched(t, "", args...)
	timing := func(s string) string { return s[:strings.Index(s, `"cycle_ms`)] }
	require.Equal(t, timing(out), timing(again), "same seed, same schedule")
}

// The other workloads are for the machine given, and a size counts for more than an
// age under --priority multifactor.
func TestSimulateGenerated(t *testing.T) {
	race.Slow(t)
	simulate := func(args ...string) (r sim.Result) {
		code, out, errs := aucsched(t, "",
			append([]string{"simulate", "--policy", "backfill", "--json", "--cluster",
				"32x8x2", "--workload"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		return r
	}
	basic := simulate("gen:esp")
	require.Equal(t, 458, basic.Jobs)
	require.InEpsilon(t, 21822, basic.TheoreticalRuntime, 0.005)
	require.Equal(t, basic.WaitMean, simulate("gen:esp", "--priority", "basic").WaitMean)
	require.Greater(t, simulate("gen:esp", "--priority", "multifactor").WaitMean,
		1.2*basic.WaitMean, "many small jobs wait for few large ones")
	require.InEpsilon(t, 4.02*3600, simulate("gen:V.1").TheoreticalRuntime, 0.1)
}

func TestWrongUsageAndInput(t *testing.T) {
	race.Slow(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for want, args := range map[string][]string{
		`unknown command "frob"`: {"frob"},
		"unknown flag: --frob":   {"plan", "--frob"},
		"plan: WINDOW.json is missing; for example: aucsched plan ": {"plan"},
		"no such file":               {"plan", filepath.Join(dir, "absent")},
		"standard input:1":           {"plan", "-"},
		`--policy: "odd" is unknown`: {"plan", "../../examples/table1.json", "--policy", "odd"},
		"--slurm-bids: policy backfill": {"simulate", "--cluster", "9x8", "--workload",
			"gen:tsubame-1.NC", "--policy", "backfill", "--slurm-bids"},
		"--reservations 65: must be":    {"plan", "../../examples/table1.json", "--reservations", "65"},
		`--solver: "odd" is unknown`:    {"plan", "../../examples/table1.json", "--solver", "odd"},
		`--objective odd: must be`:      {"plan", "../../examples/table1.json", "--objective", "odd"},
		"--deadline: -1s":               {"plan", "../../examples/table1.json", "--deadline", "-1s"},
		"--cluster and --workload":      {"simulate"},
		"--cluster: ":                   {"simulate", "--cluster", "0x8", "--workload", "gen:tsubame-1.NC"},
		"no such generator":             {"simulate", "--cluster", "9x8", "--workload", "gen:odd"},
		"jobs of type A with GPUs need": {"simulate", "--cluster", "9x8", "--workload", "gen:esp"},
		`--priority: "odd" is unknown`:  {"simulate", "--cluster", "9x8x2", "--workload", "gen:esp", "--priority", "odd"},
		"--interval: 0":                 {"simulate", "--cluster", "9x8", "--workload", "gen:tsubame-1.NC", "--interval", "0"},
		"--backfill-test: goes with": {"simulate", "--cluster", "9x8", "--workload",
			"gen:tsubame-1.NC", "--backfill-test", "3ms", "--policy", "backfill"},
		"--backfill-test: -1s: must be": {"simulate", "--cluster", "9x8", "--workload",
			"gen:tsubame-1.NC", "--slurmctld", "--backfill-test", "-1s", "--policy", "backfill"},
		"e.swf: no job":                  {"simulate", "--cluster", "9x8", "--workload", file("e.swf", "; nothing\n")},
		"--part: \"x\" is not a, b or c": {"demo", "--part", "x"},
		"--seeds: 0":                     {"demo", "--seeds", "0"},
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

func TestDemoPictures(t *testing.T) {
	code, out, errs := aucsched(t, "", "demo", "--part", "a,b")
	require.Zero(t, code, errs)
	want, err := os.ReadFile("testdata/demo.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), out)
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

// TestSimulateGPUTraces: small GPU traces and the list of nodes are replayed, jobs at the
// rate asked for.
func TestSimulateGPUTraces(t *testing.T) {
	race.Slow(t)
	const data = "../../internal/workload/testdata/"
	result := func(args ...string) (r sim.Result) {
		code, out, errs := aucsched(t, "", append([]string{"simulate", "--policy", "backfill", "--interval", "1", "--json"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		require.NotNil(t, r.GPUQueue)
		return r
	}
	pods := []string{"--cluster", data + "cluster/alibaba.csv", "--workload", data + "gpu/pods.csv"}
	r := result(pods...)
	// pod-a has 12 cores of the only node where pod-c, which comes at 500, fits.
	require.Equal(t, []any{5, int64(400 + 1180 + 1), int64(1180 + 400 - 500)}, []any{r.Jobs, r.Runtime, r.GPUQueue.Seconds})
	require.Equal(t, int64(200+1180+1), result(append(pods, "--rate", "2")...).Runtime)
	require.Equal(t, r.Runtime+2, result(append(pods, "--slurmctld")...).Runtime, "the node is free 2 s later")
	philly := result("--cluster", "8x4x4", "--workload", data+"gpu/philly.csv")
	require.Equal(t, 4, philly.Jobs)
	require.Equal(t, (66+2952*8+10*12+1*20)/32.0, philly.TheoreticalRuntime, "17 GPUs are 5 nodes of 4, as the machine's are")

	code, _, errs := aucsched(t, "", append(append([]string{"simulate"}, pods...), "--rate", "0")...)
	require.Equal(t, 2, code)
	require.Contains(t, errs, "--rate: 0: must be in 1e-06..1e+06")
}

// Mistyped words are answered with what they may have been.
func TestDidYouMean(t *testing.T) {
	race.Slow(t)
	simulate := []string{"simulate", "--cluster", "9x8x2", "--workload", "gen:esp"}
	for want, args := range map[string][]string{
		`unknown command "reprodcue" for "aucsched"; did you mean "reproduce"?`: {"reprodcue"},
		`--policy: "auctoin2" is unknown; known are auction1, auction2, backfill, easy, easy-sjf, easy-saf, ` +
			`easy-f1, easy-wfp3, ipsched, plan; did you mean "auction2"?`: {
			"plan", "../../examples/table1.json", "--policy", "auctoin2"},
		`--policy: "lea-fb" is unknown; known are auction1, auction2, backfill, easy, easy-sjf, easy-saf, ` +
			`easy-f1, easy-wfp3, ipsched, plan, fcfs, fcfs-bf, eft, eft-bf, lea, lea-bf, leo, leo-bf, lem, lem-bf, ` +
			`lead, lead-bf, random, dotprod, gpuclustering, gpupacking, bestfit, fgd, foresight; did you mean "lea-bf"?`: append(
			simulate, "--policy", "lea-fb"),
		`--policy: "" is unknown; known are auction1, auction2, backfill, easy, easy-sjf, `:   append(simulate, "--policy", ""),
		`--objective priorty: must be priority, size or rate; did you mean "priority"?`:       append(simulate, "--objective", "priorty"),
		`--solver: "nativ" is unknown; known are native, highs, auto; did you mean "native"?`: append(simulate, "--solver", "nativ"),
		`--priority: "mulitfactor" is unknown; known are basic, multifactor; did you mean ` +
			`"multifactor"?`: append(simulate, "--priority", "mulitfactor"),
		`did you mean "gen:esp-rand"?`:                 {"simulate", "--cluster", "9x8x2", "--workload", "gen:esp-ran"},
		`there is no job "wdie"; did you mean "wide"?`: {"explain", "../../examples/blocked.json", "wdie"},
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
	_, errs := plan("--policy", "backfill", "--objective", "size")
	require.Contains(t, errs,
		"aucsched: warning: --objective does nothing with --policy backfill; it is for auction1, auction2, ipsched\n")
	_, errs = plan("--explain-trials", "3")
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
	for older, now := range map[string]string{"--paper": "paper", "--throughput": "packed", "--paper=false": "none"} {
		want, errs := plan("--preset", now)
		require.Empty(t, errs)
		out, errs := plan(older)
		require.Equal(t, want, out)
		name, _, _ := strings.Cut(older, "=")
		require.Regexp(t, "^aucsched: warning: "+name+" is deprecated, and the next version does not have it: "+
			"use --preset (paper|packed)\n$", errs)
	}
	for _, flag := range []string{"--bids=15", "--drafts=7", "--work=10000000", "--contiguous-bids=false"} {
		want, _ := plan()
		out, errs := plan(flag)
		require.Equal(t, want, out)
		name, _, _ := strings.Cut(flag, "=")
		require.Equal(t, "aucsched: warning: "+name+" is deprecated, and the next version does not have it: presets say it\n", errs)
	}
}

func TestDryRunSaysWhatItChecked(t *testing.T) {
	args := []string{"simulate", "--cluster", "20x8x2,4x4", "--workload", "gen:V.1",
		"--policy", "backfill,auction2", "--first", "7", "--dry-run"}
	code, out, errs := aucsched(t, "", args...)
	require.Zero(t, code, errs)
	require.Equal(t, "the input is valid: 7 jobs of gen:V.1, its first 7 jobs, 24 nodes with 176 "+
		"cores and 40 GPUs, under backfill, auction2; nothing was run\n", out)
	code, out, errs = aucsched(t, "", append(args, "--json")...)
	require.Zero(t, code, errs)
	require.JSONEq(t, `{"policies":["backfill","auction2"],"nodes":24,"cores":176,"gpus":40,`+
		`"workload":"gen:V.1, its first 7 jobs","jobs":7}`, out)
}

// Figures of no job at all are printed, and are a failure.
func TestNoJobRan(t *testing.T) {
	code, out, errs := aucsched(t, "", "simulate", "--cluster", "1x1", "--workload",
		"../../internal/workload/testdata/gpu/pods.csv", "--policy", "backfill")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, out, "jobs run                     0\n")
	require.Regexp(t, `\naucsched: policy backfill: not one of \d+ jobs ran: the first, .+: .+\n$`, errs)
}

// Help lists each flag once; where there are many, under the subject that it belongs to.
func TestHelpBySubject(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.Annotations["program"] != "" || c.Name() == "solver-worker" {
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
	_, out, _ := aucsched(t, "", "simulate", "--help")
	require.Regexp(t,
		`(?s)\nMachine and workload:\n.*--cluster.*\nSimulation:\n.*--seed.*`+
			`\nPolicy:\n.*--policy.*\nAuctions \(auction1, auction2\):\n.*--preset`+
			`.*\nInput files and data locality:\n.*--mode.*\nOutput:\n.*--json.*\nOther flags:\n  `+
			`-h, --help +help for simulate\n\nGlobal Flags:`, out)
}

func TestMistakes(t *testing.T) { clitest.Mistakes(t, newRoot) }

// After Ctrl-C a command says so in a word, ends with 130, and leaves nothing half-written.
func TestInterrupted(t *testing.T) {
	race.Slow(t)
	dir := t.TempDir()
	before, err := os.ReadDir(dir)
	require.NoError(t, err)
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"simulate", "--cluster", "128x8x2", "--workload", "gen:V.1", "--policy", "auction2", "--html", in("s.html"),
			"--jobs-csv", in("j.csv")},
		{"simulate", "--cluster", "20x8", "--workload", "gen:lublin-80", "--policy", "backfill,easy", "--json"},
		{"plan", "../../examples/table1.json", "--policy", "backfill"},
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

// The list of policies in simulate's help has all of them.
func TestHelpListsPolicies(t *testing.T) {
	_, out, _ := aucsched(t, "", "simulate", "--help")
	_, list, _ := strings.Cut(out, "\nPolicies:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	words := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })
	_, _, errs := aucsched(t, "", "simulate", "--cluster", "1x1", "--workload", "x", "--policy", "none")
	_, known, _ := strings.Cut(errs, "known are ")
	for _, name := range strings.Split(strings.TrimSpace(known), ", ") {
		require.Contains(t, words, name)
	}
}

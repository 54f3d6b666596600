// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/pods"
	"github.com/aucsched/aucsched/benchmarks/simulate"
	"github.com/aucsched/aucsched/docs/schemas"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/clitest"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/race"
)

// aucsched names the policies and modes that are handed on, and hands on no others.
func TestNamesOfWhatIsHandedOn(t *testing.T) {
	require.Equal(t, pods.Policies(), simulate.PodPolicies())
	require.Equal(t, locality.Policies(), simulate.LocalityPolicies())
	var modes []string
	for _, name := range simulate.ModeNames() {
		m, err := locality.ParseMode(name)
		require.NoError(t, err)
		modes = append(modes, m.String())
	}
	require.Equal(t, simulate.ModeNames(), modes)
}

// What simulate prints is such by its schema.
func TestSimulate(t *testing.T) {
	judge := func(s *jsonschema.Schema, text string) error {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		return s.Validate(doc)
	}
	s := part(t, "")
	const data = "../../traces/testdata/"
	small := []string{"--cluster", "64x12x3", "--workload", data + "swf/small.swf", "--work", "20000"}
	for _, x := range []struct {
		args []string
		def  string
	}{
		{append(small, "--policy", "auction1,auction2,backfill,ipsched"), "result"},
		{append(small, "--policy", "auction2", "--locality"), "result"},
		{[]string{"--cluster", "1x1", "--workload", data + "gpu/pods.csv", "--policy", "backfill"}, "result"},
		{[]string{"--cluster", data + "cluster/alibaba.csv", "--workload", data + "gpu/pods.csv", "--policy", "backfill"}, "result"},
		{[]string{"--cluster", "64x12", "--workload", data + "swf/small.swf", "--policy", "fcfs,lead-bf"}, "locality"},
		{[]string{"--cluster", data + "cluster/alibaba.csv", "--workload", data + "gpu/pods.csv", "--policy", "fgd"}, "pods"},
		{append(small, "--bound"), "bounds"},
		{append(small, "--dry-run"), "dry_run"},
	} {
		_, out, errs := aucsched(t, "", append([]string{"simulate", "--json"}, x.args...)...)
		require.NotEmpty(t, out, errs)
		for line := range strings.Lines(out) {
			require.NoError(t, judge(s, line), "%v: %s", x.args, line)
			require.NoError(t, judge(part(t, "#/$defs/"+x.def), line), "%v is a %s", x.args, x.def)
		}
	}
	require.Error(t, judge(s, `{"policy":"backfill"}`))
}

// part is the schema of one kind of what simulate prints, or of all.
func part(t *testing.T, def string) *jsonschema.Schema {
	t.Helper()
	text, _ := schemas.Text("simulate")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json" + def)
	require.NoError(t, err)
	return s
}

func TestSimulatePrintsTheContract(t *testing.T) {
	race.Slow(t)
	args := []string{"simulate", "--cluster", "32x8x2", "--workload", "gen:esp", "--work", "100000", "--json"}
	code, out, errs := aucsched(t, "", args...)
	require.Zero(t, code, errs)
	var r sim.Result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, []any{"auction2", 458}, []any{r.Policy, r.Jobs})
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

// TestSimulateGPUTraces: small GPU traces and the list of nodes are replayed, jobs at the
// rate asked for.
func TestSimulateGPUTraces(t *testing.T) {
	race.Slow(t)
	const data = "../../traces/testdata/"
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

func TestDryRunSaysWhatItChecked(t *testing.T) {
	args := []string{"simulate", "--cluster", "20x8x2,4x4", "--workload", "gen:V.1",
		"--policy", "backfill,auction2", "--first", "7", "--dry-run"}
	code, out, errs := aucsched(t, "", args...)
	require.Zero(t, code, errs)
	require.Equal(t, "read without a fault: 7 jobs of gen:V.1, its first 7 jobs; 24 nodes with 176 cores and 40 GPUs; "+
		"policies backfill, auction2; not tried: whether jobs fit, and output\n", out)
	code, out, errs = aucsched(t, "", append(args, "--json")...)
	require.Zero(t, code, errs)
	require.JSONEq(t, `{"policies":["backfill","auction2"],"nodes":24,"cores":176,"gpus":40,`+
		`"workload":"gen:V.1, its first 7 jobs","jobs":7}`, out)
}

// Figures of no job at all are printed, and are a failure.
func TestNoJobRan(t *testing.T) {
	code, out, errs := aucsched(t, "", "simulate", "--cluster", "1x1", "--workload",
		"../../traces/testdata/gpu/pods.csv", "--policy", "backfill")
	require.Equal(t, cli.ExitFailed, code)
	require.Regexp(t, `(?m)^jobs run +0$`, out)
	require.Regexp(t, `\naucsched: policy backfill: not one of \d+ jobs ran: the first, .+: .+\n$`, errs)
}

// The list of policies in simulate's help has all of them.
func TestHelpListsPolicies(t *testing.T) {
	_, out, _ := aucsched(t, "", "simulate", "--help")
	_, list, _ := strings.Cut(out, "\nPolicies:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	words := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })
	_, _, errs := aucsched(t, "", "simulate", "--cluster", "1x1", "--workload", "x", "--policy", "odd")
	_, known, _ := strings.Cut(errs, "known are ")
	for _, name := range strings.Split(strings.TrimSpace(known), ", ") {
		require.Contains(t, words, name)
	}
}

// A mistake is said in a line that names the flag.
func TestSimulateWrongInput(t *testing.T) {
	race.Slow(t)
	empty := filepath.Join(t.TempDir(), "e.swf")
	require.NoError(t, os.WriteFile(empty, []byte("; nothing\n"), 0o600))
	simulate := []string{"simulate", "--cluster", "9x8x2", "--workload", "gen:esp"}
	for want, args := range map[string][]string{
		"--slurm-bids: policy backfill": {"simulate", "--cluster", "9x8", "--workload",
			"gen:tsubame-1.NC", "--policy", "backfill", "--slurm-bids"},
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
		"e.swf: no job":                {"simulate", "--cluster", "9x8", "--workload", empty},
		`did you mean "gen:esp-rand"?`: {"simulate", "--cluster", "9x8x2", "--workload", "gen:esp-ran"},
		`--policy: "lea-fb" is unknown; known are auction1, auction2, backfill, easy, easy-sjf, easy-saf, ` +
			`easy-f1, easy-wfp3, ipsched, plan, fcfs, fcfs-bf, eft, eft-bf, lea, lea-bf, leo, leo-bf, lem, lem-bf, ` +
			`lead, lead-bf, random, dotprod, gpuclustering, gpupacking, bestfit, fgd, exec; did you mean "lea-bf"?`: append(
			simulate, "--policy", "lea-fb"),
		`--policy: "" is unknown; known are auction1, auction2, backfill, easy, easy-sjf, `: append(simulate, "--policy", ""),
		`--priority: "mulitfactor" is unknown; known are basic, multifactor; did you mean ` +
			`"multifactor"?`: append(simulate, "--priority", "mulitfactor"),
	} {
		code, out, errs := aucsched(t, "", args...)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", args, errs)
		require.Contains(t, errs, want)
		require.Equal(t, 1, strings.Count(errs, "\n"), "one line: %s", errs)
		require.Empty(t, out)
	}
}

// Help lists its many flags by subject.
func TestSimulateHelpBySubject(t *testing.T) {
	_, out, _ := aucsched(t, "", "simulate", "--help")
	require.Regexp(t,
		`(?s)\nMachine and workload:\n.*--cluster.*\nSimulation:\n.*--seed.*`+
			`\nPolicy:\n.*--policy.*\nAuctions \(auction1, auction2\):\n.*--preset`+
			`.*\nInput files and data locality:\n.*--mode.*\nOutput:\n.*--json.*\nOther flags:\n  `+
			`-h, --help +help for simulate\n\nGlobal Flags:`, out)
}

// After Ctrl-C it says so in a word, ends with 130, and leaves nothing half-written.
func TestSimulateInterrupted(t *testing.T) {
	race.Slow(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"simulate", "--cluster", "128x8x2", "--workload", "gen:V.1", "--policy", "auction2", "--html", in("s.html"),
			"--jobs-csv", in("j.csv")},
		{"simulate", "--cluster", "20x8", "--workload", "gen:lublin-80", "--policy", "backfill,easy", "--json"},
	} {
		var out, errs bytes.Buffer
		code := run(clitest.Interrupted(), args, strings.NewReader(""), &out, &errs)
		require.Equal(t, 130, code, "%v: %s", args, errs.String())
		require.Regexp(t, `^(aucsched: warning: .*\n)*aucsched: interrupted\n$`, errs.String(), "%v", args)
		require.Empty(t, out.String(), "%v", args)
		after, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, after, "%v", args)
	}
}

// What a shell offers for simulate.
func TestSimulateComplete(t *testing.T) {
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"--mode", ""}, "paper\nreference\n"},
		{[]string{"--priority", ""}, "basic\nmultifactor\n"},
		{[]string{"--cluster", "1"}, "1024x8x2\n128x8x2\n1408x12x3\n"},
		{[]string{"--workload", "gen:tsubame-2.F"}, "gen:tsubame-2.FC\ngen:tsubame-2.FC-ranges\n"},
		{[]string{"--workload", "gen:"}, strings.Join(generate.Generators(), "\n")},
		{[]string{"--work", ""}, ""},
		{[]string{""}, ""},
		{[]string{"--workload", "../../../examples/w"}, ":0\n"},
		{[]string{"--policy", "backfill,lea,l"}, "backfill,lea,lea-bf\nbackfill,lea,leo\nbackfill,lea,leo-bf\nbackfill,lea,lem\n" +
			"backfill,lea,lem-bf\nbackfill,lea,lead\nbackfill,lea,lead-bf\n"},
	} {
		code, out, errs := aucsched(t, "", append([]string{"__complete", "simulate"}, x.args...)...)
		require.Zero(t, code, errs)
		require.True(t, strings.HasPrefix(out, x.want), "%v: %s", x.args, out)
	}
}

// The example of docs/explanation/presets.md: no order of the queue saves what a plan saves.
func TestWhyToPlan(t *testing.T) {
	race.Slow(t)
	const inQueueOrder, planned = 18 * 3600, 12*3600 + 120 // jobs 2 to 5 come at 120 s
	for args, runtime := range map[[2]string]int64{
		{"--policy", "backfill"}: inQueueOrder, {"--policy", "easy"}: inQueueOrder, {"--policy", "easy-sjf"}: inQueueOrder,
		{"--policy", "easy-saf"}: inQueueOrder, {"--policy", "easy-f1"}: inQueueOrder, {"--policy", "easy-wfp3"}: inQueueOrder,
		{"--preset", "default"}: planned, {"--preset", "short"}: planned, {"--preset", "throughput"}: planned,
	} {
		code, out, errs := aucsched(t, "", "simulate", "--cluster", "4x1", "--workload", "../../../examples/wide.swf",
			"--interval", "60", "--json", args[0], args[1])
		require.Zero(t, code, errs)
		var r struct {
			Runtime int64 `json:"runtime_s"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		require.Equal(t, runtime, r.Runtime, args)
	}
}

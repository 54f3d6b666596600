package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/sim"
	"github.com/aucsched/aucsched/window"
)

// aucsched runs the command as a user would; HiGHS's worker is this test binary.
func aucsched(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "solver-worker" {
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

const knapsack = `NAME K
OBJSENSE MAX
ROWS
 N obj
 L cap
COLUMNS
 M M 'MARKER' 'INTORG'
 x obj 5 cap 3
 y obj 4 cap 2
 z obj 3 cap 2
 M M 'MARKER' 'INTEND'
RHS
 R cap 4
BOUNDS
 UP B x 1
 UP B y 1
 UP B z 1
ENDATA
`

func TestSolve(t *testing.T) {
	dir := t.TempDir()
	model, names := filepath.Join(dir, "k.mps"), filepath.Join(dir, "names")
	require.NoError(t, os.WriteFile(model, []byte(strings.Replace(knapsack, " M M 'MARKER'", " M 'MARKER'", 2)), 0o600))
	code, out, errs := aucsched(t, "", "solve", model, "--json", "--solution", names)
	require.Zero(t, code, errs)
	var s solution
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Equal(t, []any{"optimal", 7.0, 7.0}, []any{s.Status, *s.Objective, *s.Bound})
	text, err := os.ReadFile(names)
	require.NoError(t, err)
	require.Equal(t, "y\nz\n", string(text))
}

func TestWrongUsageAndInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for want, args := range map[string][]string{
		`unknown command "frob"`:         {"frob"},
		"unknown flag: --frob":           {"plan", "--frob"},
		"accepts 1 arg(s)":               {"plan"},
		"no such file":                   {"plan", filepath.Join(dir, "absent")},
		"standard input:1":               {"plan", "-"},
		`--policy: "odd" is unknown`:     {"plan", "../../examples/table1.json", "--policy", "odd"},
		"bids per job 0":                 {"plan", "../../examples/table1.json", "--bids", "0"},
		`--solver: "odd" is unknown`:     {"plan", "../../examples/table1.json", "--solver", "odd"},
		`--objective "odd": must be`:     {"plan", "../../examples/table1.json", "--objective", "odd"},
		"--deadline: -1s":                {"plan", "../../examples/table1.json", "--deadline", "-1s"},
		"--mps: ":                        {"plan", "../../examples/table1.json", "--mps", filepath.Join(dir, "no/such")},
		"--cluster and --workload":       {"simulate"},
		"--cluster: ":                    {"simulate", "--cluster", "0x8", "--workload", "gen:tsubame-1.NC"},
		"no such generator":              {"simulate", "--cluster", "9x8", "--workload", "gen:odd"},
		"--interval: 0":                  {"simulate", "--cluster", "9x8", "--workload", "gen:tsubame-1.NC", "--interval", "0"},
		"e.swf: no job":                  {"simulate", "--cluster", "9x8", "--workload", file("e.swf", "; nothing\n")},
		"t.mps:":                         {"solve", file("t.mps", knapsack[:60])},
		"--time-limit: -1s":              {"solve", "--time-limit", "-1s", file("k.mps", knapsack)},
		"--gap: -0.5":                    {"solve", "--gap", "-0.5", file("k.mps", knapsack)},
		"--gap: NaN":                     {"solve", "--gap", "NaN", file("k.mps", knapsack)},
		"--part: \"x\" is not a, b or c": {"demo", "--part", "x"},
		"--variants: ":                   {"demo", "--part", "c", "--variants", "9.XX"},
		"--seeds: 0":                     {"demo", "--seeds", "0"},
	} {
		code, out, errs := aucsched(t, "", args...)
		require.Equal(t, exitUsage, code, "%v: %s", args, errs)
		require.Contains(t, errs, want)
		require.Equal(t, 1, strings.Count(errs, "\n"), "one line: %s", errs)
		require.Empty(t, out)
	}
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
	w := `{"nodes":[{"name":"n1","cores":8}],"jobs":[
		{"id":"a","priority":11,"cores":1,"time_limit_s":9},{"id":"b","priority":10,"cores":1,"time_limit_s":8},{"id":"c","priority":9,"cores":8,"time_limit_s":9}]}`
	for objective, want := range map[string]string{"priority": "a\\s+now|b\\s+now", "size": "c\\s+now"} {
		for _, paper := range []bool{false, true} {
			args := []string{"plan", "-", "--reservations", "0", "--objective", objective}
			if paper {
				args = append(args, "--paper")
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
	const data = "../../workload/testdata/"
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
	philly := result("--cluster", "8x4x4", "--workload", data+"gpu/philly.csv")
	require.Equal(t, 4, philly.Jobs)
	require.Equal(t, (66+2952*8+10*12+1*20)/32.0, philly.TheoreticalRuntime, "17 GPUs are 5 nodes of 4, as the machine's are")

	code, _, errs := aucsched(t, "", append(append([]string{"simulate"}, pods...), "--rate", "0")...)
	require.Equal(t, 2, code)
	require.Contains(t, errs, "--rate: 0: must be in 1e-06..1e+06")
}

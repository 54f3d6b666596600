// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/internal/sim"
)

// line is a line of --json.
type line struct {
	sim.Result
	Seed uint64 `json:"seed"`
}

// lines are those that simulate prints, without the times of cycles.
func lines(t *testing.T, args ...string) (all []line) {
	t.Helper()
	code, out, errs := aucsched(t, "", append([]string{"simulate", "--json", "--cluster", "128x8x2", "--workload", "gen:V.1",
		"--first", "60", "--interval", "5"}, args...)...)
	require.Zero(t, code, errs)
	for text := range strings.Lines(out) {
		var r line
		require.NoError(t, json.Unmarshal([]byte(text), &r))
		r.CycleMsP50, r.CycleMsP99, r.CycleMsMax = 0, 0, 0
		all = append(all, r)
	}
	return all
}

// Settings of one policy are as if they were all policies', and its own come before those.
func TestSettingsOfOnePolicy(t *testing.T) {
	all := lines(t, "--window", "7", "--policy", "auction2,auction2:window=30:depth=0,short,backfill,ipsched:window=3:node-limits=no")
	for i, args := range [][]string{
		{"--policy", "auction2", "--window", "7"},
		{"--policy", "auction2", "--window", "30", "--depth", "0"},
		{"--policy", "auction2", "--window", "7", "--preset", "short"},
		{"--policy", "backfill"},
		{"--policy", "ipsched", "--window", "3", "--node-limits=false"},
	} {
		alone := lines(t, args...)
		label := all[i].Policy
		all[i].Policy = alone[0].Policy
		require.Equal(t, alone[0], all[i], label)
	}
	require.NotEqual(t, all[0].WaitMean, all[1].WaitMean, "the settings count")
}

// A preset has the same name as a policy, as a flag and as a setting, and is the default of auction2.
func TestPresetsArePolicies(t *testing.T) {
	args := []string{"--workload", "gen:tsubame-1.NC-ranges", "--cluster", "1408x12x3", "--first", "100"}
	all := lines(t, append(args, "--policy", "auction2,default,auction2:preset=default,auction2:preset=none")...)
	for i := range all {
		all[i].Policy = ""
	}
	require.Equal(t, all[0], all[1])
	require.Equal(t, all[0], all[2])
	require.NotEqual(t, all[0], all[3])
}

func TestWrongSettingsOfOnePolicy(t *testing.T) {
	for policy, want := range map[string]string{
		"auction2:windw=3":         `--policy: auction2:windw=3: "windw" is none of its settings, which are `,
		"auction2:window=0":        `--policy: auction2:window=0: --window 0: must be a number from 1 to`,
		"auction2:window=x":        `--policy: auction2:window=x: window: "x": must be a whole number`,
		"auction2:window":          `--policy: auction2:window: window: its value is missing`,
		"backfill:window=3":        `--policy: backfill:window=3: backfill has no settings of its own`,
		"easy:a=1":                 `--policy: easy:a=1: easy has no settings of its own`,
		"shrt":                     `--policy: "shrt" is unknown`,
		"auction2:window=3,bids=5": `settings of a policy stand behind colons`,
		"backfill,backfill":        `--policy: "backfill" is given twice`,
	} {
		code, out, errs := aucsched(t, "", small("--policy", policy)...)
		require.Equal(t, 2, code, "%s: %s", policy, errs)
		require.Contains(t, errs, want, policy)
		require.Equal(t, 1, strings.Count(errs, "aucsched: --policy"), errs)
		require.Empty(t, out)
	}
}

// Each run is as it is alone, whatever runs at the same time, and comes in the order of policies and
// seeds.
func TestSeeds(t *testing.T) {
	all := lines(t, "--policy", "backfill,short", "--seeds", "1-2,7")
	require.Equal(t, all, lines(t, "--policy", "backfill,short", "--seeds", "1-2,7", "--parallel", "1"))
	require.Equal(t, all, lines(t, "--policy", "backfill,short", "--seeds", "1-2,7", "--parallel", "6"))
	require.Len(t, all, 6)
	seeds := []string{"1", "2", "7"}
	for i, policy := range []string{"backfill", "short"} {
		for k, seed := range seeds {
			require.Equal(t, lines(t, "--policy", policy, "--seed", seed)[0], all[3*i+k])
		}
	}
	require.NotEqual(t, all[0].WaitMean, all[1].WaitMean)
}

func TestWrongSeeds(t *testing.T) {
	for want, args := range map[string][]string{
		`--seeds: "0-3": must be FIRST-LAST`: {"--seeds", "0-3"},
		`--seeds: 1-3,2: a seed is there`:    {"--seeds", "1-3,2"},
		`--seeds: goes without --seed`:       {"--seeds", "1-3", "--seed", "2"},
		`--parallel: -1: must be 0 to 1024`:  {"--parallel", "-1"},
		`--csv: goes without --json`:         {"--csv", "--json"},
		`--markdown: goes without --csv`:     {"--csv", "--markdown"},
	} {
		code, out, errs := aucsched(t, "", small(args...)...)
		require.Equal(t, 2, code, errs)
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
}

// The figures of the CSV are those of the JSON, a row for each run.
func TestCSV(t *testing.T) {
	args := small("--policy", "backfill,easy", "--seeds", "1-2")
	code, out, errs := aucsched(t, "", append(args, "--csv")...)
	require.Zero(t, code, errs)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	_, text, _ := aucsched(t, "", append(args, "--json")...)
	objects := strings.Split(strings.TrimSpace(text), "\n")
	require.Len(t, rows, 1+len(objects))
	for i, object := range objects {
		var want map[string]any
		d := json.NewDecoder(strings.NewReader(object))
		d.UseNumber()
		require.NoError(t, d.Decode(&want))
		compared := 0
		for k, name := range rows[0] {
			value, flat := want[name]
			if outer, inner, below := strings.Cut(name, "."); below {
				value, flat = want[outer].(map[string]any)[inner]
			}
			if list, is := value.([]any); is {
				value = len(list)
			}
			require.True(t, flat, name)
			if strings.HasPrefix(name, "cycle_ms") {
				continue
			}
			require.EqualValues(t, rows[1+i][k], toText(value), name)
			compared++
		}
		require.Greater(t, compared, 30)
	}
}

func toText(v any) string {
	text, _ := json.Marshal(v)
	return strings.Trim(string(text), `"`)
}

// With several seeds the table has means, intervals and paired differences.
func TestTableOfSeeds(t *testing.T) {
	args := []string{"--policy", "backfill,easy-sjf", "--seeds", "1-4"}
	all := lines(t, args...)
	var a, b []float64
	for k := range 4 {
		a, b = append(a, all[k].BoundedSlowdown), append(b, all[4+k].BoundedSlowdown)
	}
	code, out, errs := aucsched(t, "", append([]string{"simulate", "--cluster", "128x8x2", "--workload", "gen:V.1",
		"--first", "60", "--interval", "5"}, args...)...)
	require.Zero(t, code, errs)
	table := Table[line]{Columns: []Column[line]{{"backfill", all[:4]}, {"easy-sjf", all[4:]}}}
	row := Row[line]{Name: "· bounded", Digits: 2, Good: -1, Value: func(r line) float64 { return r.BoundedSlowdown }}
	want := table.show(&row)
	require.Regexp(t, `(?m)^· bounded +`+want.cells[0][0]+` +`+want.cells[1][0]+` +`+
		strings.TrimSpace(strings.NewReplacer("+", `\+`, "*", `\*`).Replace(want.cells[1][1]))+` *$`, out)
	d := stats.Paired(b, a)
	require.Contains(t, table.difference(&row, d, stats.Over(a).Mean), "±")
	require.Contains(t, out, "±: 95% intervals over 4 seeds")
}

// Marks are of differences beyond noise, by what is better.
func TestMarks(t *testing.T) {
	better := func(good int, a, b []float64) string {
		table := Table[float64]{Columns: []Column[float64]{{"a", a}, {"b", b}}}
		row := Row[float64]{Good: good, Digits: 1, Value: func(v float64) float64 { return v }}
		return table.show(&row).cells[1][1]
	}
	noisy, less := []float64{10, 20, 30}, []float64{4, 10, 16}
	require.Equal(t, "-50 ±50%*", better(-1, noisy, less))
	require.Equal(t, "-50 ±50%!", better(1, noisy, less))
	require.Equal(t, "-50 ±50%", better(0, noisy, less))
	require.Equal(t, "+1.7 ±14.3% ", better(-1, noisy, []float64{9, 21, 31}))
	require.Equal(t, "=", better(-1, []float64{1, 2}, []float64{1, 2}))
	require.Equal(t, "+50%", better(-1, []float64{2}, []float64{3}))
	require.Equal(t, "from 0", better(-1, []float64{0}, []float64{3}))
	require.Equal(t, "0.0%", better(-1, []float64{3}, []float64{2.9999}))
}

// A row is in one unit, which its least figure has at least one of.
func TestUnits(t *testing.T) {
	for _, c := range []struct { // 25 h are not yet days
		means []float64
		unit  string
		first string
	}{
		{[]float64{27, 5800}, "s", "27"}, {[]float64{61, 5800}, "min", "1.02"}, {[]float64{0, 7200}, "h", "0.00"},
		{[]float64{3 * 86400, 4 * 86400}, "d", "3.00"}, {[]float64{0, 0}, "s", "0"}, {[]float64{1, 90000}, "h", "0.0"},
		{[]float64{0.4}, "s", "0.40"}, {[]float64{400}, "min", "6.67"},
	} {
		var columns []Column[float64]
		for _, v := range c.means {
			columns = append(columns, Column[float64]{"p", []float64{v}})
		}
		table := Table[float64]{Columns: columns}
		s := table.show(&Row[float64]{Name: "wait", Unit: Seconds, Value: func(v float64) float64 { return v }})
		require.Equal(t, "wait ("+c.unit+")", s.name, c)
		require.Equal(t, c.first, s.cells[0][0], c)
	}
}

func TestMarkdown(t *testing.T) {
	code, out, errs := aucsched(t, "", small("--policy", "backfill,easy", "--markdown")...)
	require.Zero(t, code, errs)
	table, legend, _ := strings.Cut(out, "\n\n")
	for row := range strings.SplitSeq(table, "\n") {
		require.Equal(t, 5, strings.Count(row, "|"), row)
	}
	require.Contains(t, table, "|  | backfill | easy | difference |\n| --- | ---: | ---: | ---: |\n| jobs run | ")
	require.Contains(t, legend, "Differences are from backfill, in % of its figure; those of rows in % are in points; = is none.")
}

// Files of several runs have the policy and the seed in their names.
func TestFilesOfRuns(t *testing.T) {
	dir := t.TempDir()
	code, _, errs := aucsched(t, "", small("--policy", "backfill,auction2:window=9", "--seeds", "3-4",
		"--jobs-csv", filepath.Join(dir, "j.csv"), "--html", filepath.Join(dir, "p.html"))...)
	require.Zero(t, code, errs)
	require.Equal(t, []string{"j.auction2_window=9.3.csv", "j.auction2_window=9.4.csv", "j.backfill.3.csv", "j.backfill.4.csv",
		"p.html"}, listDir(t, dir))
}

// A policy for which jobs are copied shows them where they are.
func TestPageOfCopiedJobs(t *testing.T) {
	page := filepath.Join(t.TempDir(), "p.html")
	code, _, errs := aucsched(t, "", small("--policy", "ipsched", "--html", page)...)
	require.Zero(t, code, errs)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Regexp(t, `"Job":\[0,1,2`, string(text))
}

func TestPlotFlags(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f.svg")
	code, _, errs := aucsched(t, "", small("--policy", "backfill,easy-sjf", "--seeds", "1-3", "--plot", file)...)
	require.Zero(t, code, errs)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, word := range []string{"difference from backfill, %", ">easy-sjf<", "jobs waiting", "<image "} {
		require.Contains(t, string(text), word)
	}
	for want, args := range map[string][]string{
		"--plot: f.png: must end in .pdf or .svg": {"--plot", "f.png"},
		`--panels: "gant" is unknown`:             {"--plot", file, "--panels", "gant"},
		"--panels: goes with --plot":              {"--panels", "gantt"},
		"--plot: ":                                {"--plot", filepath.Join(dir, "no/f.pdf")},
	} {
		code, out, errs := aucsched(t, "", small(args...)...)
		require.Equal(t, 2, code, errs)
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
}

// With --resample each seed has a trace of its own, the same for all policies and each time.
func TestResampledTraces(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t")
	text := "; MaxProcs: 8\n"
	for i := range 200 {
		text += fmt.Sprintf("%d %d -1 %d %d -1 -1 %[4]d 9000 -1 1 1 1 -1 1 -1 -1 -1\n", i+1, 300*i, 100+37*(i*i%97), 1+i*7%5)
	}
	require.NoError(t, os.WriteFile(trace, []byte(text), 0o600))
	simulate := func(args ...string) (code int, out, errs string) {
		return aucsched(t, "", append([]string{"simulate", "--workload", trace, "--cluster", "1x8"}, args...)...)
	}
	args := []string{"--policy", "backfill,easy-sjf", "--seeds", "1-3", "--resample", "2h"}
	code, out, errs := simulate(append(args, "--csv", "--parallel", "4")...)
	require.Zero(t, code, errs)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	at := func(row int, name string) string { return rows[row][slices.Index(rows[0], name)] }
	require.NotEqual(t, at(1, "wait_mean_s"), at(2, "wait_mean_s"))
	require.Equal(t, at(2, "theoretical_runtime_s"), at(5, "theoretical_runtime_s"), "both policies have the same jobs")
	require.NotEqual(t, at(2, "theoretical_runtime_s"), at(3, "theoretical_runtime_s"))
	_, alone, _ := simulate("--policy", "easy-sjf", "--seed", "2", "--resample", "2h", "--csv")
	require.Contains(t, alone, ","+at(5, "wait_mean_s")+",")
	_, out, _ = simulate(args...)
	require.Contains(t, out, "±: 95% intervals by 3 draws from the trace's blocks, with replacement.")
	for want, args := range map[string][]string{
		"--resample: -1h0m0s: must be": {"--resample=-1h"},
		"--resample: is for traces":    {"--resample", "1h", "--workload", "gen:V.1", "--cluster", "64x8x2"},
		"2 whole blocks of 8h0m0s":     {"--resample", "8h"},
		"5m, or 24h for a day":         {"--resample", "1d"},
	} {
		code, _, errs := simulate(args...)
		require.Equal(t, 2, code, errs)
		require.Contains(t, errs, want)
	}
}

// More draws from one sample do not make the interval of a figure narrower.
func TestIntervalsOfDraws(t *testing.T) {
	t1, t2 := Table[float64]{}, Table[float64]{Draws: true}
	require.InDelta(t, 4, t1.noise(4, 10, 25), 1e-12)
	require.InDelta(t, 20, t2.noise(4, 10, 25), 1e-12)
	require.Zero(t, t2.noise(1e-12, 10, 25), "rounding is none")
}

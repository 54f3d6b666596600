// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the goldens in testdata again")

func testdata(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

// The texts in testdata are the output of Slurm 22.05.8.
func TestParseJobs(t *testing.T) {
	jobs, err := ParseJobs(testdata(t, "jobs.txt"))
	require.NoError(t, err)
	require.Len(t, jobs, 8)
	byID := map[uint32]Job{}
	for _, j := range jobs {
		byID[j.ID] = j
	}
	j := byID[1]
	require.Equal(t, "a comment = with spaces", j.Fields["Comment"])
	require.Equal(t, "0:0:*:*", j.Fields["ReqB:S:C:T"])
	require.Equal(t, "gres:gpu:1", j.Fields["TresPerNode"])
	j.Fields = nil
	whole := []int{0, 1, 2, 3, 4, 5, 6, 7}
	require.Equal(t, Job{ID: 1, Name: "sbatch", State: "RUNNING", Reason: "None", Partition: "p", NodeList: "n[0001-0003]",
		NumNodes: 3, NumCPUs: 20, Nodes: []NodeShare{
			{Node: "n0001", CPUs: whole, GPUs: []int{0}, GPUCount: 1},
			{Node: "n0002", CPUs: whole, GPUs: []int{0}, GPUCount: 1},
			{Node: "n0003", CPUs: []int{0, 1, 4, 5}, GPUs: []int{0}, GPUCount: 1},
		}}, j)
	require.Equal(t, "3-4%2", byID[2].ArrayTask)
	require.Equal(t, "JobArrayTaskLimit", byID[2].Reason)
	require.EqualValues(t, 2, byID[8].ArrayID)
	require.Empty(t, byID[2].Nodes)
	require.Equal(t, 2, byID[4].NumNodes, "2-4")
	require.Equal(t, []int{0}, byID[6].Nodes[1].GPUs, "gpu:a100:1(IDX:0)")
	ended := byID[3]
	require.True(t, ended.Ended() && ended.In("FAILED", "COMPLETED"))

	jobs, err = ParseJobs("No jobs in the system\n")
	require.NoError(t, err)
	require.Empty(t, jobs)
	for _, bad := range []string{"JobId=x\n", "JobId=1 NumNodes=x\n", "hello", "JobId=1 ArrayJobId=-3",
		"JobId=1\nNodes=n[1 CPU_IDs=0", "JobId=1\nNodes=n[1-99999] CPU_IDs=0", "JobId=1\nNodes=a[1-9]b[1-9] CPU_IDs=0",
		"JobId=1\nNodes=n[1-20000] CPU_IDs=0-99", "JobId=1\nNodes=n[1-99999999999999999999] CPU_IDs=0",
		"JobId=1\nNodes=n1 CPU_IDs=3-1", "JobId=1\nNodes=n1 CPU_IDs=0-99999999",
		"JobId=1\nNodes=n1 CPU_IDs=0 GRES=gpu:1(IDX:0", "JobId=1\nNodes=n1 CPU_IDs=0 GRES=gpu:x(IDX:0)"} {
		_, err := ParseJobs(bad)
		require.Error(t, err, bad)
	}
}

func TestParseGPUs(t *testing.T) {
	idx, n, err := parseGPUs("nic:1(IDX:0),gpu:a:2(IDX:0,3),gpu:b:1(IDX:5)")
	require.NoError(t, err)
	require.Equal(t, []int{0, 3, 5}, idx)
	require.Equal(t, 3, n)
}

func TestParseShards(t *testing.T) {
	for text, want := range map[string][]int{
		"gpu:1(IDX:0)": nil, "shard:3(IDX:1)": {0, 3}, "nic:1(IDX:0),shard:4(IDX:0)": {4},
		"shard:3(0/4,3/4)": {0, 3}, "shard:5(4/4,1/4,0/4)": {4, 1, 0},
	} {
		got, err := parseShards(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, bad := range []string{"shard:3(IDX:x)", "shard:3(4/4,/4)", "shard:99999999999(IDX:0)", "shard:1(IDX:9999999)"} {
		_, err := parseShards(bad)
		require.Error(t, err, bad)
	}
}

func TestParseSdiag(t *testing.T) {
	s, err := ParseSdiag(testdata(t, "sdiag.txt"))
	require.NoError(t, err)
	require.Positive(t, s.Main.Count)
	require.Positive(t, s.Main.Mean)
	require.LessOrEqual(t, s.Main.Mean, s.Main.Max)
	require.Positive(t, s.Backfill.Count)
	require.Equal(t, "9", s.Fields[": Jobs submitted"])
	s, err = ParseSdiag("Backfilling stats (WARNING: data obtained in the middle of backfilling execution.)\n\tTotal cycles: 7\n")
	require.NoError(t, err)
	require.EqualValues(t, 7, s.Backfill.Count)
	_, err = ParseSdiag("Main schedule statistics (microseconds):\n\tLast cycle:   x\n")
	require.ErrorContains(t, err, `Last cycle: "x"`)
}

func TestParseJobComp(t *testing.T) {
	ended, err := ParseJobComp(testdata(t, "jobcomp.txt"))
	require.NoError(t, err)
	require.Len(t, ended, 1)
	require.Equal(t, "/tmp/bed/work", ended[0].Fields["WorkDir"])
	ended[0].Fields = nil
	require.Equal(t, Ended{ID: 3, Name: "sbatch", State: "COMPLETED", NodeList: "n0003",
		Start: "2026-11-21T17:21:33", End: "2026-11-21T17:21:33", CPUs: 1}, ended[0])
	_, err = ParseJobComp("JobId=seven Name=x\n")
	require.ErrorContains(t, err, `JobId="seven"`)
}

func TestParseStarts(t *testing.T) {
	starts, err := ParseStarts("7 0 1000\n9 2 1001\n")
	require.NoError(t, err)
	require.Equal(t, []ScriptStart{{7, 0, time.Unix(1000, 0)}, {9, 2, time.Unix(1001, 0)}}, starts)
	_, err = ParseStarts("7 0\n")
	require.Error(t, err)
}

func TestParseRoutes(t *testing.T) {
	require.Equal(t, map[uint32]Route{
		7:  {Started: 2, NodeList: "n[3-4]", Class: "C"},
		9:  {Started: 1, NodeList: "n5", Class: "A", Left: "gres"},
		12: {Left: "hetjob"},
	}, ParseRoutes(`[2026-11-21T17:00:00.000] aucsched: started JobId=7 on n[1-2] (class A)
[2026-11-21T17:00:00.000] aucsched: started JobId=7 on n[3-4] (class C)
[2026-11-21T17:00:00.000] aucsched: JobId=7_3(9) left to Slurm: gres
[2026-11-21T17:00:00.000] aucsched: JobId=7_3(9) left to Slurm: memory
[2026-11-21T17:00:00.000] aucsched: started JobId=7_3(9) on n5 (class A)
[2026-11-21T17:00:00.000] aucsched: JobId=11+1(12) left to Slurm: hetjob
[2026-11-21T17:00:00.000] sched: Allocate JobId=230 NodeList=n0058 #CPUs=2 Partition=p
[2026-11-21T17:00:00.000] aucsched: on: library
`))
}

func TestConfigFiles(t *testing.T) {
	cfg := leftMachine()
	cfg.SchedulerParameters = "bf_interval=1"
	cfg = cfg.WithAuction("/opt/plugins", "auc_interval=1")
	cfg, err := cfg.withDefaults()
	require.NoError(t, err)
	for name, text := range map[string]string{
		"slurm.conf": cfg.slurmConf("/tmp/bed", "host", "/usr/lib/slurm", 20000),
		"gres.conf":  cfg.gresConf("/tmp/bed"),
	} {
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join("testdata", name), []byte(text), 0o644))
		}
		require.Equal(t, testdata(t, name), text)
	}
}

func TestConfigRefused(t *testing.T) {
	for name, c := range map[string]Config{
		"needs nodes": {}, "group 2 has no nodes": {Groups: []Group{{Nodes: 1}, {}}},
		"group 1: -1 is negative": {Groups: Uniform(1, -1, 0)}, "at most": {Groups: Uniform(maxNodes+1, 1, 0)},
	} {
		_, err := c.withDefaults()
		require.ErrorContains(t, err, name)
	}
	require.ErrorContains(t, checkDir("/tmp/a b"), `"/tmp/a b"`)
	require.ErrorContains(t,
		checkDir(
			"/tmp/"+string(make([]byte, 0))+"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		"too long")
	require.NoError(t, checkDir("/tmp/bed"))
}

// What parseRanges reads is what was written, however it is cut into ranges.
func TestRangesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfNDistinct(rapid.IntRange(0, 200), 1, 40, rapid.ID[int]).Draw(t, "set")
		got, err := parseRanges(writeRanges(set))
		require.NoError(t, err)
		require.ElementsMatch(t, set, got)
	})
}

func FuzzParseJobs(f *testing.F) {
	// Short seeds: Go takes its time to make long ones shorter.
	f.Add("JobId=7 ArrayJobId=2 ArrayTaskId=1 JobName=sbatch\n   JobState=PENDING Reason=None\n  " +
		" NumNodes=2-4\n   JOB_GRES=gpu:3\n   Comment=a = b\n\nJobId=8\n")
	f.Add("JobId=1 JobState=RUNNING NumNodes=1\n Nodes=n[1-2] CPU_IDs=0-3,5 Mem=1 GRES=gpu:a:2(IDX:0-1)\n")
	machine := (&Config{Groups: Uniform(4, 8, 2)}).Machine()
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := ParseJobs(text)
		if err != nil {
			return
		}
		CheckJobs(machine, jobs, map[uint32]Ask{1: {CPUs: 1, HasGPUs: true, Contiguous: true}}, time.Time{})
		for _, j := range jobs {
			for _, s := range j.Nodes {
				require.LessOrEqual(t, len(s.CPUs), maxIndex)
			}
		}
	})
}

func FuzzParseSdiag(f *testing.F) {
	f.Add(testdata(f, "sdiag.txt"))
	f.Fuzz(func(_ *testing.T, text string) { ParseSdiag(text) })
}

func FuzzParseLogs(f *testing.F) {
	f.Add(testdata(f, "jobcomp.txt"))
	f.Add("7 0 1000\n")
	f.Add("aucsched: started JobId=7_3(9) on n5 (class A)\naucsched: JobId=7 left to Slurm: gres")
	f.Fuzz(func(_ *testing.T, text string) {
		ended, _ := ParseJobComp(text)
		starts, _ := ParseStarts(text)
		CheckRuns([]uint32{1, 7}, starts, ended, []time.Time{time.Unix(1000, 0)})
		ParseRoutes(text)
	})
}

func TestCountStates(t *testing.T) {
	states, err := countStates("idle n[0001-0003],n0007\nmixed* n0004\nidle n[0002-0003]\n\nn/a\n")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"idle": 4, "mixed*": 1}, states)
	_, err = countStates("idle n[0001-99999999]\n")
	require.Error(t, err)
}

// The page on removing names all files that the plug-ins leave in StateSaveLocation, and no others.
func TestFilesThatStayAreThoseOfThePage(t *testing.T) {
	sources, err := filepath.Glob("../../../slurmplugin/*.c")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	written, may := map[string]bool{}, map[string]bool{}
	for _, path := range sources {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`"%s/(aucsched[^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			written[name[1]], may[name[1]] = true, true
			for _, more := range regexp.MustCompile(`(?:"%s|NEW ")(\.[a-z.]+)"`).FindAllStringSubmatch(string(text), -1) {
				may[name[1]+more[1]] = true // of one of the names of this file
			}
		}
	}
	may["aucsched.shadow.old"], may["aucsched_files.new"] = true, true // the library's, beside names that C gives it
	page, err := os.ReadFile("../../../docs/howto/install.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "## Remove")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	told := map[string]bool{}
	for _, paragraph := range strings.Split(table, "\n\n") {
		if strings.Contains(paragraph, "`StateSaveLocation`") {
			for _, name := range regexp.MustCompile("`(aucsched[._][a-z._*]+)`").FindAllStringSubmatch(paragraph, -1) {
				told[strings.TrimSuffix(name[1], "*")] = true
			}
		}
	}
	for name := range told {
		require.Contains(t, may, name)
	}
	for name := range written {
		require.Contains(t, told, name)
	}
}

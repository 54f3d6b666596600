// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/race"
)

const (
	localityCluster = "{ id: 0 memory: 128 bandwidth: 0.1 core: 20 }\n{ id: 1 memory: 128 bandwidth: 0.1 core: 20 }\n"
	localityJobs    = "{ id: 1 subtime: 0 delay: 100 walltime: 1000 cores: 10 user: u data: 1 " +
		"data_size: 64 workload: 0 start_time_from_history: 0 start_node_from_history: 1 }\n" +
		"{ id: 2 subtime: 50 delay: 100 walltime: 1000 cores: 10 user: u data: 1 data_size: 64 " +
		"workload: 1 start_time_from_history: 0 start_node_from_history: 1 }\n" +
		"{ id: 3 subtime: 800 delay: 100 walltime: 1000 cores: 10 user: u data: 1 data_size: 64 " +
		"workload: 1 start_time_from_history: 0 start_node_from_history: 1 }\n"
	// The same jobs without files.
	localitySWF = "1 0 0 100 10 -1 -1 10 1000 -1 1 7 -1 -1 -1 -1 -1 -1\n2 50 0 100 10 -1 -1 10 " +
		"1000 -1 1 7 -1 -1 -1 -1 -1 -1\n3 800 0 100 10 -1 -1 10 1000 -1 1 7 -1 -1 -1 -1 -1 -1\n"
)

// localityFiles writes the files that the tests read.
func localityFiles(t *testing.T) (dir string) {
	dir = t.TempDir()
	for name, text := range map[string]string{"cluster": localityCluster, "jobs": localityJobs, "jobs.swf": localitySWF,
		"bad": strings.Replace(localityJobs, "delay: 100", "delay: soon", 1)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// Job 2 waits 590 s for the load of job 1; job 3 finds the file in memory, but in the
// programme only if job 2 ended in the same second. Both schedulers have the same figures
// here, as nothing else runs.
func TestSimulateLocality(t *testing.T) {
	race.Slow(t)
	dir := localityFiles(t)
	for name, c := range map[string]struct {
		args []string
		want map[string]any
	}{
		"paper": {[]string{"--cluster", filepath.Join(dir, "cluster"), "--workload", filepath.Join(dir, "jobs")},
			map[string]any{"mode": "paper", "jobs": 2.0, "queue_mean_s": 0.0, "transfer_s": 0.0, "load_wait_s": 590.0, "reused": 2.0,
				"stretch_mean": ((590+100)/740. + 100/740.) / 2}},
		"reference": {[]string{"--mode", "reference", "--cluster", filepath.Join(dir, "cluster"), "--workload", filepath.Join(dir, "jobs")},
			map[string]any{"mode": "reference", "jobs": 2.0, "queue_mean_s": 0.0,
				"transfer_s": 640.0, "load_wait_s": 590.0, "reused": 1.0}},
		"a trace": {[]string{"--cluster", "2x20", "--workload", filepath.Join(dir, "jobs.swf"), "--warm-up", "50s"},
			map[string]any{"mode": "paper", "jobs": 2.0, "transfer_s": 0.0, "load_wait_s": 590.0, "reused": 2.0}},
		"its jobs of a while": {[]string{"--cluster", "2x20", "--workload",
			filepath.Join(dir, "jobs.swf"), "--warm-up", "10s", "--evaluate", "1m"},
			map[string]any{"jobs": 1.0, "load_wait_s": 590.0, "reused": 1.0}},
		"faster links": {[]string{"--cluster", "2x20", "--workload", filepath.Join(dir, "jobs.swf"), "--bandwidth", "1", "--memory", "256"},
			map[string]any{"jobs": 3.0, "transfer_s": 128.0, "load_wait_s": 78.0, "reused": 2.0}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := aucsched(t, "", append([]string{"simulate", "--json", "--policy", "fcfs,lea-bf"}, c.args...)...)
			require.Zero(t, code, errs)
			d := json.NewDecoder(strings.NewReader(out))
			for _, policy := range []string{"fcfs", "lea-bf"} {
				got := map[string]any{}
				require.NoError(t, d.Decode(&got))
				require.Equal(t, policy, got["policy"])
				for key, want := range c.want {
					require.Equal(t, want, got[key], "%s %s", policy, key)
				}
			}
		})
	}
	_, table, _ := aucsched(t, "", "simulate", "--policy", "lem", "--cluster",
		filepath.Join(dir, "cluster"), "--workload", filepath.Join(dir, "jobs"))
	require.Regexp(t, `(?m)^files reused +2$`, table)
	after := strings.Replace(localitySWF, "-1 -1 -1 -1\n3", "-1 -1 1 -1\n3", 1)
	code, _, errs := aucsched(t, after, "simulate", "--policy", "lem", "--cluster", "2x20", "--workload", "-")
	require.Zero(t, code, errs)
	require.Contains(t, errs, "1 job of the trace changed: waits for its preceding job in the trace")
}

func TestSimulateLocalityFaults(t *testing.T) {
	race.Slow(t)
	dir := localityFiles(t)
	jobs, swf, bad := filepath.Join(dir, "jobs"), filepath.Join(dir, "jobs.swf"), filepath.Join(dir, "bad")
	for args, want := range map[string]string{
		"--policy fcfs,backfill --cluster 2x20 --workload " + jobs:        `--policy: "backfill" does not go with fcfs, fcfs-bf`,
		"--policy fcfs,fcfs --cluster 2x20 --workload " + jobs:            `--policy: "fcfs" is given twice`,
		"--policy fcfs --slurm-bids --cluster 2x20 --workload " + jobs:    `--slurm-bids: does not go with policy fcfs`,
		"--policy backfill --mode paper --cluster 2x20 --workload " + swf: `--mode: goes with the policies fcfs`,
		"--policy fcfs --mode mad --cluster 2x20 --workload " + jobs:      `--mode: "mad" is unknown; known are paper, reference`,
		"--policy fcfs --cluster 2x20":                                    `--workload is missing`,
		"--policy fcfs --cluster 2x20 --workload " + bad:                  `bad:1: field delay: "soon": must be a whole number`,
		"--policy fcfs --cluster 2x5 --workload " + jobs:                  `job 1: cores: 10: no node has more than 5`,
		"--policy fcfs --cluster 2x20 --rate 2 --workload " + jobs:        `--rate: the workload's file says itself`,
		"--policy fcfs --cluster 2x20,2x10 --workload " + swf:             `--cluster: traces need nodes of equal size`,
		"--policy fcfs --cluster 2x20 --warm-up 2h --workload " + swf:     `no job of class 1`,
		"--policy fcfs --cluster 2x20 --memory 0 --workload " + swf:       `memory: 0: must be above 0`,
		"--policy fcfs --cluster " + dir +
			"/cluster --workload gen:esp --dry-run": `--workload: generated workloads need a cluster like 486x20`,
	} {
		t.Run(want, func(t *testing.T) {
			code, _, errs := aucsched(t, "", append([]string{"simulate"}, strings.Fields(args)...)...)
			require.Equal(t, cli.ExitUsage, code)
			require.Contains(t, errs, want)
			require.Equal(t, 1, strings.Count(errs, "\n"), "one line")
		})
	}
}

// The page shows the runs side by side, and job by job.
func TestSimulateLocalityPage(t *testing.T) {
	dir := localityFiles(t)
	html := filepath.Join(dir, "page.html")
	code, _, errs := aucsched(t, "", "simulate", "--policy", "fcfs,lead", "--cluster",
		filepath.Join(dir, "cluster"), "--workload", filepath.Join(dir, "jobs"), "--html", html)
	require.Zero(t, code, errs)
	page, err := os.ReadFile(html)
	require.NoError(t, err)
	for _, want := range []string{"fcfs, lead on jobs", "--policy=fcfs,lead", "Job by job", `"Loading":[`, "2 nodes of 20 cores"} {
		require.Contains(t, string(page), want)
	}
	code, _, errs = aucsched(t, "", "simulate", "--policy", "fcfs", "--cluster",
		filepath.Join(dir, "cluster"), "--workload", filepath.Join(dir, "jobs"),
		"--html", filepath.Join(dir, "absent", "page.html"))
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, errs, "--html: ")
}

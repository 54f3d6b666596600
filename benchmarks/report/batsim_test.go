// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func TestJobsCSV(t *testing.T) {
	nodes := []nodeset.Capacity{{Cores: 4, GPUs: 1}, {Cores: 4}, {Cores: 4, GPUs: 1}}
	p, _ := simulate(t, nodes, []workload.Job{
		jobOf("a", bids.Request{Cores: 2, MinNodes: 2, MaxNodes: 2, MinGPUs: 1}, 10, 30, 60),
		jobOf(`b,"x`, bids.Request{Cores: 12}, 11, 90, 60),
		jobOf("c", bids.Request{Cores: 13}, 11, 90, 60),
	})
	var out strings.Builder
	require.NoError(t, WriteJobsCSV(&out, p.Workload, &p.Runs[0]))
	require.Equal(t, `job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,`+
		`success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,`+
		`stretch,allocated_resources,consumed_energy,metadata
a,test,delay30,10,2,60,1,COMPLETED_SUCCESSFULLY,12,30,42,2,32,1.066667,0 2,-1,cores=2 gpus=2 class=S
"b,""x",test,delay90,11,3,60,0,COMPLETED_WALLTIME_REACHED,42,60,102,31,91,1.516667,0-2,-1,cores=12 gpus=0 class=S
c,test,delay90,11,1,60,0,REJECTED,,,,,,,,,"can never run: needs 13 cores, its nodes have at most 12"
`, out.String())
}

// nodesOf reads Batsim's notation, as a dumb twin of intervals.
func nodesOf(t require.TestingT, text string) []int {
	var out []int
	for part := range strings.FieldsSeq(text) {
		first, last, ok := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		require.NoError(t, err)
		b := a
		if ok {
			b, err = strconv.Atoi(last)
			require.NoError(t, err)
			require.Greater(t, b, a)
		}
		for ; a <= b; a++ {
			out = append(out, a)
		}
	}
	return out
}

// Read back, the table has every job of the workload once, with its record.
func TestJobsCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		p, records := simulate(t, nodes, jobs)
		var out strings.Builder
		require.NoError(t, WriteJobsCSV(&out, p.Workload, &p.Runs[0]))
		rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		require.NoError(t, err)
		require.Equal(t, batsimColumns, rows[0])
		seen := map[string]bool{}
		for _, row := range rows[1:] {
			require.False(t, seen[row[0]])
			seen[row[0]] = true
			r, ok := records[row[0]]
			require.Equal(t, !ok, row[7] == "REJECTED")
			if !ok {
				continue
			}
			require.Equal(t, []string{fmt.Sprint(r.Submit), fmt.Sprint(r.Start),
				fmt.Sprint(r.End), fmt.Sprint(r.Start - r.Submit), fmt.Sprint(r.End - r.Submit)},
				[]string{row[3], row[8], row[10], row[11], row[12]})
			var want []int
			for _, s := range r.Segs {
				for n := s.First; n <= s.Last; n++ {
					want = append(want, int(n))
				}
			}
			require.Equal(t, want, nodesOf(t, row[14]))
		}
		require.Len(t, seen, len(jobs))
	})
}

// Neighbouring segments share an interval however many cores they give.
func TestIntervals(t *testing.T) {
	require.Equal(t, "0-3 7", intervals([]nodeset.Segment{{First: 0, Last: 1, Cores: 2},
		{First: 2, Last: 3, Cores: 1}, {First: 7, Last: 7, Cores: 1}}))
}

// What Evalys's JobSet.from_csv looks for is there: its columns, and sets of resources that its
// ProcSet.from_str takes, none for a job that did not run.
func TestEvalysReadsJobs(t *testing.T) {
	columns := []string{"job_id", "workload_name", "submission_time", "requested_number_of_resources", "requested_time", "success",
		"starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch", "allocated_resources"}
	p, _ := simulate(t, []nodeset.Capacity{{Cores: 4}, {Cores: 4}, {Cores: 4}, {Cores: 4}}, []workload.Job{
		jobOf("a", bids.Request{Cores: 4}, 0, 90, 90), jobOf("b", bids.Request{Cores: 12}, 0, 30, 60),
		jobOf("c", bids.Request{Cores: 99}, 1, 1, 1)})
	var out strings.Builder
	require.NoError(t, WriteJobsCSV(&out, p.Workload, &p.Runs[0]))
	rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	require.NoError(t, err)
	at := make(map[string]int)
	for i, name := range rows[0] {
		at[name] = i
	}
	for _, name := range columns {
		require.Contains(t, at, name)
	}
	for _, row := range rows[1:] {
		set := row[at["allocated_resources"]]
		require.Regexp(t, `^(\d+(-\d+)?( \d+(-\d+)?)*)?$`, set)
		require.Equal(t, set == "", row[at["success"]] == "0")
		if set == "" {
			continue
		}
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(row[at[name]], 64)
			require.NoError(t, err)
			return v
		}
		require.Equal(t, number("submission_time")+number("waiting_time"), number("starting_time"))
		require.Equal(t, number("starting_time")+number("execution_time"), number("finish_time"))
		require.InDelta(t, number("turnaround_time")/number("execution_time"), number("stretch"), 1e-6)
	}
}

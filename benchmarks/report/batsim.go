// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// batsimColumns are those of Batsim's jobs.csv, in the order in which Batsim writes them.
var batsimColumns = []string{"job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources",
	"requested_time", "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time",
	"turnaround_time", "stretch", "allocated_resources", "consumed_energy", "metadata"}

// WriteJobsCSV writes the jobs of a run as Batsim's PREFIX_jobs.csv, so that tools
// made for it can read them: those that ran by start, then those that did not, as
// REJECTED and with empty fields.
//
// A resource is a node, numbered from 0. A job that names no number of nodes counts
// as asking for those that it got. The profile is delay and the job's run time in
// seconds, with the fewest GPUs. A job that the simulator ended at its limit is
// COMPLETED_WALLTIME_REACHED; one that the reader of a trace cut to its limit is
// COMPLETED_SUCCESSFULLY. No energy is known: -1. The metadata are cores and GPUs in
// all and the class of the bid, or why the job did not run.
func WriteJobsCSV(out io.Writer, w *workload.Workload, r *Run) error {
	c := csv.NewWriter(out)
	if err := c.Write(batsimColumns); err != nil {
		return err
	}
	name := filepath.Base(w.Name)
	order, _ := r.Log.numbered(w.Jobs)
	for _, j := range order {
		if err := c.Write(ranRow(name, j, r.Log.segments(j))); err != nil {
			return err
		}
	}
	byID := make(map[string]*workload.Job, len(w.Jobs))
	for i := range w.Jobs {
		byID[w.Jobs[i].ID] = &w.Jobs[i]
	}
	for _, u := range r.Result.Unrun {
		j, ok := byID[u.ID]
		if !ok {
			return fmt.Errorf("job %q did not run and is not in the workload", u.ID)
		}
		row := append(asked(name, j, max(j.MinNodes, 1)), "0", "REJECTED", "", "", "", "", "", "", "", "", u.Reason)
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func ranRow(name string, j *ran, segs []nodeset.Segment) []string {
	nodes := nodeset.Nodes(segs)
	if j.job.MinNodes > 0 {
		nodes = j.job.MinNodes
	}
	runs, wait := j.end-j.start, j.start-j.submit
	success, state := "1", "COMPLETED_SUCCESSFULLY"
	if j.job.Duration > j.job.TimeLimit && runs == j.job.TimeLimit {
		success, state = "0", "COMPLETED_WALLTIME_REACHED"
	}
	metadata := fmt.Sprintf("cores=%d gpus=%d", nodeset.Cores(segs), nodeset.GPUs(segs))
	if j.class != 0 {
		metadata += " class=" + j.class.String()
	}
	return append(asked(name, j.job, nodes), success, state, decimal(j.start), decimal(runs), decimal(j.end), decimal(wait),
		decimal(wait+runs), strconv.FormatFloat(float64(wait+runs)/float64(runs), 'f', 6, 64), intervals(segs), "-1", metadata)
}

// asked are the columns that tell what was asked for.
func asked(name string, j *workload.Job, nodes int) []string {
	return []string{j.ID, name, "delay" + decimal(j.Duration), decimal(j.Submit), strconv.Itoa(nodes), decimal(j.TimeLimit)}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// intervals are the nodes in Batsim's notation: 0-3 7.
func intervals(segs []nodeset.Segment) string {
	var out []byte
	for i := 0; i < len(segs); {
		first, last := segs[i].First, segs[i].Last
		for i++; i < len(segs) && segs[i].First == last+1; i++ {
			last = segs[i].Last
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = strconv.AppendInt(out, int64(first), 10)
		if last > first {
			out = strconv.AppendInt(append(out, '-'), int64(last), 10)
		}
	}
	return string(out)
}

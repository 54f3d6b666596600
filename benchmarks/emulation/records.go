// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// timeFormat is that of jobcomp/filetxt, in slurmctld's time zone.
const timeFormat = "2006-01-02T15:04:05"

// parseTime is a time of the completion log in seconds since origin.
func parseTime(text string, origin time.Time) (int64, error) {
	t, err := time.ParseInLocation(timeFormat, text, time.UTC)
	if err != nil {
		return 0, err
	}
	return t.Unix() - origin.Unix(), nil
}

// record is a job's life, in the workload's time: the completion log says when and where,
// had what it had of each node.
func record(e *slurmtest.Ended, had *slurmtest.Job, jobs []workload.Job, origin time.Time) (r sim.Record, i int, err error) {
	i, err = jobNumber(e.Name, len(jobs))
	if err != nil {
		return r, i, err
	}
	r.Job, r.Submit = &jobs[i], jobs[i].Submit // so that a late submission counts as waiting
	if r.Start, err = parseTime(e.Start, origin); err != nil {
		return r, i, fmt.Errorf("job %s: StartTime: %w", e.Name, err)
	}
	if r.End, err = parseTime(e.End, origin); err != nil {
		return r, i, fmt.Errorf("job %s: EndTime: %w", e.Name, err)
	}
	if r.Segs, err = segments(had); err != nil {
		return r, i, fmt.Errorf("job %s: %w", e.Name, err)
	}
	names, err := hostlist.Expand(e.NodeList)
	if err != nil || len(names) != nodeset.Nodes(r.Segs) {
		return r, i, fmt.Errorf("job %s: the completion log says %s (%v), and scontrol %v", e.Name, e.NodeList, err, r.Segs)
	}
	return r, i, nil
}

// segments are what a job had of nodes called n0001 upwards. Of a job that has ended
// Slurm still knows which cores it had, but of GPUs only how many in all: they are taken to
// lie evenly, as they do unless the job asked for something else.
func segments(had *slurmtest.Job) (segs []nodeset.Segment, err error) {
	if len(had.Nodes) == 0 {
		return nil, errors.New("scontrol does not say what it had")
	}
	gpus, err := gpusOf(had.Fields["JOB_GRES"])
	if err != nil {
		return nil, err
	}
	if gpus%len(had.Nodes) != 0 {
		return nil, fmt.Errorf("%d GPUs on %d nodes: must be as many on each", gpus, len(had.Nodes))
	}
	var each []nodeset.Segment
	for _, s := range had.Nodes {
		n, err := nodeIndex(s.Node)
		if err != nil {
			return nil, err
		}
		each = append(each, nodeset.Segment{First: int32(n), Last: int32(n),
			Cores: uint16(len(s.CPUs)), GPUs: uint8(gpus / len(had.Nodes))})
	}
	slices.SortFunc(each, func(a, b nodeset.Segment) int { return cmp.Compare(a.First, b.First) })
	for _, s := range each {
		segs = nodeset.Append(segs, s)
	}
	return segs, nil
}

// gpusOf reads a job's generic resources: "gpu:4", "gpu:fast:4" or "(null)".
func gpusOf(text string) (int, error) {
	if text == "" || text == "(null)" {
		return 0, nil
	}
	name, rest, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(rest[strings.LastIndexByte(rest, ':')+1:], 10, 31)
	if name != "gpu" || strings.Contains(rest, ",") || err != nil {
		return 0, fmt.Errorf("JOB_GRES=%s: must be gpu:N", text)
	}
	return int(n), nil
}

func nodeIndex(name string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "n"))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("node %q is not of the machine", name)
	}
	return n - 1, nil
}

// stay is what a job had of a node, and when.
type stay struct {
	job        string
	node       int
	cpus       []int
	gpus       int
	start, end int64
}

// staysOf are a job's stays.
func staysOf(had *slurmtest.Job, r *sim.Record) (out []stay, err error) {
	gpus := nodeset.GPUs(r.Segs) / len(had.Nodes)
	for _, share := range had.Nodes {
		n, err := nodeIndex(share.Node)
		if err != nil {
			return nil, err
		}
		out = append(out, stay{r.Job.ID, n, share.CPUs, gpus, r.Start, r.End})
	}
	return out, nil
}

// checkStays looks for a core that two jobs had at once, or more GPUs at once than a node
// has, or what is not there, and says what the first one is.
func checkStays(machine []nodeset.Capacity, stays []stay) error {
	slices.SortStableFunc(stays, func(a, b stay) int { return cmp.Compare(a.start, b.start) })
	on := make([][]*stay, len(machine)) // those that have not ended when the next one starts
	for i := range stays {
		s := &stays[i]
		if s.node >= len(machine) {
			return fmt.Errorf("job %s ran on node %d of %d", s.job, s.node+1, len(machine))
		}
		still := slices.DeleteFunc(on[s.node], func(o *stay) bool { return o.end <= s.start })
		gpus := s.gpus
		for _, o := range still {
			gpus += o.gpus
			for _, c := range s.cpus {
				if slices.Contains(o.cpus, c) {
					return fmt.Errorf("jobs %s and %s both had core %d of node %d in second %d", o.job, s.job, c, s.node+1, s.start)
				}
			}
		}
		if has := int(machine[s.node].GPUs); gpus > has {
			return fmt.Errorf("jobs had %d GPUs of the %d of node %d in second %d, when %s started", gpus, has, s.node+1, s.start, s.job)
		}
		for _, c := range s.cpus {
			if c >= int(machine[s.node].Cores) {
				return fmt.Errorf("job %s had core %d of node %d, which has %d", s.job, c, s.node+1, machine[s.node].Cores)
			}
		}
		on[s.node] = append(still, s)
	}
	return nil
}

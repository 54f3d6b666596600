package emulation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/hostlist"
	"github.com/aucsched/aucsched/nodeset"
	"github.com/aucsched/aucsched/sim"
	"github.com/aucsched/aucsched/slurmtest"
	"github.com/aucsched/aucsched/workload"
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
// shares what it had of each node.
func record(e *slurmtest.Ended, shares []slurmtest.NodeShare, jobs []workload.Job, origin time.Time) (r sim.Record, err error) {
	i, err := jobNumber(e.Name, len(jobs))
	if err != nil {
		return r, err
	}
	r.Job, r.Submit = &jobs[i], jobs[i].Submit // so that a late submission counts as waiting
	if r.Start, err = parseTime(e.Start, origin); err != nil {
		return r, fmt.Errorf("job %s: StartTime: %w", e.Name, err)
	}
	if r.End, err = parseTime(e.End, origin); err != nil {
		return r, fmt.Errorf("job %s: EndTime: %w", e.Name, err)
	}
	if r.Segs, err = segments(shares); err != nil {
		return r, fmt.Errorf("job %s: %w", e.Name, err)
	}
	names, err := hostlist.Expand(e.NodeList)
	if err != nil || len(names) != nodeset.Nodes(r.Segs) {
		return r, fmt.Errorf("job %s: the completion log says %s (%v), and scontrol %v", e.Name, e.NodeList, err, r.Segs)
	}
	return r, nil
}

// segments are shares of nodes called n0001 upwards.
func segments(shares []slurmtest.NodeShare) (segs []nodeset.Segment, err error) {
	var each []nodeset.Segment
	for _, s := range shares {
		n, err := nodeIndex(s.Node)
		if err != nil {
			return nil, err
		}
		each = append(each, nodeset.Segment{First: int32(n), Last: int32(n), Cores: uint16(len(s.CPUs)), GPUs: uint8(s.GPUCount)})
	}
	slices.SortFunc(each, func(a, b nodeset.Segment) int { return cmp.Compare(a.First, b.First) })
	for _, s := range each {
		segs = nodeset.Append(segs, s)
	}
	return segs, nil
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
	share      *slurmtest.NodeShare
	start, end int64
}

// checkStays looks for a core or a GPU that two jobs had at once, or that is not there, and
// says what the first one is.
func checkStays(machine []nodeset.Capacity, stays []stay) error {
	slices.SortFunc(stays, func(a, b stay) int { return cmp.Compare(a.start, b.start) })
	last := make(map[string]*stay) // by node and device: who had it last
	for i := range stays {
		s := &stays[i]
		n, err := nodeIndex(s.share.Node)
		if err != nil || n >= len(machine) {
			return fmt.Errorf("job %s ran on %s, which is not of the machine", s.job, s.share.Node)
		}
		take := func(what string, k, there int) error {
			device := fmt.Sprintf("%s %d of %s", what, k, s.share.Node)
			if k >= there {
				return fmt.Errorf("job %s had %s, which has %d", s.job, device, there)
			}
			if l := last[device]; l != nil && s.start < l.end {
				return fmt.Errorf("job %s had %s from second %d on, job %s until second %d", s.job, device, s.start, l.job, l.end)
			}
			last[device] = s
			return nil
		}
		for _, k := range s.share.CPUs {
			if err := take("core", k, int(machine[n].Cores)); err != nil {
				return err
			}
		}
		for _, k := range s.share.GPUs {
			if err := take("GPU", k, int(machine[n].GPUs)); err != nil {
				return err
			}
		}
	}
	return nil
}

// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
)

// writeSWF writes w in the Standard Workload Format, version 2.2, submission times
// on the trace's own clock, with w's header. ReadSWF then gives the same Submit,
// Duration, TimeLimit, memory a core and number of cores of every job, in the same order.
//
// If a job asks for a fixed number of nodes with the same number of cores on each,
// every line gets the fields 19 to 21 that Metacentrum's files have, the last one
// being the PBS node specification (see [SWFOptions].NodeSpec). What the
// format has no place for is lost: other ranges of nodes, ranges of GPUs
// (the fewest are written), memory a node, contiguity, eligible nodes, priorities; and IDs that
// are not whole numbers become numbers from 1. The header says how many jobs lost
// anything but a priority.
func writeSWF(w io.Writer, wl *workload.Workload) error {
	out := bufio.NewWriter(w)
	numbered := numericIDs(wl.Jobs)
	writeHeader(out, wl, numbered)
	specs := slices.ContainsFunc(wl.Jobs, func(j workload.Job) bool { return specOf(&j.Request) != "" })
	for i := range wl.Jobs {
		j := &wl.Jobs[i]
		id := strconv.Itoa(i + 1)
		if numbered {
			id = j.ID
		}
		memory := int64(-1)
		if j.Memory.PerCore > 0 {
			memory = j.Memory.PerCore * 1024
		}
		fmt.Fprintf(out, "%s %d -1 %d -1 -1 -1 %d %d %d -1 -1 -1 -1 -1 -1 -1 -1",
			id, wl.Start+j.Submit, j.Duration, totalCores(&j.Request), j.TimeLimit, memory)
		if specs {
			spec := specOf(&j.Request)
			if spec == "" {
				spec = "-1"
			}
			fmt.Fprintf(out, " -1 -1 %s", spec)
		}
		fmt.Fprintln(out)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing %s: %w", wl.Name, err)
	}
	return nil
}

// writtenHere are the labels that writeHeader has values of its own for.
var writtenHere = []string{"Version", "MaxJobs", "MaxRecords", "Lost", "Renumbered"}

func writeHeader(out io.Writer, wl *workload.Workload, numbered bool) {
	fmt.Fprintf(out, "; Version: 2.2\n; MaxJobs: %d\n; MaxRecords: %d\n", len(wl.Jobs), len(wl.Jobs))
	for _, label := range slices.Sorted(maps.Keys(wl.Header)) {
		if slices.Contains(writtenHere, label) {
			continue
		}
		for _, v := range wl.Header[label] {
			fmt.Fprintf(out, "; %s: %s\n", label, v)
		}
	}
	lost := 0
	for i := range wl.Jobs {
		if loses(&wl.Jobs[i].Request) || wl.Jobs[i].Memory.PerNode > 0 {
			lost++
		}
	}
	if lost > 0 {
		fmt.Fprintf(out, "; Lost: %d jobs asked for more than SWF can say\n", lost)
	}
	if !numbered {
		fmt.Fprintf(out, "; Renumbered: job IDs were not numbers\n")
	}
}

// numericIDs reports whether every ID is how ReadSWF would write a job number.
func numericIDs(jobs []workload.Job) bool {
	return !slices.ContainsFunc(jobs, func(j workload.Job) bool {
		n, err := strconv.ParseInt(j.ID, 10, 64)
		return err != nil || n < 0 || n >= 1<<53 || strconv.FormatInt(n, 10) != j.ID
	})
}

// fixedNodes is the number of nodes of a request for a fixed number of them with
// the same number of cores on each, otherwise 0.
func fixedNodes(q *bids.Request) int {
	n := max(q.MinNodes, 1)
	switch cores := totalCores(q); {
	case q.TasksPerNode > 0 && cores%q.TasksPerNode == 0 &&
		cores/q.TasksPerNode >= n && (q.MaxNodes == 0 || cores/q.TasksPerNode <= q.MaxNodes):
		n = cores / q.TasksPerNode
		if q.Cores == 0 && q.MaxNodes > n {
			return 0
		}
		return n
	case n == 1 && q.MaxNodes == 1:
		return 1
	}
	return 0
}

// specOf is the PBS node specification of a request, empty if it has none.
func specOf(q *bids.Request) string {
	n := fixedNodes(q)
	if n == 0 {
		return ""
	}
	s := fmt.Sprintf("%d:ppn=%d", n, totalCores(q)/n)
	if q.MinGPUs > 0 {
		s += fmt.Sprintf(":gpus=%d", q.MinGPUs)
	}
	return s
}

// loses reports whether a request asks for something that is not written.
func loses(q *bids.Request) bool {
	if q.Contiguous || q.Eligible != nil || q.MaxGPUs > q.MinGPUs {
		return true
	}
	anywhere := q.MinNodes <= 1 && q.MaxNodes == 0 && q.TasksPerNode == 0 && q.MinGPUs == 0
	return !anywhere && fixedNodes(q) == 0
}

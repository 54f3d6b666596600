// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// SWFOptions choose between readings of an SWF file. The zero value is what Slurm
// would make of it.
type SWFOptions struct {
	// ExtendLimit says what becomes of a job that ran longer than its time limit,
	// as logs show where an administrator extended it or the kill came late.
	// Slurm kills jobs at the limit, so by default the duration is cut to it;
	// true keeps the work done, and the limit becomes the run time.
	ExtendLimit bool
	// NodeSpec reads the request for nodes in field 21, where the file has one, as
	// Metacentrum's do (PBS: 2:ppn=64). By default, and for jobs without one,
	// a job asks for processors only, wherever they are.
	NodeSpec bool
	// MemoryInBytes reads the requested memory as bytes of the whole job, as Metacentrum's
	// files have it. The format says KiB a processor.
	MemoryInBytes bool
	// First has reading end with so many jobs, as the format has jobs in the order of
	// submission; 0: all are read.
	First int
}

// Reasons for which ReadSWF adjusts jobs.
const (
	adjustNoRequest = "no requested time: the run time is taken as the limit"
	adjustNoAfter   = "its preceding job is not there: it waits for none"
	adjustSelf      = "preceding jobs left out: a job names itself, so the field is not usable"
	adjustAlone     = "waits for its preceding job in the trace: here it comes when it was submitted"
)

// Reasons for which ReadSWF skips jobs.
const (
	skipPartial = "part of an execution (status 2, 3, 4)"
)

// ReadSWF reads a file in the Standard Workload Format from r, unpacking it if it
// is in gzip's format; name is what the workload and errors call it. Fields after
// the 18th are allowed. A job has
//
//   - as ID the job number;
//   - as Cores the requested processors (field 8), or the allocated ones (5);
//   - as TimeLimit the requested time (9), or the run time (4), at least 1 s;
//   - as Duration the run time, rounded up, at least 1 s; see also
//     [SWFOptions].ExtendLimit;
//   - as Memory the requested memory (10), rounded up to whole MiB a core; see also
//     [SWFOptions].MemoryInBytes;
//   - as After the preceding job (17), and as Think the think time (18), rounded up, where that job
//     is in the file too; in no job of the file if one names itself, as then the field is filled in
//     with something else;
//   - as User the user's number, empty if unknown;
//   - as Priority Slurm's basic one: see [AssignBasicPriorities].
//
// Left out and counted are jobs without a known submission or run time, without
// a processor, cancelled before they started (status 5 without run time), and
// the lines that tell of parts of an execution, whose job has a line of its own.
// A job number on two lines is an error, as is a file without a job.
func ReadSWF(r io.Reader, name string, o SWFOptions) (*workload.Workload, error) {
	s := NewSWFScanner(r, name)
	b := workload.NewBuilder(name)
	for s.Next() {
		if err := addSWF(b, s, o); err != nil {
			return nil, err
		}
		if len(b.W.Jobs) == o.First && o.First > 0 {
			break
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	w, err := b.Finish()
	if err != nil {
		return nil, err
	}
	w.Header = s.Header()
	workload.AssignBasicPriorities(w.Jobs)
	settleAfter(w, b.NoAfter)
	return w, nil
}

// MachineOf is the one that the header of an SWF file tells of, in the form of [ParseMachine]:
// MaxNodes nodes with MaxProcs cores among them, or nodes of one core each. Both are 0 where the
// header does not say how many processors there are.
func MachineOf(h workload.Header) (spec string, cores int64) {
	number := func(label string) int64 {
		text, _, _ := strings.Cut(strings.TrimSpace(append(h[label], "")[0]), " ")
		n, err := workload.ParseCount(text)
		if text == "" || err != nil {
			return 0
		}
		return n
	}
	cores, nodes := number("MaxProcs"), number("MaxNodes")
	switch {
	case cores == 0:
		cores = nodes
	case nodes == 0 || nodes > cores:
		nodes = cores
	}
	if cores == 0 {
		return "", 0
	}
	each, more := cores/nodes, cores%nodes
	if more == 0 {
		return fmt.Sprintf("%dx%d", nodes, each), cores
	}
	return fmt.Sprintf("%dx%d,%dx%d", more, each+1, nodes-more, each), cores
}

// Independent has jobs wait for no others, and counts those that did in Adjusted: it is for
// simulations in which jobs come at the times of their submission alone.
func Independent(w *workload.Workload) { settleAfter(w, adjustAlone) }

// settleAfter has jobs wait for no job that is not there; for none at all if there is a reason.
func settleAfter(w *workload.Workload, reason string) {
	ids := make(map[string]bool)
	for i := range w.Jobs {
		if w.Jobs[i].After != "" {
			ids[w.Jobs[i].After] = false
		}
	}
	for i := range w.Jobs {
		if _, named := ids[w.Jobs[i].ID]; named {
			ids[w.Jobs[i].ID] = true
		}
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if j.After == "" || ids[j.After] && reason == "" {
			continue
		}
		j.After, j.Think = "", 0
		w.Adjusted = workload.Count(w.Adjusted, cmp.Or(reason, adjustNoAfter))
	}
}

// Keep has only the first n jobs, in the order of submission, and those of them wait for no others.
func Keep(w *workload.Workload, n int) {
	if n < len(w.Jobs) {
		w.Jobs = w.Jobs[:n:n]
		settleAfter(w, "")
	}
}

func addSWF(b *workload.Builder, s *SWFScanner, o SWFOptions) error {
	r := &s.rec
	if r.Status >= StatusPartial && r.Status <= StatusLastFailed {
		b.Skip(skipPartial)
		return nil
	}
	id := strconv.FormatInt(r.JobNumber, 10)
	if err := b.See(id, s.Line()); err != nil {
		return s.lines.FieldError(swfField(0), id, err)
	}
	if reason := swfSkip(r); reason != "" {
		b.Skip(reason)
		return nil
	}
	if i, v := swfBeyond(r); i >= 0 {
		return s.lines.FieldError(swfField(i), strconv.FormatFloat(v, 'f', -1, 64), workload.ErrTooLarge)
	}
	j := workload.Job{Submit: int64(math.Floor(r.Submit)), Duration: int64(math.Ceil(r.RunTime))}
	j.ID = id
	if r.User >= 0 {
		j.User = strconv.FormatInt(r.User, 10)
	}
	j.Cores = int(swfProcs(r))
	j.TimeLimit = j.Duration
	if r.RequestedTime > 0 {
		j.TimeLimit = int64(math.Ceil(r.RequestedTime))
	} else {
		b.Adjust(adjustNoRequest)
	}
	if r.PrecedingJob == r.JobNumber {
		b.NoAfter = adjustSelf
	}
	if r.PrecedingJob > 0 {
		j.After, j.Think = strconv.FormatInt(r.PrecedingJob, 10), int64(math.Ceil(max(r.ThinkTime, 0)))
	}
	if o.NodeSpec && len(r.Extra) > specField && r.Extra[specField] != "-1" {
		applyNodeSpec(b, &j.Request, r.Extra[specField])
	}
	if j.Memory.PerCore = mebibytes(r.RequestedMemory); o.MemoryInBytes && j.Memory.PerCore > 0 {
		j.Memory = workload.DividedMemory(mebibytes(r.RequestedMemory/1024), &j.Request)
	}
	if err := b.Add(j, o.ExtendLimit); err != nil {
		return workload.RequestError(s.lines, err)
	}
	return nil
}

func swfProcs(r *SWFRecord) int64 {
	if r.RequestedProcs > 0 {
		return r.RequestedProcs
	}
	return r.AllocatedProcs
}

// swfSkip says why a record is no job to replay, or nothing.
func swfSkip(r *SWFRecord) string {
	switch {
	case r.Status == StatusCancelled && r.RunTime <= 0:
		return workload.SkipCancelled
	case r.RunTime < 0:
		return workload.SkipNoRun
	case r.Submit < 0:
		return workload.SkipNoSubmit
	case swfProcs(r) <= 0:
		return workload.SkipNoProcs
	}
	return ""
}

// swfBeyond finds a field that is beyond the bounds of a workload; i is its
// index, or -1.
func swfBeyond(r *SWFRecord) (i int, v float64) {
	switch {
	case r.Submit > workload.MaxSeconds:
		return 1, r.Submit
	case r.RunTime > workload.MaxSeconds:
		return 3, r.RunTime
	case r.RequestedTime > workload.MaxSeconds:
		return 8, r.RequestedTime
	case r.ThinkTime > workload.MaxSeconds:
		return 17, r.ThinkTime
	case swfProcs(r) <= bids.MaxCores:
		return -1, 0
	case r.RequestedProcs > 0:
		return 7, float64(r.RequestedProcs)
	}
	return 4, float64(r.AllocatedProcs)
}

// mebibytes is an amount in KiB as whole MiB, rounded up, 0 for one that is not known. It is at
// most nodeset.MaxAmount, which no node has.
func mebibytes(kibibytes float64) int64 {
	return int64(min(max(math.Ceil(kibibytes/1024), 0), nodeset.MaxAmount))
}

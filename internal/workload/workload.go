// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Bounds of a workload; input beyond them is an error.
const (
	MaxJobs    = 1 << 22 // jobs of a workload
	MaxSeconds = 1 << 40 // every time and duration
)

// Workload is a list of jobs to replay.
type Workload struct {
	// Name says where the jobs come from: a file or a generator.
	Name string
	// Start is when the first job was submitted, in seconds on the trace's own
	// clock; Submit of every job counts from there.
	Start int64
	// Jobs are in the order of submission, and of the file where that is equal. IDs are unique.
	Jobs []Job
	// Header is what the file says of itself; nil for formats without a header.
	Header Header
	// Columns are the names of a table's columns, in lower case; nil for
	// formats that have no names.
	Columns map[string]bool
	// Skipped counts the jobs of the file that are not in Jobs, by reason.
	Skipped []Tally
	// Adjusted counts the jobs in Jobs that are not quite what the file says, by
	// what was done to them.
	Adjusted []Tally
}

// Tally is a number of jobs, and what happened to them in words.
type Tally struct {
	Reason string `json:"reason"`
	Jobs   int    `json:"jobs"`
}

// Priorities of jobs under Slurm's priority/basic plug-in: the first job submitted
// has the highest and each later one has 1 less.
const (
	firstPriority = 4294901759
	lastPriority  = 1
)

// AssignBasicPriorities gives jobs, which are in the order of submission, the priorities that
// Slurm's priority/basic gives: 4294901759, falling by 1 a job, never below 1.
func AssignBasicPriorities(jobs []Job) {
	for i := range jobs {
		jobs[i].Priority = basicPriority(int64(i))
	}
}

func basicPriority(i int64) int64 { return max(firstPriority-i, lastPriority) }

// Builder collects the jobs of a file into a Workload.
type Builder struct {
	W       Workload
	LineOf  map[string]int // of each job seen, kept or skipped
	outlive bool           // jobs may run longer than their time limit
	faults  map[string]int // by kind: the tally of rows that can't be read
	first   error          // of the first of them
	NoAfter string         // why no job waits for another, if so
}

// mostFaults is how many kinds of rows that can't be read are told apart.
const mostFaults = 20

func NewBuilder(name string) *Builder {
	return &Builder{W: Workload{Name: name}, LineOf: make(map[string]int)}
}

// See notes that line holds the job called id. Every job is seen once.
func (b *Builder) See(id string, line int) error {
	if first, ok := b.LineOf[id]; ok {
		return fmt.Errorf("the job is on line %d already", first)
	}
	if len(b.LineOf) == MaxJobs {
		return fmt.Errorf("more than %d jobs", MaxJobs)
	}
	b.LineOf[id] = line
	return nil
}

func (b *Builder) Skip(reason string)   { b.W.Skipped = Count(b.W.Skipped, reason) }
func (b *Builder) Adjust(reason string) { b.W.Adjusted = Count(b.W.Adjusted, reason) }

// unreadable skips a row with an error in it. The tally says of which kind that is, and where the
// first such row is.
func (b *Builder) unreadable(err error) {
	if b.first == nil {
		b.first = err
	}
	kind := err.Error()
	if in := (*InputError)(nil); errors.As(err, &in) {
		kind = in.Field + "|" + innermost(in.Err).Error()
	}
	at, ok := b.faults[kind]
	if !ok && len(b.faults) == mostFaults {
		b.Skip("can't be read for other reasons")
		return
	}
	if ok {
		b.W.Skipped[at].Jobs++
		return
	}
	if b.faults == nil {
		b.faults = map[string]int{}
	}
	b.faults[kind] = len(b.W.Skipped)
	b.W.Skipped = append(b.W.Skipped, Tally{"can't be read, the first as " + err.Error(), 1})
}

// innermost is the error that the others wrap.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// Count counts one more job for a reason. It may change t.
func Count(t []Tally, reason string) []Tally {
	for i := range t {
		if t[i].Reason == reason {
			t[i].Jobs++
			return t
		}
	}
	return append(t, Tally{reason, 1})
}

// Add takes a job whose Submit is on the trace's own clock. Its duration and limit
// are settled first: see settle.
func (b *Builder) Add(j Job, extendLimit bool) error {
	b.settle(&j, extendLimit)
	if err := j.Validate(); err != nil {
		return err
	}
	b.W.Jobs = append(b.W.Jobs, j)
	return nil
}

// settle makes Duration and TimeLimit at least 1, and agree with each other unless jobs may outlive
// their limits.
func (b *Builder) settle(j *Job, extendLimit bool) {
	if j.Duration < 1 {
		j.Duration = 1
		b.Adjust("ran for less than a second: taken as 1 s")
	}
	j.TimeLimit = max(j.TimeLimit, 1)
	if j.Duration <= j.TimeLimit || b.outlive {
		return
	}
	if extendLimit {
		j.TimeLimit = j.Duration
		b.Adjust("ran beyond its time limit: limit extended")
	} else {
		j.Duration = j.TimeLimit
		b.Adjust("ran beyond its time limit: cut to the limit")
	}
}

// Finish orders the jobs and makes their times relative to the first one.
func (b *Builder) Finish() (*Workload, error) {
	w := &b.W
	if len(w.Jobs) == 0 && b.first != nil {
		return nil, b.first
	}
	if len(w.Jobs) == 0 {
		return nil, &InputError{File: w.Name, Err: noJob(w.Skipped)}
	}
	slices.SortStableFunc(w.Jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	w.Start = w.Jobs[0].Submit
	for i := range w.Jobs {
		w.Jobs[i].Submit -= w.Start
		if w.Jobs[i].Leaves > 0 {
			w.Jobs[i].Leaves -= w.Start
		}
		if past := w.Jobs[i].Past; past != nil {
			past.Began -= w.Start
		}
	}
	return w, nil
}

func noJob(skipped []Tally) error {
	if len(skipped) == 0 {
		return errors.New("no job")
	}
	return fmt.Errorf("no job left: %d skipped as %q, and so on", skipped[0].Jobs, skipped[0].Reason)
}

// Header is what the comments at the top of an SWF file say: the values of each
// label in order ("MaxProcs", "UnixStartTime", several times "Partition", ...).
type Header map[string][]string

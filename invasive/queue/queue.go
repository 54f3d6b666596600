// SPDX-License-Identifier: BSD-3-Clause

package queue

import (
	"fmt"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// An Entry is a job with what the iHypervisor needn't know of it. Times count from some
// moment that never changes.
type Entry struct {
	Job *invasive.Job
	// Submitted is when the job came.
	Submitted time.Duration
	// Deadline is by when it should have ended; 0: there is none.
	Deadline time.Duration
}

// A Queue is the jobs that have been submitted and haven't ended. It is not
// safe for concurrent use.
type Queue struct {
	limit   int
	entries map[invasive.JobID]Entry
}

// New returns an empty Queue of at most limit jobs.
func New(limit int) *Queue {
	return &Queue{limit, make(map[invasive.JobID]Entry)}
}

// A FullError says that the queue has no room.
type FullError struct{ Limit int }

func (e *FullError) Error() string {
	return fmt.Sprintf("the queue is full: it has %d jobs, the most that it takes", e.Limit)
}

// A KnownError says that there is a job of that ID.
type KnownError struct{ ID invasive.JobID }

func (e *KnownError) Error() string { return fmt.Sprintf("job %d is in the queue already", e.ID) }

// Add takes a job in. The error is a *FullError, a *KnownError, or an *invasive.FieldError of a job
// that makes no sense.
func (q *Queue) Add(e Entry) error {
	if err := e.Job.Check(); err != nil {
		return err
	}
	if _, known := q.entries[e.Job.ID]; known {
		return &KnownError{e.Job.ID}
	}
	if len(q.entries) >= q.limit {
		return &FullError{q.limit}
	}
	q.entries[e.Job.ID] = e
	return nil
}

// Remove takes a job out, if it is there.
func (q *Queue) Remove(id invasive.JobID) { delete(q.entries, id) }

// Get returns a job's entry.
func (q *Queue) Get(id invasive.JobID) (Entry, bool) {
	e, ok := q.entries[id]
	return e, ok
}

// Entries appends the entries of jobs; one that the Queue doesn't know counts as submitted now.
func (q *Queue) Entries(to []Entry, jobs []*invasive.Job, now time.Duration) []Entry {
	for _, j := range jobs {
		e, ok := q.entries[j.ID]
		if !ok {
			e = Entry{Job: j, Submitted: now}
		}
		to = append(to, e)
	}
	return to
}

// Len is how many jobs there are.
func (q *Queue) Len() int { return len(q.entries) }

// Each calls f with every entry, in any order.
func (q *Queue) Each(f func(Entry)) {
	for _, e := range q.entries {
		f(e)
	}
}

// SetLimit changes the limit. Jobs beyond it stay.
func (q *Queue) SetLimit(limit int) { q.limit = limit }

// Full tells whether the next Add fails.
func (q *Queue) Full() bool { return len(q.entries) >= q.limit }

// SPDX-License-Identifier: BSD-3-Clause

package localitylog

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/locality"
)

// ReadWorkload reads the jobs of a workload from r, one a line. A line is
//
//	{ id: 1 subtime: 0 delay: 10 walltime: 60 cores: 20 user: u data: 1 data_size: 128.0
//	  workload: 1 start_time_from_history: 0 start_node_from_history: 1 }
//
// without the break. Times are whole seconds, delay is the running time, data the file, 0 for none,
// data_size its size in GB, and workload the [Class]. The two fields of history count for jobs of
// class Running only. Jobs but those must be in the order of submission. name is what errors call
// the file: they are [*workload.InputError].
func ReadWorkload(r io.Reader, name string) ([]locality.Job, error) {
	w := workloadReader{records: newRecords(r, name, workloadLabels), users: map[string]string{},
		jobOf: map[int64]int32{}, firstOf: map[int64]int32{}}
	for w.next() {
		w.add()
	}
	if w.err == nil && len(w.jobs) == 0 {
		w.line = 0
		w.fail("", "", errors.New("no job"))
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.jobs, nil
}

// Places of the fields that checks beyond one field name.
const (
	fieldID      = 0
	fieldSubmit  = 1
	fieldSize    = 7
	fieldHistory = 9
	fieldNode    = 10
)

// workloadReader collects the jobs of a file.
type workloadReader struct {
	*records
	jobs  []locality.Job
	lines []int32 // of jobs
	last  int64   // submission of the last job that is not of class Running
	// users has each name once: as part of its line it would keep all of that.
	users map[string]string
	// jobOf is each id's place in jobs, firstOf that of the first job of each file.
	jobOf, firstOf map[int64]int32
}

func (w *workloadReader) add() {
	j := locality.Job{
		ID:        w.whole(fieldID, 0, math.MaxInt32),
		Submit:    w.whole(fieldSubmit, 0, locality.MaxTime),
		Duration:  w.whole(2, 1, locality.MaxTime),
		WallTime:  w.whole(3, 1, locality.MaxTime),
		Cores:     int(w.whole(4, 1, locality.MaxCores)),
		User:      w.user(w.values[5]),
		File:      w.whole(6, 0, math.MaxInt32),
		FileSize:  w.real(fieldSize, false),
		Class:     locality.Class(w.whole(8, int64(locality.Running), int64(locality.Pressure))),
		Started:   w.whole(fieldHistory, -locality.MaxTime, locality.MaxTime),
		StartNode: int(w.whole(fieldNode, 0, math.MaxInt32)),
	}
	if w.err != nil {
		return
	}
	w.checkID(&j)
	w.checkFile(&j)
	if j.Class == locality.Running && j.StartNode < 1 {
		w.failField(fieldNode, errors.New("nodes of running jobs count from 1"))
	}
	if j.Class != locality.Running {
		if j.Submit < w.last {
			w.failField(fieldSubmit, fmt.Errorf("before the submission of an earlier job, at %d", w.last))
		}
		w.last = j.Submit
	}
	if len(w.jobs) == locality.MaxJobs {
		w.fail("", "", fmt.Errorf("more than %d jobs", locality.MaxJobs))
	}
	w.jobs, w.lines = append(w.jobs, j), append(w.lines, int32(w.line))
}

func (w *workloadReader) user(name string) string {
	kept, ok := w.users[name]
	if !ok {
		kept = strings.Clone(name)
		w.users[kept] = kept
	}
	return kept
}

func (w *workloadReader) checkID(j *locality.Job) {
	if place, ok := w.jobOf[j.ID]; ok {
		w.failField(fieldID, fmt.Errorf("the job is on line %d already", w.lines[place]))
	}
	w.jobOf[j.ID] = int32(len(w.jobs))
}

// checkFile finds a file with two sizes. Jobs without a file may say what they like.
func (w *workloadReader) checkFile(j *locality.Job) {
	if j.File == 0 {
		return
	}
	place, ok := w.firstOf[j.File]
	if !ok {
		w.firstOf[j.File] = int32(len(w.jobs))
	} else if size := w.jobs[place].FileSize; size != j.FileSize {
		w.failField(fieldSize, fmt.Errorf("file %d has %g GB on line %d", j.File, size, w.lines[place]))
	}
}

// WriteWorkload writes jobs in the format of [ReadWorkload]. A job without a user gets "-".
func WriteWorkload(w io.Writer, jobs []locality.Job) error {
	b := bufio.NewWriter(w)
	for i := range jobs {
		j := &jobs[i]
		fmt.Fprintf(b,
			"{ id: %d subtime: %d delay: %d walltime: %d cores: %d user: %s data: %d data_size: "+
				"%v workload: %d start_time_from_history: %d start_node_from_history: %d }\n",
			j.ID, j.Submit, j.Duration, j.WallTime, j.Cores, cmp.Or(j.User, "-"), j.File, j.FileSize, j.Class, j.Started, j.StartNode)
	}
	return b.Flush()
}

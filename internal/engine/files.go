// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"github.com/aucsched/aucsched/internal/residence"
	"github.com/aucsched/aucsched/nodeset"
)

// files are the input files that nodes hold, from cycle to cycle.
type files struct {
	state *residence.State
	masks residence.Masks
	nodes []residence.Node
	of    []uint64 // by job of the cycle: its file, or 0; empty where no job has any
	reads []Read   // of the jobs that take part
	ran   []Read   // of those that run
}

// FilesError says that what was to be loaded is no saved state, or a damaged one.
type FilesError struct{ Err error }

func (e *FilesError) Error() string { return "files: " + e.Err.Error() }

func (e *FilesError) Unwrap() error { return e.Err }

func (f *files) open(age int64) {
	if f.state == nil {
		f.state = residence.New(age)
	}
	f.state.SetAge(age)
}

// forget drops everything, as after a panic.
func (f *files) forget(age int64) { *f = files{state: residence.New(age)} }

// load notes what running jobs read and has jobs prefer nodes that hold their file, or that others
// will read it on. Without stores there is nothing to do, and what is known stays.
func (f *files) load(in *Input, s *snapshot) error {
	f.of = f.of[:0]
	if len(in.Stores) == 0 {
		if len(in.JobReads)+len(in.RunningReads) > 0 {
			return whole("stores", 0, "must be one for each node where jobs read files")
		}
		return nil
	}
	if len(in.Stores) != len(in.Nodes) {
		return whole("stores", len(in.Stores), "must be none, or one for each of the %d nodes", len(in.Nodes))
	}
	if most := max(len(in.JobReads), len(in.RunningReads)); most > MaxJobs {
		return whole("reads", most, "there must be at most %d", MaxJobs)
	}
	f.reads = s.soundReads(f.reads[:0], "job_reads", in.JobReads, len(in.Jobs), true)
	f.ran = s.soundReads(f.ran[:0], "running_reads", in.RunningReads, len(in.Running), false)
	f.nodes = f.nodes[:0]
	for i := range in.Stores {
		f.nodes = append(f.nodes, residence.Node{ID: in.Stores[i].ID, Capacity: int64(min(in.Stores[i].Bytes, MaxFile))})
	}
	f.state.SetMachine(f.nodes)
	f.read(in.Now, s)
	f.state.Expire(in.Now)
	f.prefer(in, s)
	return nil
}

// soundReads appends the reads of so many jobs, of the queue or not, that have no fault and
// are of a job without one. The others are left out: their jobs prefer no node, and what
// they read is not noted.
func (s *snapshot) soundReads(dst []Read, array string, reads []Read, jobs int, queued bool) []Read {
	next := uint64(0) // the least job that may come
	for i := range reads {
		r := &reads[i]
		if fault := r.fault(next, jobs); fault.array != "" {
			job := -1
			if queued {
				job = jobOr(r.Job, jobs)
			}
			fault.array, fault.index = array, i
			s.faults.add(fault, job)
			continue
		}
		next = uint64(r.Job) + 1
		if !queued || !s.faulty[r.Job] {
			dst = append(dst, *r)
		}
	}
	return dst
}

// fault is what is wrong with a read by one of so many jobs, that of number next or a later one;
// its array is "" if nothing is.
func (r *Read) fault(next uint64, jobs int) (e flaw) {
	switch {
	case uint64(r.Job) < next:
		e = flawed("reads", 0, "job", r.Job, "must be above that of the one before it")
	case uint64(r.Job) >= uint64(jobs):
		e = flawed("reads", 0, "job", r.Job, "there are %d jobs", uint64(jobs))
	case r.File == 0:
		e = flawed("reads", 0, "file", r.File, "must not be 0")
	case r.Bytes < 1 || r.Bytes > MaxFile:
		e = flawed("reads", 0, "bytes", r.Bytes, "must be 1 to %d", MaxFile)
	case r.Reserved != 0:
		e = flawed("reads", 0, "reserved", r.Reserved, "must be 0")
	}
	return e
}

// read has nodes read the files of the jobs that run on them.
func (f *files) read(now int64, s *snapshot) {
	for i := range f.ran {
		r := &f.ran[i]
		for _, seg := range s.Running[r.Job].Segs {
			for n := int(seg.First); n <= int(seg.Last); n++ {
				f.state.Read(n, r.File, int64(r.Bytes), now)
			}
		}
	}
}

// prefer tells jobs on which nodes they should read their file.
func (f *files) prefer(in *Input, s *snapshot) {
	if len(f.reads) == 0 {
		return
	}
	for range in.Jobs {
		f.of = append(f.of, 0)
	}
	f.masks.Reset(f.state)
	for i := range f.reads {
		r := &f.reads[i]
		f.of[r.Job] = r.File
		f.masks.Want(r.File, int64(in.Jobs[r.Job].Cores), in.Jobs[r.Job].MinGPUs > 0)
	}
	f.masks.Settle(s.Nodes)
	for i := range f.reads {
		r := &f.reads[i]
		s.jobs[r.Job].Prefer = f.masks.Of(r.File)
	}
}

// holders is how many nodes of a start of job j hold its file.
func (f *files) holders(j int, segs []nodeset.Segment) (count uint32) {
	if len(f.of) == 0 || f.of[j] == 0 {
		return 0
	}
	for _, seg := range segs {
		for n := int(seg.First); n <= int(seg.Last); n++ {
			if f.state.Holds(n, f.of[j]) {
				count++
			}
		}
	}
	return count
}

// fill says in out what is known of files.
func (f *files) fill(out *Output) {
	out.Files, out.Copies, out.FileChanges = f.state.Files(), f.state.Copies(), f.state.Changes()
}

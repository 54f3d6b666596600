// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/internal/residence"
	"github.com/aucsched/aucsched/nodeset"
)

// Files says what input files cost that jobs name ([workload.Input]), as locality, section 3,
// counts: before a job begins each of its nodes loads the file, unless it has it already. The zero
// Files has them cost nothing.
type Files struct {
	// Bandwidth is how many bytes a second a node loads; 0: files are not looked at.
	Bandwidth int64
	// Memory is how many bytes of files each node keeps, those read last: see package residence.
	Memory int64
	// Prefer has the policy know of each job which nodes hold its file ([core.Job.Prefer]).
	Prefer bool
}

// files is what the simulator knows of files.
type files struct {
	Files
	state   *residence.State
	masks   residence.Masks
	loading [][]load // by node
	use     FileUse
	stretch moments
}

// load is a file that a node has not yet had a chance to load whole.
type load struct {
	file uint64
	done int64
}

func newFiles(f Files, nodes int) (*files, error) {
	switch {
	case f.Bandwidth == 0 && f.Prefer:
		return nil, errors.New("files: there is nothing to prefer without a bandwidth")
	case f.Bandwidth == 0:
		return nil, nil
	case f.Bandwidth < 0 || f.Bandwidth > residence.MaxBytes:
		return nil, fmt.Errorf("files: bandwidth %d: must be 1 to %d bytes a second", f.Bandwidth, int64(residence.MaxBytes))
	case f.Memory < 0:
		return nil, fmt.Errorf("files: memory %d: must not be negative", f.Memory)
	}
	machine := make([]residence.Node, nodes)
	for n := range machine {
		machine[n].Capacity = f.Memory
	}
	s := residence.New(0)
	s.SetMachine(machine)
	return &files{Files: f, state: s, loading: make([][]load, nodes)}, nil
}

// seconds is how long a node takes to load a job's file, rounded up.
func (f *files) seconds(j *job) int64 {
	if f == nil || j.Input.File == 0 {
		return 0
	}
	return (j.Input.Bytes-1)/f.Bandwidth + 1
}

// begin has a job that starts on segs at second now load its file, and returns after how many
// seconds the last node has it.
func (f *files) begin(j *job, segs []nodeset.Segment, now int64) (wait int64) {
	if f == nil || j.Input.File == 0 {
		return 0
	}
	takes, held := f.seconds(j), true
	for _, s := range segs {
		for n := int(s.First); n <= int(s.Last); n++ {
			if f.state.Read(n, j.Input.File, j.Input.Bytes, now) {
				wait = max(wait, f.left(n, j.Input.File, now))
				continue
			}
			held = false
			f.use.Loads++
			f.use.Seconds += takes
			f.loading[n] = append(f.dropDone(n, now), load{j.Input.File, now + takes})
			wait = max(wait, takes)
		}
	}
	f.use.Jobs++
	if held {
		f.use.Held++
	}
	f.use.Waiting += wait
	return wait
}

// left is for how long node n still loads a file that it holds.
func (f *files) left(n int, file uint64, now int64) (wait int64) {
	for _, l := range f.dropDone(n, now) {
		if l.file == file {
			wait = max(wait, l.done-now)
		}
	}
	return wait
}

// dropDone forgets what node n has loaded by now, and returns the rest.
func (f *files) dropDone(n int, now int64) []load {
	kept := f.loading[n][:0]
	for _, l := range f.loading[n] {
		if l.done > now {
			kept = append(kept, l)
		}
	}
	f.loading[n] = kept
	return kept
}

// cycle has what runs go on reading, and tells the policy who holds what.
func (f *files) cycle(s *simulator) {
	if f == nil {
		return
	}
	for k := range s.running {
		in := s.jobs[s.running[k].number].Input
		if in.File == 0 {
			continue
		}
		for _, seg := range s.held[k].Segs {
			for n := int(seg.First); n <= int(seg.Last); n++ {
				f.state.Read(n, in.File, in.Bytes, s.now)
			}
		}
	}
	if !f.Prefer {
		return
	}
	f.masks.Reset(f.state)
	numbers := s.pending.numbers()
	for k, j := range s.pending.jobs() {
		if in := s.jobs[numbers[k]].Input; in.File != 0 {
			f.masks.Want(in.File, int64(max(j.Cores, max(j.MinNodes, 1)*j.TasksPerNode)), j.MinGPUs > 0)
		}
	}
	f.masks.Settle(s.nodes)
	for k, j := range s.pending.jobs() {
		j.Prefer = f.masks.Of(s.jobs[numbers[k]].Input.File)
	}
}

// end counts a job that starts now and ends later: flow is from its submission to its end.
func (f *files) end(j *job, flow int64) {
	if f != nil {
		f.stretch.add(float64(flow) / float64(j.nominal+f.seconds(j)))
	}
}

// result is nil where files were not looked at.
func (f *files) result() *FileUse {
	if f == nil {
		return nil
	}
	f.use.StretchMean, f.use.StretchStd = f.stretch.mean, f.stretch.std()
	return &f.use
}

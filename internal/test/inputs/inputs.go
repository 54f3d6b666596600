// SPDX-License-Identifier: BSD-3-Clause

// Package inputs has the jobs of a simulation load their input files.
package inputs

import (
	"errors"
	"fmt"
	"math"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/residence"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
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

// In has a simulation look at files, unless it is the zero Files.
func (f Files) In(c *sim.Config) {
	if c.Files = nil; f != (Files{}) {
		c.Files = f.on
	}
}

// files is what a simulation knows of files.
type files struct {
	Files
	state   *residence.State
	masks   residence.Masks
	loading [][]load // by node
	use     sim.FileUse
	stretch []float64
}

// load is a file that a node has not yet had a chance to load whole.
type load struct {
	file uint64
	done int64
}

// on makes them for so many nodes.
func (f Files) on(nodes int) (sim.Files, error) {
	switch {
	case f.Bandwidth == 0:
		return nil, errors.New("files: there is nothing to prefer without a bandwidth")
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
func (f *files) seconds(j *workload.Job) int64 {
	if j.Input.File == 0 {
		return 0
	}
	return (j.Input.Bytes-1)/f.Bandwidth + 1
}

// Begin implements [sim.Files].
func (f *files) Begin(j *workload.Job, segs []nodeset.Segment, now int64) (wait int64) {
	if j.Input.File == 0 {
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

// Cycle implements [sim.Files].
func (f *files) Cycle(s *core.Snapshot, running, pending []*workload.Job) {
	for k, j := range running {
		if j.Input.File == 0 {
			continue
		}
		for _, seg := range s.Running[k].Segs {
			for n := int(seg.First); n <= int(seg.Last); n++ {
				f.state.Read(n, j.Input.File, j.Input.Bytes, s.Now)
			}
		}
	}
	if !f.Prefer {
		return
	}
	f.masks.Reset(f.state)
	for k, j := range s.Pending {
		if in := pending[k].Input; in.File != 0 {
			f.masks.Want(in.File, place.LeastCores(&j.Request), j.MinGPUs > 0)
		}
	}
	f.masks.Settle(s.Nodes)
	for k, j := range s.Pending {
		j.Prefer = f.masks.Of(pending[k].Input.File)
	}
}

// End implements [sim.Files].
func (f *files) End(j *workload.Job, nominal, flow int64) {
	f.stretch = append(f.stretch, float64(flow)/float64(nominal+f.seconds(j)))
}

// Use implements [sim.Files].
func (f *files) Use() *sim.FileUse {
	sum, squares, n := 0.0, 0.0, float64(max(len(f.stretch), 1))
	for _, x := range f.stretch {
		sum += x
	}
	f.use.StretchMean = sum / n
	for _, x := range f.stretch {
		squares += (x - f.use.StretchMean) * (x - f.use.StretchMean)
	}
	f.use.StretchStd = math.Sqrt(squares / n)
	return &f.use
}

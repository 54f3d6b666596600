// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// countMemory gives nodes their memory and has jobs take what they ask for, if memory is to count.
func (f *Flags) countMemory(m *traces.Machine, w *workload.Workload) error {
	switch {
	case !f.memoryCounts:
		return nil
	case f.Files.load || f.Files.prefer:
		return errors.New("--count-memory: does not go with --files or --locality, where --memory keeps files")
	}
	if err := f.Files.Check(); err != nil {
		return err
	}
	none := traces.TakeMemory(w.Jobs, 0)
	if none == len(w.Jobs) {
		return fmt.Errorf("--count-memory: no job of %s asks for memory", w.Name)
	}
	if none > 0 {
		w.Adjusted = append(w.Adjusted, workload.Tally{Reason: "does not say how much memory: takes none", Jobs: none})
	}
	f.Replay.Config.Resources = []sim.Resource{{Name: "memory", Total: m.MemoryOr(bytesOf(f.Files.Memory) >> 20)}}
	return nil
}

// countExactly has the machine and its pods count to the letter, by [More].Exact, if that is asked
// for.
func (f *Flags) countExactly(exact func(*traces.Machine, *workload.Workload) ([]nodeset.Capacity, []sim.Resource, error),
	m *traces.Machine, w *workload.Workload) (err error) {
	switch {
	case !f.Replay.ExactPods:
		return nil
	case f.memoryCounts:
		return errors.New("--count-memory: with --exact-pods memory counts already")
	case f.Files.load || f.Files.prefer:
		return errors.New("--exact-pods: does not go with --files or --locality, where --memory keeps files")
	}
	cfg := &f.Replay.Config
	if cfg.Nodes, cfg.Resources, err = exact(m, w); err != nil {
		return fmt.Errorf("--exact-pods: %w", err)
	}
	return nil
}

// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
)

// memoryResource is what simulations call the memory of nodes, in MiB.
const memoryResource = "memory"

// countMemory gives nodes their memory and has jobs take what they ask for, if memory is to count.
func (f *simulateFlags) countMemory(m *workload.Machine, w *workload.Workload) error {
	switch {
	case !f.memoryCounts:
		return nil
	case f.files.load || f.files.prefer:
		return errors.New("--count-memory: does not go with --files or --locality, where --memory keeps files")
	}
	if err := f.files.check(); err != nil {
		return err
	}
	none := workload.TakeMemory(w.Jobs, 0)
	if none == len(w.Jobs) {
		return fmt.Errorf("--count-memory: no job of %s asks for memory", w.Name)
	}
	if none > 0 {
		w.Adjusted = append(w.Adjusted, workload.Tally{Reason: "does not say how much memory: takes none", Jobs: none})
	}
	f.replay.Config.Resources = []sim.Resource{{Name: memoryResource, Total: m.MemoryOr(bytesOf(f.files.memory) >> 20)}}
	return nil
}

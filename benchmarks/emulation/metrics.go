// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/nodeset"
)

// metricsOf is what [sim.Run] would have said of a schedule that a real Slurm made: records has every
// job that ran, once, in any order; of their segments the nodes count, and the GPUs in all. Policy,
// cycles and what is said of GPUs while jobs wait are left to the caller.
func metricsOf(nodes []nodeset.Capacity, records []sim.Record) (*sim.Result, error) {
	table, err := nodeset.New(nodes)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, errors.New("no job ran")
	}
	bySubmit := func(a, b sim.Record) int { return cmp.Compare(a.Submit, b.Submit) }
	m, err := sim.NewMeter(table, slices.MinFunc(records, bySubmit).Submit, slices.MaxFunc(records, bySubmit).Submit)
	if err != nil {
		return nil, err
	}
	for i := range records {
		ran := &records[i]
		r, ok := ran.Job.Way(ran.Alternative)
		switch {
		case !ok:
			err = fmt.Errorf("alternative %d: the job has %d", ran.Alternative, len(ran.Job.Alternatives))
		case ran.Start < ran.Submit || ran.End <= ran.Start:
			err = fmt.Errorf("submitted at second %d, started at %d, ended at %d: out of order", ran.Submit, ran.Start, ran.End)
		case len(ran.Segs) == 0 || int(ran.Segs[len(ran.Segs)-1].Last) >= len(nodes):
			err = fmt.Errorf("ran on nodes %v of %d", ran.Segs, len(nodes))
		case m.FewestNodes(&r) == 0:
			err = errors.New("can't run on this machine")
		}
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", ran.Job.ID, err)
		}
		m.Add(ran, &r, max(min(ran.Job.Duration, ran.Job.TimeLimit), 1))
	}
	result := &sim.Result{PendingMax: mostPending(records)}
	m.Fill(result, nil)
	result.GPUQueue, result.StrandedGPUHours = nil, nil
	return result, nil
}

// mostPending is the greatest number of jobs that waited at once; one that starts in the
// second of its submission has waited.
func mostPending(records []sim.Record) int {
	type change struct {
		at int64
		by int
	}
	var changes []change
	for i := range records {
		changes = append(changes, change{records[i].Submit, 1}, change{records[i].Start, -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.by, a.by)) })
	most, now := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}

// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
)

// late is a worker whose turn comes when the time is over: it has what is known, and was not asked.
type late struct{}

func (late) Name() string { return "late" }
func (late) Fault() error { return nil }
func (late) Asked() bool  { return false }
func (late) Wait()        {}

func (late) Solve(_ context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	value, err := m.Check(o.Start)
	*r = ipmodel.Result{Status: ipmodel.Feasible, Chosen: o.Start, Value: value, Bound: ipmodel.MaxTotalValue}
	return err
}

// A worker that there was no time to ask has not done well: native decides, and the failures before
// still count.
func TestAWorkerThatWasNotAskedHasNotDoneWell(t *testing.T) {
	const settings = "reservations=0 work=2000000"
	alone := cycleWithin(t, open(t, settings), hard(), 20*due)
	for _, mode := range []string{"auto", "highs"} {
		e := withWorker(t, mode, "dead", nil)
		require.NoError(t, e.Configure(fmt.Sprint(settings, " solver=", mode, " worker=", e.Settings().Worker)))
		for range failuresInARow - 1 {
			require.Equal(t, 1, cycleWithin(t, e, hard(), 20*due).WorkerFailures)
		}
		asked := e.solver.worker
		e.solver.worker = late{}
		out := cycleWithin(t, e, hard(), 20*due)
		require.Zero(t, out.WorkerFailures)
		require.GreaterOrEqual(t, out.Objective, alone.Objective)
		e.solver.worker = asked
		require.Equal(t, 1, cycleWithin(t, e, hard(), 20*due).WorkerFailures)
		require.Zero(t, cycleWithin(t, e, hard(), 20*due).WorkerFailures, "it is left alone")
	}
}

// A caller of the library hears why a worker failed, and after the next good cycle that none did.
func TestWorkerFaultHasWords(t *testing.T) {
	var table Table
	id, err := table.Open("reservations=0 work=1 solver=auto worker="+filepath.Join(t.TempDir(), "absent"), Options{})
	require.NoError(t, err)
	require.Empty(t, table.WorkerFault(id))
	cycle := func(in *Input) (out Output) {
		in.Deadline = 20 * due
		require.NoError(t, table.Do(id, func(h *Handle) error { return h.Cycle(in, &out) }))
		return out
	}
	require.Equal(t, 1, cycle(hard()).WorkerFailures)
	require.Regexp(t, "^highs: can't start the solver's process: .*/absent: no such file or directory$", table.WorkerFault(id))
	require.Empty(t, table.LastError(id), "the cycle went well")
	require.NoError(t, table.Do(id, func(h *Handle) error { return h.Configure("reservations=0 work=1") }))
	require.NotEmpty(t, table.WorkerFault(id), "there was no other cycle since")
	none := &Input{Nodes: tableI().Nodes}
	require.Zero(t, cycle(none).WorkerFailures)
	require.Empty(t, table.WorkerFault(id))
	require.NoError(t, table.Close(id, func(*Handle) {}))
	require.Equal(t, ErrHandle.Error(), table.WorkerFault(id))
}

// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A caller of the library hears why a worker failed, and after the next good cycle that none did.
func TestWorkerFaultHasWords(t *testing.T) {
	var table Table
	id, err := table.Open("reservations=0 work=1 solver=auto worker="+filepath.Join(t.TempDir(), "absent"), Options{})
	require.NoError(t, err)
	require.Empty(t, table.WorkerFault(id))
	cycle := func(in *Input) (out Output) {
		in.Deadline = 300 * time.Millisecond
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

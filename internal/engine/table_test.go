// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHandles(t *testing.T) {
	var table Table
	a, err := table.Open("", Options{})
	require.NoError(t, err)
	b, err := table.Open("window=3", Options{})
	require.NoError(t, err)
	require.Positive(t, a)
	require.NotEqual(t, a, b)
	_, err = table.Open("odd=1", Options{})
	require.ErrorContains(t, err, "odd=1")
	require.Equal(t, 2, table.Len())

	freed := 0
	require.NoError(t, table.Close(a, func(*Handle) { freed++ }))
	require.ErrorIs(t, table.Close(a, func(*Handle) { freed++ }), ErrHandle)
	require.Equal(t, 1, freed)
	require.ErrorIs(t, table.Do(a, nil), ErrHandle)
	require.ErrorIs(t, table.Do(-5, nil), ErrHandle)
	require.Equal(t, ErrHandle.Error(), table.LastError(a))
	c, err := table.Open("", Options{})
	require.NoError(t, err)
	require.Greater(t, c, b, "numbers are not used again")
	require.Equal(t, 2, table.Len())
}

// A call that has found its handle just before another closed it.
func TestCloseBetweenFindAndLock(t *testing.T) {
	var table Table
	id, err := table.Open("", Options{})
	require.NoError(t, err)
	h := table.find(id)
	require.NoError(t, table.Close(id, func(*Handle) {}))
	table.open[id] = h // as if it had been found before
	require.ErrorIs(t, table.Do(id, func(*Handle) error { panic("used after it was freed") }), ErrHandle)
}

func TestABusyHandleSaysSo(t *testing.T) {
	var table Table
	id, err := table.Open("", Options{})
	require.NoError(t, err)
	other, err := table.Open("", Options{})
	require.NoError(t, err)
	require.NoError(t, table.Do(id, func(h *Handle) error {
		require.ErrorIs(t, table.Do(id, func(*Handle) error { return nil }), ErrBusy)
		require.ErrorIs(t, table.Close(id, func(*Handle) {}), ErrBusy)
		require.Empty(t, table.LastError(id))
		return table.Do(other, func(*Handle) error { return nil })
	}))
	require.NoError(t, table.Do(id, func(*Handle) error { return nil }))
}

func TestPanicsAreErrorsAndUnlock(t *testing.T) {
	var table Table
	id, err := table.Open("", Options{})
	require.NoError(t, err)
	err = table.Do(id, func(*Handle) error { panic("boom") })
	var bug *PanicError
	require.ErrorAs(t, err, &bug)
	require.Contains(t, table.LastError(id), "panic: boom (table_test.go:")
	require.EqualError(t, table.Do(id, func(*Handle) error { return errors.New("later") }), "later")
	require.Equal(t, "later", table.LastError(id))
	require.NoError(t, table.Do(id, func(*Handle) error { return nil }))
	require.Equal(t, "later", table.LastError(id), "the last error, not the last call's")
	require.NoError(t, table.Close(id, func(*Handle) {}))
}

// Calls from everywhere at once: each gets its turn, ErrBusy or ErrHandle, and nothing leaks.
func TestManyGoroutines(t *testing.T) {
	var table Table
	shared, err := table.Open("", Options{})
	require.NoError(t, err)
	in := tableI()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				id, err := table.Open("", Options{})
				if err != nil {
					panic(err)
				}
				if err := table.Do(shared,
					func(h *Handle) error { return h.Cycle(&Input{Nodes: in.Nodes}, new(Output)) }); err != nil &&
					!errors.Is(err, ErrBusy) {
					panic(err)
				}
				if table.Close(id, func(*Handle) {}) != nil {
					panic("not closed")
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, table.Len())
}

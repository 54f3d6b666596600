// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

func window(t *testing.T, nodes, jobs int) *Window {
	w, err := NewWindow(nodes, jobs, 1)
	require.NoError(t, err)
	return w
}

// Every stage can be run twice and stands its check.
func TestStages(t *testing.T) {
	w := window(t, 1024, 50)
	cycle, err := Cycle(w)
	require.NoError(t, err)
	stages := map[string]Stage{"bids": Bids(w), "model": Model(w), "cycle": cycle}
	for _, q := range Queries(1024) {
		stages["scan"], stages["loop"] = Scan(w, q), NodeLoop(w, q)
		stages["bitset"], stages["read"] = Bitset(w, q), MemoryRead(w, q)
		for name, s := range stages {
			require.NoError(t, s.Run(), name)
			first := s.Sizes()
			require.NoError(t, s.Check(), name)
			require.NoError(t, s.Run(), name)
			require.NoError(t, s.Check(), name)
			require.Equal(t, first, s.Sizes(), name)
		}
	}
}

// What Slurm's bit strings say of a machine is what the scan says.
func TestBitstringsOfTheInstalledSlurm(t *testing.T) {
	ctx := t.Context()
	program, err := BuildBitstrings(ctx, "..", t.TempDir())
	if errors.Is(err, ErrNoSlurm) {
		t.Skip(err)
	}
	require.NoError(t, err)
	w := window(t, 1000, 1)
	for _, q := range Queries(1000) {
		b, err := StartBitstrings(ctx, program, w, q)
		require.NoError(t, err)
		for _, s := range []Stage{b.Runs(), b.Count()} {
			d, err := s.Times(3)
			require.NoError(t, err)
			require.Positive(t, d)
			require.NoError(t, s.Check())
			require.Positive(t, s.Sizes()[0].N)
		}
		b.q.MinCores++
		require.Error(t, b.Runs().Check(), "not those of the query")
		require.NoError(t, b.Close())
	}
}

func TestBitstringsNeedSlurmsSource(t *testing.T) {
	_, err := BuildBitstrings(t.Context(), t.TempDir(), t.TempDir())
	require.ErrorIs(t, err, ErrNoSlurm)
}

// A check that nothing fails would vouch for nothing.
func TestChecksFindFaults(t *testing.T) {
	w := window(t, 256, 50)
	q := nodeset.Query{GPUs: 1}
	sets := w.Snapshot.Nodes.Scan(nil, q)
	require.Greater(t, len(sets), 1)
	require.NoError(t, checkSets(w.Snapshot.Nodes, q, sets))
	require.Error(t, checkSets(w.Snapshot.Nodes, q, sets[1:]), "a nodeset is missing")
	require.Error(t, checkSets(w.Snapshot.Nodes, nodeset.Query{GPUs: 2}, sets), "not those of the query")

	var gen bids.Generator
	var book bids.Book
	space := bids.Space{Now: w.Snapshot.Nodes}
	o := bidOptions()
	gen.Generate(&space, w.Variants, o, &book)
	require.NoError(t, checkBook(w, o, &book))
	fewer := o
	fewer.MaxBidsPerJob--
	require.ErrorContains(t, checkBook(w, fewer, &book), "more than")

	var m ipmodel.Model
	require.NoError(t, (&ipmodel.Builder{Merge: true}).Build(&space, w.Variants, &book, nil, &m))
	require.NoError(t, checkModel(w, &book, &m))
	for i := range m.Cap {
		m.Cap[i] *= 2
	}
	require.ErrorContains(t, checkModel(w, &book, &m), "solution", "capacities that the machine does not have")
	for i := range m.Cap {
		m.Cap[i] /= 4
	}
	require.ErrorContains(t, checkModel(w, &book, &m), "draft", "capacities that are too small")

	first := int(book.JobStart[0])
	book.Segs[book.Bids[first].First].Cores++
	require.Error(t, checkBook(w, o, &book), "a bid that does not meet its request")

	require.Error(t, checkPlan(w, &core.Plan{}))
}

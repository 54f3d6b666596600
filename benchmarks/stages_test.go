// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/market"
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

// A check that nothing fails would vouch for nothing.
func TestChecksFindFaults(t *testing.T) {
	w := window(t, 256, 50)
	q := nodeset.Query{GPUs: 1}
	sets := w.Snapshot.Nodes.Scan(nil, q)
	require.Greater(t, len(sets), 1)
	require.NoError(t, checkSets(w.Snapshot.Nodes, q, sets))
	require.Error(t, checkSets(w.Snapshot.Nodes, q, sets[1:]), "a nodeset is missing")
	require.Error(t, checkSets(w.Snapshot.Nodes, nodeset.Query{GPUs: 2}, sets), "not those of the query")

	var gen market.Generator
	var book market.Book
	space := market.Space{Now: w.Snapshot.Nodes}
	o := bidOptions()
	gen.Generate(&space, w.Variants, o, &book)
	require.NoError(t, checkBook(w, o, &book))
	fewer := o
	fewer.MaxBidsPerJob--
	require.ErrorContains(t, checkBook(w, fewer, &book), "more than")

	var m ipmodel.Model
	require.NoError(t, (&market.Builder{Merge: true}).Build(&space, w.Variants, &book, nil, &m))
	require.NoError(t, checkModel(w, &book, &m))
	for i := range m.Cap {
		m.Cap[i] *= 2
	}
	require.ErrorContains(t, checkModel(w, &book, &m), "solution", "capacities that the machine does not have")
	first := int(book.JobStart[0])
	book.Segs[book.Bids[first].First].Cores++
	require.Error(t, checkBook(w, o, &book), "a bid that does not meet its request")

	require.Error(t, checkPlan(w, &core.Plan{}))
}

// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTablesAreThePapers(t *testing.T) {
	rows := make(map[string]int)
	for _, table := range Tables() {
		rows[table.Name] = len(table.Rows)
	}
	// Table 3 of aucsched2 has each auction three times, tables 5 to 7 of aucsched1 twice.
	require.Equal(t, map[string]int{"ipsched-5": 6, "ipsched-6": 2, "aucsched1-5": 45,
		"aucsched1-6": 45, "aucsched1-7": 45, "aucsched1-8": 28, "aucsched2-3": 42}, rows)
	require.Equal(t, "ipsched-5, ipsched-6, aucsched1-5, aucsched1-6, aucsched1-7, aucsched1-8, aucsched2-3, all",
		strings.Join(Names(), ", "))
}

// Every workload has one baseline, and no two other rows of a table are the same
// simulation, which would give one experiment's figures for another's.
func TestRowsAreExperimentsOfTheirOwn(t *testing.T) {
	for _, table := range Tables() {
		baselines, args, names := make(map[string]int), make(map[string]string), make(map[string]bool)
		for _, r := range table.Rows {
			name := r.Workload + " " + r.Method
			require.False(t, names[name], "%s: %s twice", table.Name, name)
			names[name] = true
			if r.Baseline {
				baselines[r.Workload]++
				require.Contains(t, r.Args, "--policy=backfill")
				continue
			}
			key := fmt.Sprint(r.Args)
			require.Empty(t, args[key], "%s: %s", table.Name, name)
			args[key] = name
		}
		for _, r := range table.Rows {
			require.Equal(t, 1, baselines[r.Workload], "%s: %s", table.Name, r.Workload)
		}
	}
}

func TestCellsAreUniqueAndComplete(t *testing.T) {
	var f fake
	p := f.program()
	cells, err := Cells(p, Tables(), []uint64{1, 2, 3})
	require.NoError(t, err)
	keys, seen := make(map[string]bool), make(map[string]bool)
	for _, c := range cells {
		require.False(t, keys[c.Key], c.String())
		require.False(t, seen[c.String()], c.String())
		keys[c.Key], seen[c.String()] = true, true
	}
	rows := 0
	for _, table := range Tables() {
		for _, r := range table.Rows {
			rows++
			for seed := range uint64(3) {
				c, err := p.Prepare(Cell{Args: r.Args, Seed: 1 + seed})
				require.NoError(t, err)
				require.True(t, keys[c.Key], c.String())
			}
		}
	}
	// Backfill on V.1 to V.3 of machine L is in table 7 once and in table 8 for each
	// of its 14 variants, and is run once.
	require.Len(t, cells, 3*(rows-14))
	require.Len(t, seedCells(cells, 1), rows-14, "seed by seed")
}

// seedCells are the cells before the first of another seed.
func seedCells(cells []Prepared, seed uint64) []Prepared {
	for i, c := range cells {
		if c.Seed != seed {
			return cells[:i]
		}
	}
	return cells
}

func TestCellThatCannotRunIsAnErrorAtOnce(t *testing.T) {
	var f fake
	table := Table{Name: "T", Rows: []Row{{Args: []string{"--x=1"}}, {Args: []string{"--policy=unknown"}}}}
	_, err := Cells(f.program(), []Table{table}, []uint64{1})
	require.EqualError(t, err, "table T: aucsched simulate --policy=unknown --seed=1: --policy=unknown is unknown")
	require.Zero(t, f.runs.Load())
}

// A setting's value, the seed and what the program adds are all in the key.
func TestKeyDependsOnAllSettings(t *testing.T) {
	added := "default=1"
	p := &Program{Settings: func(args []string) ([]string, error) { return append([]string{added}, args...), nil }}
	keys := make(map[string]bool)
	for _, c := range []Cell{{Args: []string{"--a=1"}, Seed: 1}, {Args: []string{"--a=2"}, Seed: 1},
		{Args: []string{"--a=1"}, Seed: 2}, {Args: []string{"--a=1", "--b"}, Seed: 1}} {
		for _, added = range []string{"default=1", "default=2"} {
			prepared, err := p.Prepare(c)
			require.NoError(t, err)
			require.False(t, keys[prepared.Key])
			keys[prepared.Key] = true
		}
	}
	require.Len(t, keys, 8)
}

func TestSelect(t *testing.T) {
	names := func(s Selection) (tables []string, rows int) {
		chosen, err := Select(s)
		require.NoError(t, err)
		for _, table := range chosen {
			tables = append(tables, table.Name)
			rows += len(table.Rows)
		}
		return tables, rows
	}
	for _, c := range []struct {
		s      Selection
		tables string
		rows   int
	}{
		{Selection{}, "ipsched-5 ipsched-6 aucsched1-5 aucsched1-6 aucsched1-7 aucsched1-8 aucsched2-3", 213},
		{Selection{Tables: []string{All}}, "ipsched-5 ipsched-6 aucsched1-5 aucsched1-6 aucsched1-7 aucsched1-8 aucsched2-3", 213},
		{Selection{Tables: []string{"aucsched2-3", "ipsched-6"}}, "ipsched-6 aucsched2-3", 44},
		{Selection{Quick: true}, "ipsched-5 ipsched-6 aucsched1-5 aucsched2-3", 74},
		{Selection{Tables: []string{"aucsched2-3"}, Only: "1.HC AUCSCHED2 gpu ranges"}, "aucsched2-3", 4},
		{Selection{Only: "2.FC"}, "aucsched2-3", 7},
	} {
		tables, rows := names(c.s)
		require.Equal(t, c.tables, strings.Join(tables, " "), "%+v", c.s)
		require.Equal(t, c.rows, rows, "%+v", c.s)
	}
	for want, s := range map[string]Selection{
		`table "aucsched1-9" is unknown; known are ipsched-5, ipsched-6, aucsched1-5, aucsched1-6, ` +
			`aucsched1-7, aucsched1-8, aucsched2-3, all`: {Tables: []string{"ipsched-5", "aucsched1-9"}},
		`table aucsched1-7: no row of the quick run`: {Tables: []string{"aucsched1-7"}, Quick: true},
		`table ipsched-5: no row matches "V.1"`:      {Tables: []string{"ipsched-5"}, Only: "V.1"},
		`no row matches "VI"`:                        {Only: "VI"},
	} {
		_, err := Select(s)
		require.EqualError(t, err, want)
	}
}

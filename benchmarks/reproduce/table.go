// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/input"
)

// Table is a table of a paper and what to simulate for it.
type Table struct {
	Name  string // "aucsched1-5"
	Title string // what the paper's table has
	// Notes say where our experiment differs from the paper's.
	Notes []string
	Rows  []Row
}

// Row is a method on a workload.
type Row struct {
	Workload string // rows of the same one are compared
	Method   string
	// Args are those of aucsched simulate, without --seed.
	Args []string
	// Paper has the printed figures, by the metrics' keys.
	Paper map[string]float64
	// Baseline rows are what the other methods on the workload are compared with.
	Baseline bool
	// Quick rows are those of the quick run.
	Quick bool
	// Remark says what to know of the printed figures.
	Remark string
}

// Tables are all that can be reproduced.
func Tables() []Table { return slices.Concat(ipschedTables(), aucsched1Tables(), aucsched2Tables()) }

// All is the name that stands for all tables.
const All = "all"

// Names are those of all tables, and All.
func Names() []string { return namesOf(Tables()) }

func namesOf(tables []Table) []string {
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
	}
	return append(names, All)
}

// Selection says which rows to reproduce.
type Selection struct {
	Tables []string // names; none: all
	// Only, if set, leaves the rows whose workload and method, with a blank between,
	// contain it, and the rows that those are compared with.
	Only  string
	Quick bool // quick rows only
}

// Select returns the tables with the rows that were asked for, in the order of
// [Tables]. An unknown table is an error that lists the known ones; so is a
// selection that leaves nothing of a table that was named.
func Select(s Selection) ([]Table, error) {
	tables := Tables()
	names := namesOf(tables)
	for _, n := range s.Tables {
		if !slices.Contains(names, n) {
			return nil, fmt.Errorf("table %q is unknown; known are %s%s", n, strings.Join(names, ", "), input.Hint(n, names))
		}
	}
	all := len(s.Tables) == 0 || slices.Contains(s.Tables, All)
	var chosen []Table
	for _, t := range tables {
		if !all && !slices.Contains(s.Tables, t.Name) {
			continue
		}
		t.Rows = s.rows(t.Rows)
		switch {
		case len(t.Rows) > 0:
			chosen = append(chosen, t)
		case !all:
			return nil, fmt.Errorf("table %s: %s", t.Name, s.nothing())
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%s", s.nothing())
	}
	return chosen, nil
}

func (s *Selection) nothing() string {
	which := "no row"
	if s.Quick {
		which = "no row of the quick run"
	}
	if s.Only == "" {
		return which
	}
	return fmt.Sprintf("%s matches %q", which, s.Only)
}

func (s *Selection) rows(rows []Row) []Row {
	wanted := make(map[string]bool) // workloads
	matches := func(r *Row) bool {
		return (r.Quick || !s.Quick) && strings.Contains(r.Workload+" "+r.Method, s.Only)
	}
	for i := range rows {
		if matches(&rows[i]) {
			wanted[rows[i].Workload] = true
		}
	}
	var chosen []Row
	for i := range rows {
		if r := &rows[i]; matches(r) || r.Baseline && wanted[r.Workload] {
			chosen = append(chosen, *r)
		}
	}
	return chosen
}

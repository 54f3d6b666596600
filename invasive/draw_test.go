// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/stretchr/testify/require"
)

// The rules in invasive/docs are made from the tables: go test ./invasive -run Drawings -rewrite

const page = "../../invasive/docs/rules.csv" // from testdata

var partNames = [parts]string{"Initialisation", "Negotiation", "Feedback", "Urgent jobs", "Finalisation", "Resources"}

// draw has a row for each of a machine's rules, part by part. Session are the phases that have a
// name together.
func draw[M any](side string, rules []rule[M], session []Phase) (rows [][]string) {
	for p, name := range partNames {
		for _, r := range rules {
			if r.part != part(p) || len(r.from) == 0 {
				continue
			}
			to := "-"
			if r.to != stay {
				to = r.to.String()
			}
			rows = append(rows, []string{side, name, phaseList(r.from, session), r.on.String(), r.when.name, effectList(r), to})
		}
	}
	return rows
}

func effectList[M any](r rule[M]) string {
	var names []string
	for _, e := range r.do {
		names = append(names, e.name)
	}
	return strings.Join(names, ", ")
}

// phaseList names phases, all of a session as "session".
func phaseList(list, session []Phase) string {
	all := !slices.ContainsFunc(session, func(p Phase) bool { return !slices.Contains(list, p) })
	var names []string
	for _, p := range list {
		if !all || !slices.Contains(session, p) {
			names = append(names, p.String())
		}
	}
	if all {
		names = append(names, "session")
	}
	return strings.Join(names, ", ")
}

func TestDrawings(t *testing.T) {
	rows := [][]string{{"side", "part", "in", "event", "condition", "does", "goes to"}}
	rows = append(rows, draw("iScheduler", agentRules(), agentSession)...)
	rows = append(rows, draw("iHypervisor", hypervisorRules(), hyperSession)...)
	var b strings.Builder
	require.NoError(t, csv.NewWriter(&b).WriteAll(rows))
	golden.Equal(t, page, b.String())
}

// Every message that a side may get has a rule, every phase can be reached, and
// every rule can be found.
func TestTables(t *testing.T) {
	checkTable(t, agentRules(), IHypervisor)
	checkTable(t, hypervisorRules(), IScheduler)
}

func checkTable[M any](t *testing.T, rules []rule[M], peer Side) {
	reached := []Phase{Off}
	for range rules {
		for _, r := range rules {
			if r.to != stay && !slices.Contains(reached, r.to) && slices.ContainsFunc(r.from,
				func(p Phase) bool { return slices.Contains(reached, p) }) {
				reached = append(reached, r.to)
			}
		}
	}
	heard := map[EventKind]bool{}
	for i, r := range rules {
		heard[r.on] = true
		require.NotEmpty(t, r.from)
		for _, p := range r.from {
			require.Contains(t, reached, p)
			for _, earlier := range rules[:i] {
				hides := earlier.on == r.on && earlier.when.holds == nil && slices.Contains(earlier.from, p)
				require.False(t, hides, "%v on %v: an earlier rule always holds", p, r.on)
			}
		}
	}
	for k := Initialise; k < kinds; k++ {
		require.Equal(t, k.SentBy(peer), heard[sends(k)], "%v from the %v", k, peer)
	}
}

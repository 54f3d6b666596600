// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/stretchr/testify/require"
)

// The tables of rules in invasive/docs/protocol.md are made from the tables: go test ./invasive
// -run Drawings -rewrite

const page = "../../invasive/docs/protocol.md" // from testdata

var partNames = [parts]string{"Initialisation", "Negotiation", "Feedback", "Urgent jobs", "Finalisation", "Resources"}

// draw is a table of a machine's rules, part by part. Session are the phases that have a name
// together.
func draw[M any](rules []rule[M], session []Phase) string {
	var b strings.Builder
	for p, name := range partNames {
		rows := ""
		for _, r := range rules {
			if r.part != part(p) || len(r.from) == 0 {
				continue
			}
			on, to := r.on.String(), "-"
			if r.when.name != "" {
				on += " [" + r.when.name + "]"
			}
			if r.to != stay {
				to = r.to.String()
			}
			rows += fmt.Sprintf("| %s | %s | %s | %s |\n", phaseList(r.from, session), on, effectList(r), to)
		}
		if rows != "" {
			b.WriteString("\n| " + name + " | event [condition] | does | goes to |\n|---|---|---|---|\n" + rows)
		}
	}
	return b.String() + "\n"
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

// fill replaces what is between the marks of a table.
func fill(t *testing.T, text, name, table string) string {
	from, to := fmt.Sprintf("<!-- rules of the %s -->\n", name), "<!-- end -->"
	before, rest, found := strings.Cut(text, from)
	_, after, ended := strings.Cut(rest, to)
	require.True(t, found && ended, "invasive/docs/protocol.md has no place for %q", name)
	return before + from + table + to + after
}

func TestDrawings(t *testing.T) {
	b, err := os.ReadFile("testdata/" + page)
	require.NoError(t, err)
	text := string(b)
	text = fill(t, text, "iScheduler", draw(agentRules(), agentSession))
	text = fill(t, text, "iHypervisor", draw(hypervisorRules(), hyperSession))
	golden.Equal(t, page, text)
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

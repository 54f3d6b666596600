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

// The drawings of invasive/docs/protocol.md are made from the tables: go test ./invasive
// -run Drawings -rewrite

const page = "../../invasive/docs/protocol.md" // from testdata

var partNames = [parts]string{"Initialisation", "Negotiation", "Feedback", "Urgent jobs", "Finalisation", "Resources"}

// wide rules begin in more phases than are good for a drawing; they are listed under it.
const wide = 3

// draw draws a part of a machine as Mermaid, and lists its wide rules. It is empty if
// there is no such part.
func draw[M any](rules []rule[M], p part) string {
	var arrows, rows []string
	for _, r := range rules {
		switch {
		case r.part != p || len(r.from) == 0:
		case len(r.from) > wide:
			to := "stays"
			if r.to != stay {
				to = r.to.String()
			}
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |\n", phaseList(r.from), r.on, r.when.name, effectList(r), to))
		default:
			for _, from := range r.from {
				to := r.to
				if to == stay {
					to = from
				}
				arrows = append(arrows, fmt.Sprintf("    %v --> %v: %s\n", from, to, caption(r)))
			}
		}
	}
	var b strings.Builder
	if len(arrows) > 0 {
		b.WriteString("```mermaid\nstateDiagram-v2\n" + strings.Join(arrows, "") + "```\n")
	}
	if len(rows) > 0 {
		b.WriteString("\n| in | on | if | does | goes to |\n|---|---|---|---|---|\n" + strings.Join(rows, ""))
	}
	return b.String()
}

func caption[M any](r rule[M]) string {
	s := r.on.String()
	if r.when.name != "" {
		s += " [" + r.when.name + "]"
	}
	if len(r.do) > 0 {
		s += " / " + effectList(r)
	}
	return s
}

func effectList[M any](r rule[M]) string {
	var names []string
	for _, e := range r.do {
		names = append(names, e.name)
	}
	return strings.Join(names, ", ")
}

func phaseList(list []Phase) string {
	var names []string
	for _, p := range list {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

// fill replaces what is between the marks of a drawing.
func fill(t *testing.T, text, name, drawing string) string {
	from, to := fmt.Sprintf("<!-- drawing %s -->\n", name), "<!-- end -->"
	before, rest, found := strings.Cut(text, from)
	_, after, ended := strings.Cut(rest, to)
	require.True(t, found && ended, "invasive/docs/protocol.md has no place for %q", name)
	return before + from + drawing + to + after
}

func TestDrawings(t *testing.T) {
	b, err := os.ReadFile("testdata/" + page)
	require.NoError(t, err)
	text := string(b)
	drawings := 0
	for p, name := range partNames {
		for side, drawing := range map[string]string{
			"iScheduler": draw(agentRules(), part(p)), "iHypervisor": draw(hypervisorRules(), part(p)),
		} {
			if drawing != "" {
				text = fill(t, text, side+" "+name, drawing)
				drawings++
			}
		}
	}
	require.Equal(t, drawings, strings.Count(text, "<!-- drawing "))
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

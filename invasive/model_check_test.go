// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/stretchr/testify/require"
)

var (
	malleable = &Job{ID: 1, Flex: Malleable, MinCores: 1, MaxCores: 2}
	rigid     = &Job{ID: 2, Flex: Rigid, MinCores: 2, MaxCores: 2}
	pressing  = &Job{ID: 3, Flex: Rigid, MinCores: 1, MaxCores: 1, Urgent: true}
)

func base(name string, jobs ...*Job) bounds {
	return bounds{name: name, jobs: jobs, cores: 2, limit: 2, wrap: 2, agent: agentTable, hyper: hypervisorTable}
}

// models are those of the default run, and the longer ones of AUCSCHED_INVASIVE_LONG=1.
func models() (short, long []bounds) {
	add := func(to *[]bounds, b bounds, change func(*bounds)) {
		change(&b)
		*to = append(*to, b)
	}
	add(&short, base("crashes, one job", malleable), func(b *bounds) { b.crash = true })
	add(&short, base("losses and reports, one job", malleable), func(b *bounds) { b.loss, b.report = true, true })
	add(&short, base("half-open, one job", malleable), func(b *bounds) { b.loss, b.halfOpen, b.report = true, true, true })
	add(&short, base("half-open, crashes, finalisation, one job", malleable), func(b *bounds) {
		b.loss, b.halfOpen, b.report, b.crash, b.finish = true, true, true, true, true
	})
	add(&short, base("finalisation, one job", malleable), func(b *bounds) { b.finish = true })
	add(&short, base("urgent, lanes", malleable, pressing), func(b *bounds) { b.lanes, b.report = true, true })
	add(&short, base("crashes, losses, one job that may be cancelled", malleable),
		func(b *bounds) { b.crash, b.loss, b.cancel = true, true, true })
	add(&short, base("no faults, three jobs", malleable, rigid, pressing), func(b *bounds) { b.report, b.limit = true, 3 })
	add(&short, base("crashes, urgent", malleable, pressing), func(b *bounds) { b.crash = true })
	add(&short, base("a hasty placer", malleable, rigid), func(b *bounds) { b.hasty, b.report, b.grow = true, true, true })
	add(&short, base("finalisation, crashes, losses, one job", malleable),
		func(b *bounds) { b.crash, b.loss, b.finish, b.grow = true, true, true, true })

	add(&short, base("groups, crashes, urgent", malleable, pressing), func(b *bounds) { b.groups, b.crash, b.grow = true, true, true })
	add(&short, base("groups, crashes, losses, cancelled", malleable),
		func(b *bounds) { b.groups, b.crash, b.loss, b.cancel = true, true, true, true })

	add(&short, base("everything, one urgent job", pressing), func(b *bounds) {
		b.crash, b.loss, b.finish, b.report, b.lanes = true, true, true, true, true
	})
	add(&short, base("crashes and losses, two jobs", malleable, rigid), func(b *bounds) { b.crash, b.loss = true, true })

	add(&long, base("everything, one job", malleable), func(b *bounds) {
		b.crash, b.loss, b.finish, b.report, b.lanes, b.limit = true, true, true, true, true, 3
	})
	add(&long, base("losses and reports, urgent, lanes", malleable, pressing),
		func(b *bounds) { b.loss, b.lanes, b.report = true, true, true })
	add(&long, base("finalisation, urgent, lanes", malleable, pressing), func(b *bounds) { b.finish, b.lanes = true, true })
	add(&long, base("crashes and losses, urgent, lanes", malleable, pressing),
		func(b *bounds) { b.crash, b.loss, b.lanes = true, true, true })
	add(&long, base("losses, three jobs", malleable, rigid, pressing), func(b *bounds) { b.loss = true })
	add(&long, base("crashes and losses, three jobs", malleable, rigid, pressing), func(b *bounds) { b.crash, b.loss = true, true })
	add(&long, base("crashes, three jobs", malleable, rigid, pressing), func(b *bounds) { b.crash = true })
	return short, long
}

// idles tells of steps that a world may take for ever: reports come as time goes by, and a hasty
// decider tries again.
func idles(label string) bool {
	return strings.Contains(label, "report") || strings.Contains(label, "STATUS_REPORT") || strings.Contains(label, "hastily")
}

func TestModel(t *testing.T) {
	short, long := models()
	limit := 300_000
	if os.Getenv("AUCSCHED_INVASIVE_LONG") != "" {
		short, limit = append(short, long...), 5_000_000
	}
	if race.Enabled {
		short = short[:3] // there is nothing concurrent here, and the others take long
	}
	for _, b := range short {
		t.Run(b.name, func(t *testing.T) {
			began := time.Now()
			g := explore(newModel(&b), limit)
			t.Logf("%s: %d states, %d steps, %.1f s", b.name, len(g.edges), g.steps(), time.Since(began).Seconds())
			require.Empty(t, g.wrong)
			require.True(t, slices.Contains(g.done, true), "never done")
			require.Empty(t, g.stuck())
			if !b.crash && !b.loss && !b.finish {
				require.Empty(t, g.circles(idles))
			}
		})
	}
}

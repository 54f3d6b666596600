// SPDX-License-Identifier: BSD-3-Clause

package linktest

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
)

// Scheduler is an iScheduler that maps as many jobs of its queue as fit, the first first, until the
// test ends. Its journal is a file; ended hears of each job's end.
func Scheduler(t testing.TB, journal string, to *link.Endpoint, report time.Duration, ended func(invasive.JobID, int32)) *link.Runner {
	j, err := link.OpenJournal(journal)
	require.NoError(t, err)
	m := invasive.NewAgent(invasive.Terms{Attempts: 3, Reply: 20 * time.Second, Report: report}, j.Saved())
	var runner *link.Runner
	runner = link.NewRunner(link.Config{
		Side: invasive.IScheduler, Machine: m, Journal: j, Dial: to.Dial, Random: rand.New(rand.NewPCG(1, 2)),
		FirstPause: 5 * time.Millisecond, LastPause: 50 * time.Millisecond, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Do: func(a *invasive.Action, q link.Question) {
			switch a.Kind {
			case invasive.AskDecision:
				runner.Answer(q, invasive.Event{Kind: invasive.Decided, Accept: true, Map: fill(m.Queue(nil), a.Msg.Offer)})
			case invasive.Ended:
				ended(a.ID, a.Exit)
			}
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			_ = runner.Run(ctx) // once more if the iHypervisor has finalised
		}
		j.Close()
	}()
	t.Cleanup(func() { cancel(); <-over })
	return runner
}

// fill gives each job as many cores as it can use, and there are.
func fill(queue []*invasive.Job, o *invasive.Offer) (list []invasive.Mapping) {
	left := slices.Clone(o.Parts)
	for i := range left {
		left[i].Delay = 0
	}
	for _, j := range queue {
		m := invasive.Mapping{Job: j}
		trial, n, nodes := slices.Clone(left), uint32(0), map[uint32]bool{}
		for i := range trial {
			if k := min(trial[i].Cores, j.MaxCores-n); k > 0 {
				m.Parts = append(m.Parts, invasive.Part{Node: trial[i].Node, Cores: k})
				trial[i].Cores -= k
				nodes[trial[i].Node] = true
				n += k
			}
		}
		if n >= j.MinCores && len(nodes) >= int(j.MinNodes) && len(list) < int(o.Jobs) {
			list, left = append(list, m), trial
		}
	}
	return list
}

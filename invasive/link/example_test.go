// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package link_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
)

// Both sides over a Unix socket: the iScheduler submits a job, and ends when it is told
// that the job has ended.
func Example() {
	dir, _ := os.MkdirTemp("", "aucsched")
	defer os.RemoveAll(dir)
	endpoint := link.Endpoint{Network: "unix", Address: filepath.Join(dir, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
	terms := invasive.Terms{Attempts: 3, Reply: 5 * time.Second, Report: 10 * time.Millisecond}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	hypervisor := make(chan error)
	go func() { hypervisor <- runHypervisor(ctx, endpoint, terms, filepath.Join(dir, "hypervisor")) }()

	journal, err := link.OpenJournal(filepath.Join(dir, "scheduler"))
	if err != nil {
		fmt.Println(err)
		return
	}
	agent := invasive.NewAgent(terms, journal.Saved())
	var runner *link.Runner
	runner = link.NewRunner(link.Config{
		Side: invasive.IScheduler, Machine: agent, Journal: journal, Dial: endpoint.Dial, Random: rand.New(rand.NewPCG(1, 2)),
		Do: func(a *invasive.Action, q link.Question) {
			switch a.Kind {
			case invasive.AskDecision:
				decided := invasive.Event{Kind: invasive.Decided, Accept: true}
				for _, job := range agent.Queue(nil) {
					decided.Map = append(decided.Map, invasive.Mapping{Job: job, Parts: []invasive.Part{{Node: 0, Cores: 2}}})
				}
				runner.Answer(q, decided)
			case invasive.Ended:
				fmt.Println("job", a.ID, "has ended:", a.Exit)
				cancel()
			}
		},
	})
	runner.Post(invasive.Event{Kind: invasive.Submit, Job: &invasive.Job{ID: 1, MinCores: 2, MaxCores: 2, Args: []string{"simulate"}}})
	fmt.Println("iScheduler:", runner.Run(ctx))
	fmt.Println("iHypervisor:", <-hypervisor)
	// Output:
	// launch [simulate] on cores [0 1]
	// job 1 has ended: 0
	// iScheduler: <nil>
	// iHypervisor: <nil>
}

// runHypervisor has one node of four cores, and its jobs end at once. Package
// ihypervisor has real ones.
func runHypervisor(ctx context.Context, endpoint link.Endpoint, terms invasive.Terms, path string) error {
	journal, err := link.OpenJournal(path)
	if err != nil {
		return err
	}
	defer journal.Close()
	listener, err := endpoint.Listen(link.RealClock{}, &link.Stats{})
	if err != nil {
		return err
	}
	defer listener.Close()
	terms.Partition = invasive.Partition{Name: "invasic", Nodes: 1, Sockets: 1, CoresPerSocket: 4}
	machine, actions := invasive.NewHypervisor(terms, journal.Saved(), nil, nil)
	var runner *link.Runner
	runner = link.NewRunner(link.Config{
		Side: invasive.IHypervisor, Machine: machine, Journal: journal, Listener: listener,
		Load: func() *invasive.Load { return &invasive.Load{} },
		Do: func(a *invasive.Action, q link.Question) {
			switch a.Kind {
			case invasive.AskOffer:
				offer := &invasive.Offer{Parts: []invasive.Part{{Node: 0, Cores: 4}}, Jobs: 10}
				runner.Answer(q, invasive.Event{Kind: invasive.OfferMade, Offer: offer})
			case invasive.AskVerdict:
				runner.Answer(q, invasive.Event{Kind: invasive.Verdict, Accept: true})
			case invasive.AskPlace:
				runner.Post(invasive.Event{Kind: invasive.Place, ID: 1, Cores: []uint32{0, 1}})
			case invasive.Launch:
				fmt.Println("launch", a.Job.Args, "on cores", a.Cores)
				runner.Post(invasive.Event{Kind: invasive.Exited, ID: a.ID})
			}
		},
	})
	if err := runner.Perform(actions); err != nil {
		return err
	}
	return runner.Run(ctx)
}

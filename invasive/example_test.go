// SPDX-License-Identifier: BSD-3-Clause

package invasive_test

import (
	"fmt"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// One job from its submission to its launch: the two machines, and between them a loop that carries
// messages and answers every question with yes.
func Example() {
	terms := invasive.Terms{Attempts: 3, Reply: 5 * time.Second, Report: time.Second}
	agent := invasive.NewAgent(terms, nil)
	terms.Partition = invasive.Partition{Name: "invasic", Nodes: 1, Sockets: 1, CoresPerSocket: 4}
	hypervisor, _ := invasive.NewHypervisor(terms, nil, nil, nil)

	var toAgent, toHypervisor []invasive.Event
	job := &invasive.Job{ID: 1, MinCores: 2, MaxCores: 2, Args: []string{"simulate"}}
	toAgent = append(toAgent, invasive.Event{Kind: invasive.Start}, invasive.Event{Kind: invasive.Submit, Job: job})
	toHypervisor = append(toHypervisor, invasive.Event{Kind: invasive.Start})

	for len(toAgent)+len(toHypervisor) > 0 {
		if len(toHypervisor) > 0 {
			ev := toHypervisor[0]
			toHypervisor = toHypervisor[1:]
			for _, a := range hypervisor.Step(&ev, nil) {
				switch a.Kind {
				case invasive.Send:
					toAgent = append(toAgent, invasive.Event{Kind: invasive.EventKind(a.Msg.Kind), Msg: a.Msg})
				case invasive.AskOffer:
					offer := &invasive.Offer{Parts: []invasive.Part{{Node: 0, Cores: 4}}, Jobs: 10}
					toHypervisor = append(toHypervisor, invasive.Event{Kind: invasive.OfferMade, Offer: offer})
				case invasive.AskVerdict:
					toHypervisor = append(toHypervisor, invasive.Event{Kind: invasive.Verdict, Accept: true})
				case invasive.AskPlace:
					toHypervisor = append(toHypervisor, invasive.Event{Kind: invasive.Place, ID: 1, Cores: []uint32{0, 1}})
				case invasive.Launch:
					fmt.Println("launch", a.Job.Args, "on cores", a.Cores)
				}
			}
			continue
		}
		ev := toAgent[0]
		toAgent = toAgent[1:]
		for _, a := range agent.Step(&ev, nil) {
			switch a.Kind {
			case invasive.Connect:
				toHypervisor = append(toHypervisor, invasive.Event{Kind: invasive.Connected})
				toAgent = append(toAgent, invasive.Event{Kind: invasive.Connected})
			case invasive.Send:
				fmt.Println(a.Msg.Kind)
				toHypervisor = append(toHypervisor, invasive.Event{Kind: invasive.EventKind(a.Msg.Kind), Msg: a.Msg})
			case invasive.AskDecision:
				mapping := []invasive.Mapping{{Job: job, Parts: []invasive.Part{{Node: 0, Cores: 2}}}}
				toAgent = append(toAgent, invasive.Event{Kind: invasive.Decided, Accept: true, Map: mapping})
			}
		}
	}
	// Output:
	// INITIALISE
	// NEGOTIATION_START
	// RESPONSE_RESOURCE_OFFER
	// launch [simulate] on cores [0 1]
	// RESPONSE_NEGOTIATION_END
}

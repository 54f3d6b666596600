// SPDX-License-Identifier: BSD-3-Clause

package crew_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/aucsched/aucsched/invasive/crew"
)

// A lead has a member on a place run a command. In a job of Slurm the member is another process, on
// another node, and finds the invitation in its environment.
func Example() {
	events := make(chan crew.Event)
	lead, err := crew.NewLead("localhost:0", slog.New(slog.NewTextHandler(io.Discard, nil)), func(e crew.Event) { events <- e })
	if err != nil {
		fmt.Println(err)
		return
	}
	member := crew.Member{Invitation: lead.Invitation(), Place: 3, Node: "n7", Job: "28"}
	left := make(chan error)
	go func() { left <- member.Serve(context.Background(), nil) }()

	e := <-events
	fmt.Println("place", e.Place, e.Kind, "on", e.Node)
	if _, err := lead.Run(e.Place, crew.Command{Argv: []string{"sh", "-c", "exit 7"}}); err != nil {
		fmt.Println(err)
	}
	e = <-events
	fmt.Println("a command has", e.Kind, "with status", e.Status)
	_ = lead.Release(e.Place)
	fmt.Println(<-left, (<-events).Kind)
	fmt.Println(lead.Close())
	// Output:
	// place 3 joined on n7
	// a command has ended with status 7
	// <nil> gone
	// <nil>
}

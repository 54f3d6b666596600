// SPDX-License-Identifier: BSD-3-Clause

// Window reads a window file, decides on it once, and prints what starts and why the others wait.
//
//	go run ./examples/window examples/blocked.json
//
// The reader is this module's own. A program elsewhere fills a core.Snapshot, or a core.Cluster as
// in examples/embed, and needs no window file.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/window"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: window FILE.json")
	}
	if err := run(context.Background(), os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w, err := window.Read(file, path)
	if err != nil {
		return err
	}
	auction, err := core.NewAuction(core.Preset(""), nil)
	if err != nil {
		return err
	}
	var plan core.Plan
	if err := auction.Decide(ctx, &w.Snapshot, core.Limits{}, &plan); err != nil {
		return err
	}
	outcome, err := window.NewOutcome(auction.Name(), w, &plan)
	if err != nil {
		return err
	}
	for _, d := range outcome.Decisions {
		if d.Start {
			fmt.Fprintln(out, d.Job, "starts on", d.Nodes)
		} else {
			fmt.Fprintln(out, d.Job, "waits:", d.Reason)
		}
	}
	return nil
}

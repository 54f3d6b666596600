// SPDX-License-Identifier: BSD-3-Clause

// Command aucsched decides, explains and watches a site: see aucsched --help.
package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/decide"
)

func main() { cli.Main(run) }

// run is the whole command; it returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	if program, command := handedOn(newRoot(), args); program != "" {
		return cli.Status(handOn(program, command, args), errs)
	}
	return cli.Execute(ctx, newRoot(), args, in, out, errs)
}

func newRoot() *cobra.Command {
	const own = "own"
	commands := []*cobra.Command{decide.Plan(nil, nil), decide.Explain(nil), tryCommand(),
		checkCommand(), pilotCommand(), whyCommand(), statusCommand(), shadowCommand(), topCommand(), metricsCommand(), schemaCommand()}
	for _, c := range commands {
		c.GroupID = own
	}
	root := cli.NewRoot("Decide for a whole window of batch jobs at once which start, and on which nodes",
		`aucsched takes the first jobs of a batch queue together. Every job bids for sets
of nodes, and an optimiser picks the bids that together are worth most.

Commands of other programs are handed on to these, which are looked for beside
aucsched and then in PATH.`, commands...)
	root.AddCommand(slurmTopic())
	root.AddGroup(&cobra.Group{ID: own, Title: "Commands:"})
	root.SetHelpCommandGroupID(own)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetCompletionCommandGroupID(own)
	for _, p := range companions {
		p.addTo(root)
	}
	return root
}

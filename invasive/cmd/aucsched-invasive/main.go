// SPDX-License-Identifier: BSD-3-Clause

// Command aucsched-invasive has the commands of aucsched for invasive jobs: see
// aucsched-invasive --help.
package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
)

func main() { cli.Main(run) }

// run is the whole command; it returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	return cli.Execute(ctx, newRoot(), args, in, out, errs)
}

func newRoot() *cobra.Command {
	noPage := map[string]string{cli.NoPage: ""} // aucsched has it
	demo := &cobra.Command{Use: "demo", Short: "Show what the protocol does", Annotations: noPage}
	demo.AddCommand(demoCommand())
	root := cli.NewRoot("Run jobs that gain and lose cores",
		`aucsched-invasive has both sides of the invasive protocol, which negotiate for jobs' cores.
aucsched hands these commands on to it.`,
		ihypervisorCommand(), agentCommand(), supervisorCommand(),
		ischedulerCommand(), taskPrologCommand(), crewCommand(), demo)
	root.Annotations = noPage
	return root
}

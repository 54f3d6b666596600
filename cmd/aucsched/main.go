// Command aucsched plans, simulates and solves: see aucsched --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit status of the command.
const (
	exitDone   = 0
	exitFailed = 1 // something went wrong on the way
	exitUsage  = 2 // wrong usage or input
)

// inputError is the user's mistake: a flag, an argument or what a file says.
type inputError struct{ err error }

func (e inputError) Error() string { return e.err.Error() }
func (e inputError) Unwrap() error { return e.err }

// badInput marks err as the user's mistake.
func badInput(err error) error {
	if err == nil {
		return nil
	}
	return inputError{err}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole command; it returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(errs, "aucsched: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
	var bad inputError
	if errors.As(err, &bad) {
		return exitUsage
	}
	return exitFailed
}

func newRoot() *cobra.Command {
	verbose := false
	root := &cobra.Command{
		Use:   "aucsched",
		Short: "Decide for a whole window of batch jobs at once which start, and on which nodes",
		Long: `aucsched takes the first jobs of a batch queue together. Every job bids for sets
of nodes, and an optimiser picks the bids that together are worth most.

Exit status: 0 done, 1 failed, 2 wrong usage or input.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          func(c *cobra.Command, args []string) error { return badInput(cobra.NoArgs(c, args)) },
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRun: func(c *cobra.Command, _ []string) {
			level := slog.LevelWarn
			if verbose {
				level = slog.LevelDebug
			}
			slog.SetDefault(slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: level})))
		},
	}
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "log what is done to standard error")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return badInput(err) })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(planCommand(), explainCommand(), simulateCommand(), simulateInvasiveCommand(), ischedulerCommand(), taskPrologCommand(), reproduceCommand(), solveCommand(), statusCommand(), workerCommand(), demoCommand())
	root.AddCommand(ihypervisorCommands()...)
	root.AddCommand(emulateCommands()...)
	return root
}

// exactArgs is cobra.ExactArgs as a usage error.
func exactArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error { return badInput(cobra.ExactArgs(n)(c, args)) }
}

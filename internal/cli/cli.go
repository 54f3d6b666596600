// SPDX-License-Identifier: BSD-3-Clause

// Package cli is what the programs aucsched, aucsched-lab and aucsched-invasive share: how a
// command ends, what it says of mistakes, and the settings of policies.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/version"
	"github.com/spf13/cobra"
)

// Exit statuses of a command.
const (
	ExitDone   = 0
	ExitFailed = 1 // something went wrong on the way
	ExitUsage  = 2 // wrong usage or input
	ExitFault  = 3 // a fault of the program itself
)

// Ended is the exit status of another program that did the work, and said why it failed.
type Ended int

func (e Ended) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Main is the main function of a program. SIGINT and SIGTERM end the context of run.
func Main(run func(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int) {
	ctx, stop := untilSignal(context.Background())
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Execute runs the command, and returns its exit status: 128 and the signal's number if a signal
// ended it. A panic is told in one line, and with --verbose where it came from.
func Execute(ctx context.Context, root *cobra.Command, args []string, in io.Reader, out, errs io.Writer) (status int) {
	defer func() {
		if v := recover(); v != nil {
			status = fault(root, v, errs)
		}
	}()
	root.SetArgs(args)
	root.SetIn(untilDone{ctx, in})
	root.SetOut(out)
	root.SetErr(errs)
	root.InitDefaultCompletionCmd()
	wordsBelow(root)
	var unsaid error // of help, which cobra doesn't ask for its error
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		_, unsaid = io.WriteString(c.OutOrStdout(), help(c, Width(c.OutOrStdout())))
	})
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = unsaid
	}
	if code, err := afterSignal(ctx, err); code != 0 {
		_ = Status(err, errs)
		return code
	}
	return Status(err, errs)
}

// Status is the exit status of a command that ended with err, which it prints: in a line, unless
// there are several errors, or another program's words on several lines.
func Status(err error, errs io.Writer) int {
	if err == nil {
		return ExitDone
	}
	var ended Ended
	if errors.As(err, &ended) {
		return int(ended)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(Words(err), "\t", " "), "\n") {
		if line = strings.TrimRight(line, " \r"); line == "" {
			continue
		}
		fmt.Fprintf(errs, "aucsched: %s\n", Plain(line))
	}
	var bad inputError
	if errors.As(err, &bad) {
		return ExitUsage
	}
	return ExitFailed
}

// fault says that the program has panicked with v.
func fault(root *cobra.Command, v any, errs io.Writer) int {
	again := ", and what it prints with --verbose"
	if verbose, err := root.PersistentFlags().GetBool("verbose"); err == nil && verbose {
		again = ", and this:"
	}
	Status(fmt.Errorf("internal error: %v: please report it, with the command line, its input, the version (%s)%s",
		v, version.Text(), again), errs)
	if strings.HasSuffix(again, ":") {
		fmt.Fprintf(errs, "%s", debug.Stack())
	}
	return ExitFault
}

// NewRoot makes the root of a program's commands. All programs go by the name aucsched, by
// which their commands are called.
func NewRoot(short, long string, commands ...*cobra.Command) *cobra.Command {
	verbose := false
	root := &cobra.Command{
		Use:     "aucsched",
		Version: version.Text(),
		Short:   short,
		Long: long + "\n\nExit status: 0 done, 1 failed, 2 wrong usage or input, 3 internal error, " +
			"128 and the signal's number after a signal (130 after Ctrl-C).",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          ExactArgs(0),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRun: func(c *cobra.Command, _ []string) {
			level := slog.LevelWarn
			if verbose {
				level = slog.LevelDebug
			}
			setLog(c, level)
		},
	}
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "log what is done to standard error")
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(commands...)
	root.AddCommand(manPages(root), versionCommand(root))
	root.SetHelpCommand(helpCommand(root))
	root.SetUsageFunc(usage)
	noFiles(root)
	return root
}

// LinuxOnly stands for a command on systems that can't have it.
func LinuxOnly(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: "Needs Linux", DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return BadInput(fmt.Errorf("%s: needs Linux, and this is %s", name, runtime.GOOS))
		},
	}
}

// Deadline turns a time limit into the moment when an answer is due; 0 means no limit.
func Deadline(limit time.Duration) time.Time {
	if limit <= 0 {
		return time.Time{}
	}
	return time.Now().Add(limit)
}

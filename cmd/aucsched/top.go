// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
)

// clearScreen has a terminal begin again at its top left.
const clearScreen = "\x1b[H\x1b[2J"

func topCommand() *cobra.Command { return newTopCommand(time.Now, os.Getenv, cli.IsTerminal) }

func newTopCommand(now func() time.Time, getenv func(string) string, isTerminal func(io.Writer) bool) *cobra.Command {
	var file string
	var every time.Duration
	var once bool
	c := &cobra.Command{
		Use:   "top",
		Short: "Show what the auction inside slurmctld is doing, again and again",
		Long: `top refreshes the output of aucsched status every few seconds until it is interrupted. With --once,
or if its output is not a terminal, it prints it once.`,
		Example: "  aucsched top --interval 5s",
		Args:    cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if every < 200*time.Millisecond || every > time.Hour {
				return cli.BadInput(fmt.Errorf("--interval: %v: must be 200ms to 1h", every))
			}
			file, err := statusFile(file, getenv)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if once || !isTerminal(out) {
				text, err := statusPage(file, now())
				if err == nil {
					_, err = out.Write(text)
				}
				return cli.BadInput(err)
			}
			tick := time.NewTicker(every)
			defer tick.Stop()
			for { // slurmctld may be restarting
				page, err := statusPage(file, now())
				if err != nil {
					page = []byte(cli.Words(err) + "\n")
				}
				if _, err := out.Write(append([]byte(clearScreen), page...)); err != nil {
					return err
				}
				select {
				case <-c.Context().Done():
					return context.Cause(c.Context())
				case <-tick.C:
				}
			}
		},
	}
	c.Flags().StringVar(&file, "file", "", "the status file, as of status")
	c.Flags().DurationVar(&every, "interval", 2*time.Second, "time from one refresh to the next, 200ms to 1h")
	c.Flags().BoolVar(&once, "once", false, "show it once")
	return c
}

// statusPage is what status prints of the file.
func statusPage(file string, now time.Time) ([]byte, error) {
	s, _, err := readStatus(file)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = s.print(&page, now)
	if err == nil && s.stale(now) {
		fmt.Fprintf(&page, "\nstale: written %s ago, and every %v when all is well\n", ago(s.age(now)), s.interval)
	}
	return page.Bytes(), err
}

// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/slurm/check"
)

func checkCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check [SLURM.CONF]",
		Short: "Look at a slurm.conf before slurmctld is restarted with it",
		Long: `check reports problems of a slurm.conf for aucsched's plug-ins: unknown settings, wrong values, and
settings that exclude each other. It also reports a PluginDir that lacks the plug-ins, is in the
wrong order or is for another version of Slurm, and notes which lines leave jobs to Slurm.

Without a file it reads $SLURM_CONF, or else /etc/slurm/slurm.conf. The exit status is 1 if there is
a problem. Notes do not count.`,
		Example: "  aucsched check /etc/slurm/slurm.conf.new",
		Args:    cli.MaximumArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			path := os.Getenv("SLURM_CONF")
			if len(args) == 1 {
				path = args[0]
			}
			if path == "" {
				path = slurmConf
			}
			found, err := check.Check(path)
			if errors.Is(err, fs.ErrNotExist) && len(args) == 0 {
				err = fmt.Errorf("%w: name a file, or have SLURM_CONF name one", err)
			}
			if err != nil {
				return cli.BadInput(err)
			}
			problems := len(slices.DeleteFunc(slices.Clone(found), func(f check.Finding) bool { return !f.Problem }))
			if err := printFindings(c.OutOrStdout(), found, problems, asJSON); err != nil || problems == 0 {
				return err
			}
			return fmt.Errorf("%s: problems: %d", path, problems)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: an array of findings")
	return c
}

func printFindings(out io.Writer, found []check.Finding, problems int, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(append([]check.Finding{}, found...))
	}
	var b strings.Builder
	if problems == 0 {
		fmt.Fprintln(&b, "no problem found")
	}
	for _, f := range found {
		fmt.Fprintf(&b, "%s: %s\n", map[bool]string{true: "problem", false: "note"}[f.Problem], cli.Plain(f.String()))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

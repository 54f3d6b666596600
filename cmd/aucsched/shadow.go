// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/internal/slurm/shadow"
)

func shadowCommand() *cobra.Command { return newShadowCommand(os.Getenv, userNames()) }

func newShadowCommand(getenv func(string) string, userName func(int64) string) *cobra.Command {
	var html string
	var asJSON, jobs bool
	c := &cobra.Command{
		Use:   "shadow [FILE]",
		Short: "Compare what the auction would have started with what Slurm did, while it ran with auc_mode=shadow",
		Long: `shadow reports what the auction would have started, when and where, beside what Slurm did. The
plug-in records both with auc_mode=shadow. shadow counts jobs that would have started earlier, at
the same time and later, by partition, user and width. Tables show the 100 rows with the most jobs,
and shorten long names and node lists; --json has everything.

Without FILE it reads aucsched.shadow in the StateSaveLocation of slurm.conf ($SLURM_CONF, or
/etc/slurm/slurm.conf). It also reads FILE.old, which has the earlier records.`,
		Example: "  aucsched shadow\n  aucsched shadow /var/spool/slurmctld/aucsched.shadow --html shadow.html",
		Args:    cli.MaximumArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := stateFile("FILE", append(args, "")[0], getenv("SLURM_CONF"), "", "aucsched.shadow")
			if err != nil {
				return cli.BadInput(err)
			}
			log, err := shadow.ReadFiles(file)
			if err != nil {
				return cli.BadInput(unread(err, ""))
			}
			report := shadow.Compare(log, userName, jobs || html != "")
			if html != "" {
				if err := writePage(html, report.Document().HTML); err != nil {
					return err
				}
			}
			if !jobs {
				report.Jobs = nil
			}
			if asJSON {
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(report)
			}
			return report.Document().Text(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: aucsched schema shadow")
	c.Flags().BoolVar(&jobs, "jobs", false, "all jobs one by one, too")
	c.Flags().StringVar(&html, "html", "", "write a page to this `file`, too; it needs no network")
	return c
}

// writePage replaces the file of --html when the page is complete.
func writePage(path string, write func(io.Writer) error) error {
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	if err := durable.Write(path, page.Bytes()); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}

// mostNames is how many users' names the system is asked for: each may be a question to a server.
const mostNames = 1000

// userNames asks the system, once for each user. Further users have their numbers for names.
func userNames() func(int64) string {
	known := map[int64]string{}
	return func(uid int64) string {
		name, ok := known[uid]
		if !ok {
			name = strconv.FormatInt(uid, 10)
			if len(known) >= mostNames {
				return name
			}
			if u, err := user.LookupId(name); err == nil {
				name = u.Username
			}
			known[uid] = name
		}
		return name
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package decide

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/slurm/pending"
	"github.com/aucsched/aucsched/internal/window"
)

// Explain is the command explain; p are the policies before AUCSCHED2, as those of [Plan].
func Explain(others policy.Others) *cobra.Command {
	f := newDecision(others, 200, 30*time.Second)
	c := &cobra.Command{
		Use:   "explain [WINDOW.json] JOB",
		Short: "Say why a job starts or waits, who is in its way, and what change would start it now",
		Long: `explain decides a window as plan does, and says why a job starts or waits. It names what is short,
which jobs hold it, win it or have it reserved, and when the job is expected to start. It then searches for
small changes to the request that would let the job start now. Each suggestion was verified by
deciding the window again. With -, the window is read from standard input; without WINDOW.json too,
unless JOB is a number. aucsched why explains jobs of the running Slurm.`,
		Example: "  aucsched explain examples/blocked.json wide",

		ValidArgsFunction: completeJob,
		Args:              checkExplain,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				args = []string{"-", args[0]}
			}
			return f.explainJob(c, args[0], args[1])
		},
	}
	f.register(c.Flags(), "print JSON: the job's decision as plan has it, with an explanation",
		"wall-clock time for each decision; 0: none", "")
	cli.Group(c, append(cli.PolicySubjects(),
		cli.Subject{Title: "Explanations", Flags: []string{"trials", "time"}})...)
	f.policy.Complete(c)
	policy.HandOn(c)
	return c
}

// checkExplain takes a window and a job, or a job of the window on standard input. A
// number alone is refused: it may be meant as a job of Slurm, and a loop over standard
// input would lose its lines.
func checkExplain(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.ExactArgs(2)(c, args)
	}
	if _, err := os.Stat(args[0]); err == nil {
		w, err := readWindow(nil, args[0])
		if err != nil {
			return err
		}
		return cli.BadInput(fmt.Errorf("explain %s: which job? There are %s", args[0], someOf(ids(w))))
	}
	if pending.IsJobID(args[0]) {
		return cli.BadInput(fmt.Errorf("explain %s: which window? For a job of the running Slurm use: aucsched why %[1]s; "+
			"for one of a window: aucsched explain WINDOW.json %[1]s, or - for a window on standard input", args[0]))
	}
	return nil
}

// mostNamed is how many jobs an error names.
const mostNamed = 20

// someOf are names with commas, the first of them.
func someOf(names []string) string {
	if more := len(names) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

func (f *decision) explainJob(c *cobra.Command, path, id string) error {
	if err := f.check(c.Flags()); err != nil {
		return err
	}
	if err := f.read(c, path); err != nil {
		return err
	}
	job, err := findJob(f.window, path, id)
	if err != nil {
		return err
	}
	e, err := f.decide(c.Context())
	if err != nil {
		return err
	}
	o, err := window.NewOutcome(f.by.Name(), f.window, e.Plan())
	if err != nil {
		return err
	}
	if err := f.explain.explain(c.Context(), e, f.window, o.Decisions[job:job+1], job); err != nil {
		return err
	}
	if f.asJSON {
		return json.NewEncoder(c.OutOrStdout()).Encode(o.Decisions[job])
	}
	return printExplanation(c.OutOrStdout(), &o.Decisions[job])
}

// completeJob has the shell offer windows, and then the waiting jobs of the window that was given.
func completeJob(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return cli.CompleteFile("json")(c, args, begun)
	}
	if args[0] == "-" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	w, err := readWindow(nil, args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// a word of the shell
	plain := slices.DeleteFunc(ids(w), func(id string) bool { return id != cli.Plain(id) })
	return cli.CompleteArgs(plain...)(c, nil, begun)
}

// ids are those of the waiting jobs.
func ids(w *window.Window) []string {
	var list []string
	for _, j := range w.Snapshot.Pending {
		list = append(list, j.ID)
	}
	return list
}

// findJob is the index in the queue of the job of that id.
func findJob(w *window.Window, path, id string) (int, error) {
	if path == "-" {
		path = "standard input"
	}
	job := slices.IndexFunc(w.Snapshot.Pending, func(j *core.Job) bool { return j.ID == id })
	if job >= 0 {
		return job, nil
	}
	if slices.ContainsFunc(w.Snapshot.Running, func(r core.Running) bool { return r.ID == id }) {
		return 0, cli.BadInput(fmt.Errorf("%s: job %.60q runs already", path, id))
	}
	return 0, cli.BadInput(cli.Did(fmt.Errorf("%s: there is no job %.60q", path, id), id, ids(w)))
}

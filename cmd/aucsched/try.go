// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/slurm/conf"
	"github.com/aucsched/aucsched/internal/try"
	"github.com/aucsched/aucsched/internal/workload"
)

// tryFlags are the settings of try.
type tryFlags struct {
	sacct, conf, html string
	from, to          string
	presets           []string
	interval, seed    uint
	weeks, most       int
	asJSON, how       bool
}

func tryCommand() *cobra.Command {
	f := tryFlags{}
	c := &cobra.Command{
		Use:   "try --sacct FILE [--conf slurm.conf]",
		Short: "Replay the last weeks of a site under simulated Slurm and under the auction, by its accounts",
		Long: `try simulates the jobs of the last weeks, as sacct reports them, under Slurm's backfill and under
each preset of the auction. It reports waits by partition, size and user, and how closely the
simulated Slurm follows the real one.

Without --conf the machine is inferred from where jobs ran and what they used at once; the page says
what was taken, and how far it may be wrong. --how prints the command that writes the file for --sacct.
Nothing is sent anywhere, and nothing is changed.

Each job gets as many CPUs as it had, runs for as long, and may start from when it was eligible. The
end of the page lists what the accounts do not tell.`,
		Example: "  aucsched try --how\n  aucsched try --sacct jobs.txt --conf /etc/slurm/slurm.conf --weeks 2 --html try.html",
		Args:    cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.how {
				_, err := fmt.Fprintf(c.OutOrStdout(), "sacct --allusers --allocations --duplicates --parsable2 "+
					"--starttime=now-%dweeks --format=%s >jobs.txt\n", f.weeks, workload.PastFormat)
				return err
			}
			return f.run(c)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.sacct, "sacct", "", "a file that sacct --parsable2 wrote (--how), plain or gzip")
	flags.StringVar(&f.conf, "conf", "", "the site's slurm.conf; without it the machine is inferred")
	flags.IntVar(&f.weeks, "weeks", 2, "how many of the last weeks, 1 to 520")
	flags.StringVar(&f.from, "from", "", "first time that counts, as 2024-01-02T03:04:05, in place of --weeks; with --to")
	flags.StringVar(&f.to, "to", "", "first time that does not")
	flags.StringSliceVar(&f.presets, "presets", try.Presets(), "the auction's presets to try; none: the auction without one")
	flags.UintVar(&f.interval, "interval", 3, "seconds from one cycle to the next, 1 to 3600; greater is faster")
	flags.UintVar(&f.seed, "seed", 1, "seed of the policies and of the intervals")
	flags.IntVar(&f.most, "most", 200_000, "refuse more jobs than this: each takes some milliseconds a policy")
	flags.StringVar(&f.html, "html", "", "write the page to this file, as well")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	flags.BoolVar(&f.how, "how", false, "print the command that writes the file for --sacct")
	return c
}

func (f *tryFlags) run(c *cobra.Command) error {
	o, err := f.options()
	if err != nil {
		return cli.BadInput(err)
	}
	past, err := try.Read(f.sacct, f.conf, o)
	if err != nil {
		return badTrial(err)
	}
	for _, note := range past.Notes {
		slog.Warn("slurm.conf was read with a file from elsewhere", "file", note)
	}
	if n := len(past.Jobs); n > f.most {
		return cli.BadInput(fmt.Errorf("--most: %d jobs: more than %d; take fewer --weeks", n, f.most))
	}
	policies := []try.Policy{past.Slurm()}
	for _, name := range f.presets {
		policies = append(policies, try.Preset(name))
	}
	replays := []*try.Replay{past.What()}
	for _, p := range policies {
		r, err := f.replay(c.Context(), past, p, c.ErrOrStderr())
		if err != nil {
			return err
		}
		replays = append(replays, r)
	}
	report := past.NewReport(replays, uint64(f.seed))
	if f.html != "" {
		if err := writePage(f.html, report.HTML); err != nil {
			return err
		}
	}
	if f.asJSON {
		return json.NewEncoder(c.OutOrStdout()).Encode(report)
	}
	return report.Text(c.OutOrStdout())
}

// replay has one policy decide, and says how far it is on a terminal.
func (f *tryFlags) replay(ctx context.Context, past *try.Past, p try.Policy, errs io.Writer) (*try.Replay, error) {
	setting := try.Setting{Interval: int64(f.interval), Seed: uint64(f.seed)}
	if bar := cli.NewBar(errs, len(past.Jobs), p.Name, progressbar.OptionSetPredictTime(true)); bar != nil {
		setting.OnCycle = func(p sim.Progress) { _ = bar.Set(p.End) }
		defer func() { _ = bar.Clear() }()
	}
	return past.Replay(ctx, p, setting)
}

// options checks the flags.
func (f *tryFlags) options() (o try.Options, err error) {
	switch {
	case f.sacct == "":
		return o, errors.New("--sacct is needed: a file that the command of aucsched try --how writes")
	case f.weeks < 1 || f.weeks > 520:
		return o, fmt.Errorf("--weeks: %d: must be 1 to 520", f.weeks)
	case f.interval < 1 || f.interval > 3600:
		return o, fmt.Errorf("--interval: %d: must be 1 to 3600", f.interval)
	case (f.from == "") != (f.to == ""):
		return o, errors.New("--from and --to go together")
	}
	if _, err := os.Stat(filepath.Dir(f.html)); err != nil { // before the work, and not after it
		return o, fmt.Errorf("--html: %w", err)
	}
	for _, name := range f.presets {
		if !slices.Contains(try.Presets(), name) {
			return o, cli.Unknown("--presets", name, try.Presets())
		}
	}
	o.Weeks = f.weeks
	if f.from == "" {
		return o, nil
	}
	if o.Span.From, err = second("--from", f.from); err != nil {
		return o, err
	}
	if o.Span.To, err = second("--to", f.to); err != nil {
		return o, err
	}
	if o.Span.Seconds() <= 0 {
		return o, fmt.Errorf("--to: %s: must be after --from", f.to)
	}
	return o, nil
}

// second is a time as sacct prints it.
func second(flag, text string) (int64, error) {
	t, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
	}
	if err != nil || t.Unix() < 0 {
		return 0, fmt.Errorf("%s: %q: not a time like 2024-01-02T03:04:05 or 2024-01-02", flag, text)
	}
	return t.Unix(), nil
}

// badTrial tells wrong input from what else fails.
func badTrial(err error) error {
	var row *workload.InputError
	var line *conf.Error
	var path *fs.PathError
	if errors.As(err, &row) || errors.As(err, &line) || errors.As(err, &path) || errors.Is(err, try.ErrNoJob) {
		return cli.BadInput(err)
	}
	return err
}

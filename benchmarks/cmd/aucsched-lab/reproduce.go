// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/bound"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/reproduce"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/version"
)

// reproduceFlags are the settings of reproduce.
type reproduceFlags struct {
	sel       reproduce.Selection
	all       bool
	seeds     string
	jobs      int
	out       string
	asJSON    bool
	markdown  string
	html      string
	via       string
	cell      int
	list      string
	partition string
}

func reproduceCommand() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce [TABLE...]",
		Short: "Run the papers' experiments in the simulator, and print our figures beside theirs",
		Long: `reproduce simulates every row of the papers' tables with several seeds. Each result is
stored as it comes: a run that was interrupted goes on where it was, and a row whose
settings have changed is run anew. The same seeds give the same output.

Results are kept in --out, or else in aucsched/reproduce below the user's cache directory
($XDG_CACHE_HOME, or ~/.cache), which is then said.

TABLE is ` + strings.Join(reproduce.Names(), ", ") + `. Without one, --all, --quick or --only it
says how much there is to run, and runs nothing.`,
		Example: "  aucsched reproduce --quick\n  aucsched reproduce aucsched2-3 --seeds 1-5 --markdown reproduction.md",
		RunE: func(c *cobra.Command, args []string) error {
			f.sel.Tables = args
			if c.Flags().Changed("cell") {
				return f.runCell(c)
			}
			if len(args) == 0 && !f.all && !f.sel.Quick && f.sel.Only == "" && f.list == "" {
				return f.choices(c)
			}
			return f.run(c)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.all, "all", false, "all tables; this takes hours")
	flags.StringVar(&f.seeds, "seeds", "1-5", "seeds of the workloads and policies: FIRST-LAST, or one")
	flags.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "simulations at a time")
	flags.StringVar(&f.out, "out", "", "directory of the results; without it one in the user's cache (see above)")
	flags.BoolVar(&f.sel.Quick, "quick", false, "ten minutes: one seed; ESP, machine S, Tsubame 1.NC to 1.FC")
	flags.StringVar(&f.sel.Only, "only", "", "only rows whose workload and method contain this, and what they are compared with")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	flags.StringVar(&f.markdown, "markdown", "", "write the tables to this file, too")
	flags.StringVar(&f.html, "html", "", "write a page with pictures of the tables to this `file`; it needs no network")
	flags.StringVar(&f.via, "via", "local", "where the simulations run: local, or slurm: as tasks of a job array, at most -j at a time")
	flags.StringVar(&f.partition, "partition", "", "--via slurm: the partition; none: Slurm's default")
	flags.IntVar(&f.cell, "cell", 0, "a task of --via slurm: run only this cell of --list, from 0 on")
	flags.StringVar(&f.list, "list", "", "with --cell: the list of cells, a file in --out")
	c.ValidArgsFunction = cli.CompleteArgs(reproduce.Names()...)
	cli.CompleteFlag(c, "via", "local", "slurm")
	return c
}

// run does everything but the tasks of a job array. All input is checked before the
// first cell runs.
func (f *reproduceFlags) run(c *cobra.Command) error {
	tables, seeds, err := f.check(c)
	if err != nil {
		return cli.BadInput(err)
	}
	program, err := simulateProgram()
	if err != nil {
		return err
	}
	cells, err := reproduce.Cells(program, tables, seeds)
	if err != nil {
		return cli.BadInput(err)
	}
	store, err := f.open(c)
	if err != nil {
		return cli.BadInput(err)
	}
	results, err := f.results(c, program, store, cells)
	if err != nil {
		return err
	}
	report, err := reproduce.NewReport(c.Context(), program, tables, seeds, results)
	if err != nil {
		return err
	}
	if err := f.write(report); err != nil {
		return err
	}
	if f.asJSON {
		return json.NewEncoder(c.OutOrStdout()).Encode(report)
	}
	_, err = io.WriteString(c.OutOrStdout(), report.Text())
	return err
}

// write writes the files that are asked for.
func (f *reproduceFlags) write(r *reproduce.Report) error {
	if f.markdown != "" {
		if err := writePage(f.markdown, r.Markdown(f.commandLine())); err != nil {
			return fmt.Errorf("--markdown: %w", err)
		}
	}
	if f.html == "" {
		return nil
	}
	var page bytes.Buffer
	if err := r.WritePage(&page, f.commandLine()); err != nil {
		return err
	}
	if err := reproduce.WriteFile(f.html, page.Bytes()); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}

func (f *reproduceFlags) check(c *cobra.Command) ([]reproduce.Table, []uint64, error) {
	if f.sel.Quick {
		if c.Flags().Changed("seeds") {
			return nil, nil, errors.New("--quick: has one seed; --seeds cannot be given")
		}
		f.seeds = "1"
	}
	if f.all && (f.sel.Quick || len(f.sel.Tables) > 0) {
		return nil, nil, errors.New("--all: goes without --quick and without tables")
	}
	if f.jobs < 1 {
		return nil, nil, fmt.Errorf("-j: %d: must be at least 1", f.jobs)
	}
	if f.via != "local" && f.via != "slurm" {
		return nil, nil, fmt.Errorf("--via: %q is unknown; known are local, slurm", f.via)
	}
	if f.list != "" {
		return nil, nil, errors.New("--list: needs --cell")
	}
	seeds, err := replay.ParseSeeds(f.seeds)
	if err != nil {
		return nil, nil, fmt.Errorf("--seeds: %w", err)
	}
	tables, err := reproduce.Select(f.sel)
	return tables, seeds, err
}

// open opens the results' directory and tries the pages' files.
func (f *reproduceFlags) open(c *cobra.Command) (*reproduce.Store, error) {
	for _, page := range []struct{ flag, path string }{{"--markdown", f.markdown}, {"--html", f.html}} {
		if page.path == "" {
			continue
		}
		if err := reproduce.TryFile(page.path); err != nil {
			return nil, fmt.Errorf("%s: %w", page.flag, err)
		}
	}
	return openStore(c, f.out)
}

// openStore opens the results' directory. Without a path it is one of the user's cache, named after
// the command, and standard error says so: nothing is written where the user happens to be.
func openStore(c *cobra.Command, path string) (*reproduce.Store, error) {
	if path == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("--out is not given, and there is no cache directory: %w", err)
		}
		path = filepath.Join(cache, "aucsched", strings.Fields(c.CommandPath())[1])
		fmt.Fprintf(c.ErrOrStderr(), "aucsched: results are kept in %s; --out names another directory\n", path)
	}
	store, err := reproduce.OpenStore(path)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return store, nil
}

// runTime is about what a run takes of one core, in the mean: 78 of the 199 of a seed took 292 s of
// two shared cores, and the largest, Tsubame, take ten.
const runTime = 5 * time.Second

// about says how long so many runs take with -j at a time.
func (f *reproduceFlags) about(runs int) string {
	return fmt.Sprintf("about %s with -j %d", cli.Seconds((runTime * time.Duration(runs) / time.Duration(f.jobs)).Seconds()), f.jobs)
}

// choices is the error of a call that does not say what to run: it says how much there is.
func (f *reproduceFlags) choices(c *cobra.Command) error {
	_, seeds, err := f.check(c)
	if err != nil {
		return cli.BadInput(err)
	}
	runs := make(map[bool]int) // of one seed; those of --quick by true
	seen := make(map[string]bool)
	var names []string
	for _, t := range reproduce.Tables() {
		for _, row := range t.Rows {
			if args := strings.Join(row.Args, " "); !seen[args] {
				seen[args] = true
				runs[row.Quick]++
			}
		}
		names = append(names, fmt.Sprintf("%s (%d)", t.Name, len(t.Rows)*len(seeds)))
	}
	all := (runs[true] + runs[false]) * len(seeds)
	return cli.BadInput(fmt.Errorf("reproduce: choose what to run; nothing was run\n"+
		"  --all: %d runs with seeds %s, %s\n  --quick: %d runs with one seed, %s\n  TABLE...: %s",
		all, f.seeds, f.about(all), runs[true], f.about(runs[true]), strings.Join(names, ", ")))
}

// results runs the cells that have no result yet.
func (f *reproduceFlags) results(c *cobra.Command, program *reproduce.Program,
	store *reproduce.Store, cells []reproduce.Prepared) (reproduce.Results, error) {
	progress, done := cellProgress(c.ErrOrStderr(), len(cells))
	defer done()
	say := func(s string) { slog.Warn(s) }
	if f.via == "slurm" {
		a := reproduce.Array{Store: store, Limit: f.jobs, Partition: f.partition, Say: say, Done: progress}
		return a.Run(c.Context(), cells)
	}
	r := reproduce.Runner{Program: program, Store: store, Jobs: f.jobs, Say: say, Done: progress}
	return r.Run(c.Context(), cells)
}

// runCell is a task of a job array.
func (f *reproduceFlags) runCell(c *cobra.Command) error {
	if f.list == "" || len(f.sel.Tables) > 0 {
		return cli.BadInput(errors.New("--cell: needs --list, and no table"))
	}
	store, err := f.open(c)
	if err != nil {
		return cli.BadInput(err)
	}
	program, err := simulateProgram()
	if err != nil {
		return err
	}
	cell, err := store.ListedCell(program, f.list, f.cell)
	if err != nil {
		return cli.BadInput(err)
	}
	r := reproduce.Runner{Program: program, Store: store, Jobs: 1, Say: func(s string) { slog.Warn(s) }}
	_, err = r.Run(c.Context(), []reproduce.Prepared{cell})
	return err
}

// commandLine is what makes the same page again.
func (f *reproduceFlags) commandLine() string {
	words := append([]string{"aucsched reproduce"}, f.sel.Tables...)
	if f.sel.Quick {
		words = append(words, "--quick")
	} else {
		words = append(words, "--seeds "+f.seeds)
	}
	if f.sel.Only != "" {
		words = append(words, fmt.Sprintf("--only %q", f.sel.Only))
	}
	if f.markdown != "" {
		words = append(words, "--markdown "+f.markdown)
	}
	if f.html != "" {
		words = append(words, "--html "+f.html)
	}
	return strings.Join(words, " ")
}

// cellProgress draws a bar of cells on a terminal. The second function takes it away.
func cellProgress(errs io.Writer, cells int) (progress func(int), done func()) {
	bar := cli.NewBar(errs, cells, "simulations", progressbar.OptionSetPredictTime(true))
	if bar == nil {
		return func(n int) { slog.Debug("simulations", "done", n, "of", cells) }, func() {}
	}
	return func(n int) { _ = bar.Set(n) }, func() { _ = bar.Clear() }
}

// simulateProgram is the command simulate, in this process.
func simulateProgram() (*reproduce.Program, error) {
	version, err := buildVersion()
	return &reproduce.Program{Version: version, Settings: simulateSettings, Run: simulateArgs, Bound: boundArgs}, err
}

// laterFlags are those that simulate did not always have.
var laterFlags = []string{"first", "slurmctld", "backfill-test", "files", "locality", "bandwidth", "memory", "sharers",
	"mode", "warm-up", "evaluate"}

// sinceStored says that a flag has the value that all results on file were made with, from
// before there was the flag: it is no part of their keys.
func sinceStored(f *pflag.Flag) bool {
	return slices.Contains(laterFlags, f.Name) && f.Value.String() == f.DefValue
}

// simulateSettings checks the arguments of simulate, and lists its flags with the
// values that they have.
func simulateSettings(args []string) ([]string, error) {
	c := simulateCommand()
	if err := executeQuietly(context.Background(), c, append([]string{"--dry-run"}, args...), io.Discard); err != nil {
		return nil, err
	}
	var settings []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "help", "json", "dry-run", "bound":
			return
		}
		if sinceStored(f) {
			return
		}
		setting := f.Name + "=" + f.Value.String()
		if f.Changed && f.Value.String() == f.DefValue {
			setting += ", given" // --preset=paper changes what is not given
		}
		settings = append(settings, setting)
		if f.Name == "preset" && f.Changed { // the name alone does not say what is in it
			settings = append(settings, fmt.Sprintf("of the preset=%+v", core.Preset(f.Value.String())))
		}
		settings = append(settings, meanings(f)...)
	})
	return settings, nil
}

// meanings are what else a flag stands for that has not its default: what was decided since there
// were first results on file.
func meanings(f *pflag.Flag) (settings []string) {
	if f.Value.String() == f.DefValue {
		return nil
	}
	packed := f.Name == "preset" && f.Value.String() == "packed"
	if packed || f.Name == "compact" {
		settings = append(settings, fmt.Sprintf("two blocks within=%d", place.MaxReach))
	}
	if packed || f.Name == "patience" {
		settings = append(settings, f.Name+": the last jobs first")
	}
	if f.Name == "slurmctld" {
		settings = append(settings, "slurmctld: nodes are free after some seconds")
	}
	if f.Name == "priority" {
		settings = append(settings, "priority: Slurm's size, and age everywhere")
	}
	return settings
}

func simulateArgs(ctx context.Context, args []string) (*sim.Result, json.RawMessage, error) {
	var out bytes.Buffer
	if err := executeQuietly(ctx, simulateCommand(), append([]string{"--json"}, args...), &out); err != nil {
		return nil, nil, err
	}
	r := new(sim.Result)
	return r, nil, json.Unmarshal(out.Bytes(), r)
}

// boundArgs is the least runtime that is possible, in seconds.
func boundArgs(ctx context.Context, args []string) (float64, error) {
	var out bytes.Buffer
	if err := executeQuietly(ctx, simulateCommand(), append([]string{"--bound", "--json"}, args...), &out); err != nil {
		return 0, err
	}
	var b bound.Bounds
	err := json.Unmarshal(out.Bytes(), &b)
	return b.Nodes, err
}

func executeQuietly(ctx context.Context, c *cobra.Command, args []string, out io.Writer) error {
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetOut(out)
	c.SetErr(io.Discard)
	return c.ExecuteContext(ctx)
}

// buildVersion is the commit that the program was built from, or a hash of the
// program's file if that is not all there is to it.
func buildVersion() (string, error) {
	if hash, clean := version.Commit(); clean {
		return "commit " + hash, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256 %x", h.Sum(nil)), nil
}

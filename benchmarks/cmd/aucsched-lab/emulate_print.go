// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/benchmarks/emulation"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/benchmarks/reproduce"
	"github.com/aucsched/aucsched/internal/cli"
)

// emulated is a run as the store has it.
type emulated struct {
	Command   string            `json:"command"`
	Scheduler string            `json:"scheduler"`
	Seed      uint64            `json:"seed"`
	Result    *emulation.Result `json:"result"`
	args      []string
}

func readEmulated(s *reproduce.Stored) (emulated, error) {
	cell := reproduce.Cell{Command: s.Command, Args: s.Args, Seed: s.Seed}
	e := emulated{Command: cell.String(), Scheduler: s.Result.Policy, Seed: s.Seed, Result: new(emulation.Result), args: cell.AllArgs()}
	if err := json.Unmarshal(s.Notes, e.Result); err != nil {
		return e, fmt.Errorf("%s: %w", e.Command, err)
	}
	return e, nil
}

// printEmulated prints a line for each run, or as JSON an object a line.
func printEmulated(out io.Writer, runs []emulated, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		for i := range runs {
			if err := e.Encode(&runs[i]); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t,
		"scheduler\tseed\tjobs\truntime h\tCPU %\tGPU %\twait "+
			"h\tslowdown\tfragm.\tspread\tpacking\tpass s\tdepth\thandover s\toverrun s\tlate s\tslurmctld s\twall s\t")
	for i := range runs {
		r := runs[i].Result
		m := r.Metrics
		fmt.Fprintf(t,
			"%s\t%d\t%d\t%.2f\t%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t%.2f\t%d\t%s\t%.2f\t%.2f\t%.0f\t%.0f\t\n",
			runs[i].Scheduler, runs[i].Seed, m.Jobs,
			float64(m.Runtime)/3600, 100*m.CPUUtilization, 100*m.GPUUtilization, m.WaitMean/3600, m.SlowdownMean, m.FragmentationMean,
			m.SpreadMean, m.PackingFactorMean, float64(r.Slurm.Backfill.Mean)/1e6,
			r.Slurm.Backfill.DepthMean, handover(r), r.Overrun.Mean, r.Late.Mean,
			r.Slurm.ControllerCPU, r.WallSeconds)
	}
	return t.Flush()
}

func handover(r *emulation.Result) string {
	s, ok := r.Handover()
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%g", s)
}

// pages writes the page with pictures of each seed's runs.
func (f *emulateFlags) pages(c *cobra.Command, runs []emulated) error {
	if f.html == "" {
		return nil
	}
	bySeed := make(map[uint64][]emulated)
	var seeds []uint64
	for _, r := range runs {
		if bySeed[r.Seed] == nil {
			seeds = append(seeds, r.Seed)
		}
		bySeed[r.Seed] = append(bySeed[r.Seed], r)
	}
	for _, seed := range seeds {
		path := f.html
		if len(seeds) > 1 {
			suffix := filepath.Ext(path)
			path = fmt.Sprintf("%s.seed%d%s", strings.TrimSuffix(path, suffix), seed, suffix)
		}
		if err := writeEmulatedPage(path, report.CommandLine(c), bySeed[seed]); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
	}
	return nil
}

// writeEmulatedPage shows runs of one seed side by side. What jobs ask for may differ
// between schedulers in ranges of GPUs only, so that the first run's workload stands for all.
func writeEmulatedPage(path, command string, runs []emulated) error {
	page := report.Page{Command: command}
	for i := range runs {
		r, flags, err := parseEmulated(runs[i].args)
		if err != nil {
			return err
		}
		o, err := r.options(flags)
		if err != nil {
			return err
		}
		if page.Workload == nil {
			page.Nodes = o.Machine
			if page.Workload, err = r.replay.Read(r.load); err != nil {
				return err
			}
			page.Settings = append(r.replay.Settings(), report.Setting{Name: "Slurm",
				Value:   fmt.Sprintf("x%g", o.Rate),
				Meaning: "a real slurmctld under a clock that runs so fast while it has nothing to do"})
		}
		log := new(report.Log)
		if err := runs[i].Result.Replay(page.Workload.Jobs, log.Add); err != nil {
			return fmt.Errorf("%s: %w", runs[i].Command, err)
		}
		page.Runs = append(page.Runs, report.Run{Result: runs[i].Result.Metrics,
			Log: log, Settings: replay.PolicySettings(&r.policy, r.policy.Policy, flags)})
	}
	out, err := report.CreateOutput(path)
	if err != nil {
		return err
	}
	defer out.Discard()
	return out.Fill(page.Write)
}

// emulationProgress draws a bar on a terminal: of the runs, and of the jobs of the one that
// said something last.
type emulationProgress struct {
	mu   sync.Mutex
	bar  *progressbar.ProgressBar // nil: no terminal
	done int
	all  int
}

func emulationBar(errs io.Writer, cells int) *emulationProgress {
	return &emulationProgress{all: cells, bar: cli.NewBar(errs, 1, "")}
}

func (p *emulationProgress) cells(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = n
}

func (p *emulationProgress) jobs(j emulation.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		return
	}
	p.bar.Describe(fmt.Sprintf("run %d of %d, %.1f h of virtual time, jobs ended", min(p.done+1, p.all), p.all, j.Virtual.Hours()))
	p.bar.ChangeMax(j.Total + 1) // a bar that is full is gone
	_ = p.bar.Set(j.Done)
}

func (p *emulationProgress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"

	"github.com/aucsched/aucsched/invasive"
	invasim "github.com/aucsched/aucsched/invasive/simulation"
)

// invasiveShares are the shares of malleable jobs that are shown.
var invasiveShares = []float64{0, 0.25, 0.5, 0.75, 1}

// invasiveVariant is a change of what is assumed, which the page's second table shows.
type invasiveVariant struct {
	name   string
	share  float64
	change func(*invasim.Study)
}

var invasiveVariants = []invasiveVariant{
	{"as above", 1, func(*invasim.Study) {}},
	{"a change of cores costs 10 s", 1, func(s *invasim.Study) { s.Config.ResizeCost = 10 * time.Second }},
	{"a change of cores costs 60 s", 1, func(s *invasim.Study) { s.Config.ResizeCost = time.Minute }},
	{"1% of a job is serial", 1, func(s *invasim.Study) { s.Flexibility.Serial = 0.01 }},
	{"jobs can shrink, but not grow beyond what they ask for", 1, func(s *invasim.Study) { s.Flexibility.Most = 1 }},
	{"jobs can grow, but need what they ask for", 1, func(s *invasim.Study) { s.Flexibility.Least = 1 }},
}

// invasiveStudy is what is simulated; nodes and jobs are fewer in tests.
func invasiveStudy(seeds seedRange, nodes uint32, jobs int) *invasim.Study {
	p := invasive.Partition{Name: "invasic", Nodes: nodes, Sockets: 2, CoresPerSocket: 8}
	s := &invasim.Study{Config: invasim.NewConfig(p), Flexibility: invasim.DefaultFlexibility(), Shares: invasiveShares}
	s.Jobs = func(seed uint64) ([]invasim.Job, error) {
		mix := invasim.DefaultMix()
		mix.Jobs, mix.Seed = jobs, seed
		return mix.Generate(p.Cores())
	}
	for seed := seeds.First; seed <= seeds.Last; seed++ {
		s.Seeds = append(s.Seeds, seed)
	}
	return s
}

// invasiveFigures is all that the page shows.
type invasiveFigures struct {
	seeds    seedRange
	study    *invasim.Study
	jobs     int
	cases    []invasim.Case
	variants [][]invasim.Case // of invasiveVariants
}

// invasiveWorth simulates, and writes the page and the plot.
func invasiveWorth(ctx context.Context, seeds seedRange, picture string, errs io.Writer) (string, error) {
	f, err := measureInvasive(ctx, seeds, 64, 500, errs)
	if err != nil {
		return "", err
	}
	if err := writePicture(picture, f.plot); err != nil {
		return "", err
	}
	return f.page(filepath.Base(picture)), nil
}

func measureInvasive(ctx context.Context, seeds seedRange, nodes uint32, jobs int, errs io.Writer) (*invasiveFigures, error) {
	f := &invasiveFigures{seeds: seeds, study: invasiveStudy(seeds, nodes, jobs), jobs: jobs}
	fmt.Fprintf(errs, "simulating: %d shares, seeds %s\n", len(invasiveShares), seeds.String())
	var err error
	if f.cases, err = f.study.Run(ctx); err != nil {
		return nil, err
	}
	for _, v := range invasiveVariants {
		fmt.Fprintf(errs, "simulating: %s\n", v.name)
		s := invasiveStudy(seeds, nodes, jobs)
		s.Shares = []float64{v.share}
		v.change(s)
		cases, err := s.Run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.name, err)
		}
		f.variants = append(f.variants, cases)
	}
	return f, nil
}

// invasiveColumns are the figures of the page's tables.
var invasiveColumns = []struct {
	title    string
	decimals int
	of       func(*invasim.Result) float64
}{
	{"utilisation %", 1, func(r *invasim.Result) float64 { return 100 * r.Utilisation }},
	{"wait, min", 1, func(r *invasim.Result) float64 { return r.Wait / 60 }},
	{"turnaround, min", 1, func(r *invasim.Result) float64 { return r.Turnaround / 60 }},
	{"slowdown", 2, func(r *invasim.Result) float64 { return r.Slowdown }},
	{"makespan, h", 2, func(r *invasim.Result) float64 { return r.Makespan / 3600 }},
	{"resized", 0, func(r *invasim.Result) float64 { return float64(r.Shrinks + r.Grows) }},
	{"suspended", 1, func(r *invasim.Result) float64 { return float64(r.Suspensions) }},
}

// row is a line of a table: the figures of a share, over the seeds.
func invasiveRow(name string, cases []invasim.Case, share float64) []string {
	cells := []string{name}
	for _, c := range invasiveColumns {
		mean, dev := invasim.Mean(cases, share, c.of)
		cells = append(cells, fmt.Sprintf("%.*f ± %.*f", c.decimals, mean, c.decimals, dev))
	}
	return append(cells, fmt.Sprintf("%.2f", invasim.UrgentLatency(cases, share, 0.5)), fmt.Sprintf("%.2f", invasim.UrgentLatency(cases, share, 0.99)))
}

func invasiveHeader(first string) table {
	t := table{textColumns: 1, header: []string{first}}
	for _, c := range invasiveColumns {
		t.header = append(t.header, c.title)
	}
	t.header = append(t.header, "urgent p50, s", "urgent p99, s")
	return t
}

// page is benchmarks/results/invasive-simulation.md.
func (f *invasiveFigures) page(picture string) string {
	var p page
	c, cfg := f.study.Flexibility, f.study.Config
	mix := invasim.DefaultMix()
	p.heading(1, "What malleable jobs are worth")
	p.say("Written by `go run ./benchmarks/cmd/tables invasive -seeds %s -plot benchmarks/results/invasive.svg > benchmarks/results/invasive-simulation.md`; change the command, not this page. The same command gives the same numbers again. `aucsched simulate-invasive` runs the same with other settings, and on traces.", f.seeds.String())
	p.say("Both machines of the negotiation ([invasive.md](../../docs/invasive.md)) run in simulated time: the iScheduler maps by the auction (package `invasive/queue`), the iHypervisor decides as on real processes (package `invasive/place`). The same jobs run with none, some and all of them malleable; the others are rigid. A referee with a ledger of its own checked every change of a job's cores, that every job ran once and to its end, and that no work was lost or done twice.")
	p.heading(2, "Figures")
	t := invasiveHeader("malleable")
	for _, share := range invasiveShares {
		t.add(invasiveRow(fmt.Sprintf("%.0f%%", 100*share), f.cases, share)...)
	}
	p.table(&t)
	p.say("Means over the seeds, ± their standard deviation. Utilisation is the share of cores that jobs owned from the first submission to the last. Wait, turnaround and slowdown are means over the jobs that aren't urgent; an urgent job's latency is the time from its submission to its launch, over all seeds. A malleable job's duration without any change of its cores, on those that it asks for, is what the slowdown counts by.")
	if picture != "" {
		p.say("![Wait, turnaround and slowdown fall, and utilisation rises, with the share of malleable jobs](%s)", picture)
	}
	p.heading(2, "What was assumed")
	p.list(
		fmt.Sprintf("The partition: %d nodes of %d sockets of %d cores. %d jobs that come at random, sizes powers of two up to %.0f%% of the cores, durations from %v to %v with each order of magnitude as likely, which would keep %.0f%% of the cores busy. Users' limits are one to %g times the duration.",
			cfg.Partition.Nodes, cfg.Partition.Sockets, cfg.Partition.CoresPerSocket, f.jobs, 100*mix.MaxShare, mix.Shortest, mix.Longest, 100*mix.Load, mix.LimitFactor),
		fmt.Sprintf("A malleable job can use from %g to %g times the cores that it asks for, at any time, and its speed is the number of its cores (S(c) = 1 / (f + (1-f)/c) with f = %g). With f above 0 few cores are used better than many, so that shrinking costs a job less than it gives others; the second table has that, too.", c.Least, c.Most, c.Serial),
		fmt.Sprintf("To let go of cores takes %v, and a job does nothing for %v after each change. A message takes %v, a decision %v.", cfg.Release, cfg.ResizeCost, cfg.Latency, cfg.Think),
		fmt.Sprintf("%.0f%% of the jobs are urgent; these are rigid. For them others shrink or are suspended, and none is killed. Suspended jobs go on where they were.", 100*c.Urgent),
		"Rigid jobs are no straw man: mapped alone they wait no longer than under Slurm's backfill in `aucsched simulate` (TestWorth holds that for a workload of this kind).",
	)
	p.heading(2, "What depends on what")
	p.say("All jobs malleable, with one assumption changed.")
	t = invasiveHeader("changed")
	for i, v := range invasiveVariants {
		t.add(invasiveRow(v.name, f.variants[i], v.share)...)
	}
	p.table(&t)
	p.heading(2, "Reading")
	wait0, _ := invasim.Mean(f.cases, 0, invasiveColumns[1].of)
	half, _ := invasim.Mean(f.cases, 0.5, invasiveColumns[1].of)
	use0, _ := invasim.Mean(f.cases, 0, invasiveColumns[0].of)
	use1, _ := invasim.Mean(f.cases, 1, invasiveColumns[0].of)
	p.say("With half of the jobs malleable the mean wait is %.1f minutes instead of %.1f; with all of them utilisation is %.1f%% instead of %.1f%%. Urgent jobs find free cores more often where jobs are rigid, because those leave more of them idle; where malleable jobs have taken all cores an urgent one waits until they have let go, and hardly any job is suspended for it.",
		half, wait0, use1, use0)
	return p.String()
}

// plot draws what falls and what rises, in percent of what it is with rigid jobs. It returns SVG.
func (f *invasiveFigures) plot() ([]byte, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%d jobs on %d cores, means over %d seeds", f.jobs, f.study.Config.Partition.Cores(), len(f.study.Seeds))
	p.X.Label.Text, p.Y.Label.Text = "% of the jobs are malleable", "% of what it is if all are rigid"
	p.Y.Min, p.X.Max = 0, 105
	p.Add(plotter.NewGrid())
	var lines []any
	for _, c := range invasiveColumns[:4] {
		rigid, _ := invasim.Mean(f.cases, 0, c.of)
		if rigid == 0 {
			continue
		}
		var xy plotter.XYs
		for _, share := range invasiveShares {
			mean, _ := invasim.Mean(f.cases, share, c.of)
			xy = append(xy, plotter.XY{X: 100 * share, Y: 100 * mean / rigid})
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(c.title, " %"), ",")
		lines = append(lines, name, xy)
	}
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return nil, err
	}
	p.Legend.Top, p.Legend.Left = false, true
	return picture(p)
}

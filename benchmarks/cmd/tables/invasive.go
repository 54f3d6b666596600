// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

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
	return f.page(filepath.Base(picture))
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

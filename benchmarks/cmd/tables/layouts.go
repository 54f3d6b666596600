// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/core"
)

// layoutNodes, layoutJobs are the sizes of aucsched1, section 6: its three
// machines, and its window.
var layoutNodes = []int{128, 256, 1024}

const layoutJobs = 200

// bidding is one way to come by bids.
type bidding struct{ bids, drafts int }

func (b bidding) String() string { return fmt.Sprintf("%d bids, %d drafts", b.bids, b.drafts) }

// layoutBids are the ways to bid that are compared, by the papers' rules alone or with drafts.
var layoutBids = []bidding{{5, 0}, {15, 0}, {15, 7}}

// layoutRow is one size, with an element for each seed.
type layoutRow struct {
	Nodes int
	Bids  bidding
	Seen  []*benchmarks.Layouts
}

// layouts measures AUCSCHED1 beside AUCSCHED2, and writes the page.
func layouts(ctx context.Context, seeds seedRange, errs io.Writer) (string, error) {
	var rows []layoutRow
	for _, n := range layoutNodes {
		for _, b := range layoutBids {
			fmt.Fprintf(errs, "measuring: %d nodes, %s\n", n, b)
			row := layoutRow{Nodes: n, Bids: b}
			for seed := seeds.First; seed <= seeds.Last; seed++ {
				if err := ctx.Err(); err != nil {
					return "", err
				}
				x, err := layoutsOf(n, seed, b)
				if err != nil {
					return "", fmt.Errorf("%d nodes, seed %d, %s: %w", n, seed, b, err)
				}
				row.Seen = append(row.Seen, x)
			}
			rows = append(rows, row)
		}
	}
	return layoutsPage(seeds, rows)
}

func layoutsOf(nodes int, seed uint64, b bidding) (*benchmarks.Layouts, error) {
	w, err := benchmarks.NewWindow(nodes, layoutJobs, seed)
	if err != nil {
		return nil, err
	}
	o := core.Preset("paper")
	o.MaxBidsPerJob, o.Drafts = b.bids, b.drafts
	return benchmarks.CompareLayouts(w, o)
}

// layoutSizes and layoutAnswers are the figures of the page's tables.
var (
	layoutSizes = []column[*benchmarks.Layouts]{
		{"auction2: columns", 0, func(x *benchmarks.Layouts) float64 { return float64(x.Fixed.Columns) }},
		{"rows", 0, func(x *benchmarks.Layouts) float64 { return float64(x.Fixed.Rows) }},
		{"auction1 as printed: columns", 0, func(x *benchmarks.Layouts) float64 { return float64(x.Printed.Columns) }},
		{"rows", 0, func(x *benchmarks.Layouts) float64 { return float64(x.Printed.Rows) }},
		{"as made: columns", 0, func(x *benchmarks.Layouts) float64 { return float64(x.Direct.Columns) }},
		{"rows", 0, func(x *benchmarks.Layouts) float64 { return float64(x.Direct.Rows) }},
	}
	layoutAnswers = []column[*benchmarks.Layouts]{
		{"auction2: started", 1, func(x *benchmarks.Layouts) float64 { return float64(x.Auction2.Started) }},
		{"gap %", 1, func(x *benchmarks.Layouts) float64 { return 100 * x.Auction2.Gap() }},
		{"auction1: started", 1, func(x *benchmarks.Layouts) float64 { return float64(x.Auction1.Started) }},
		{"gap %", 1, func(x *benchmarks.Layouts) float64 { return 100 * x.Auction1.Gap() }},
	}
	layoutWorth = column[*benchmarks.Layouts]{"worth", 1, func(x *benchmarks.Layouts) float64 {
		return 100 * (x.Auction1.Objective/x.Auction2.Objective - 1)
	}}
	layoutTime = column[*benchmarks.Layouts]{"time", 0, func(x *benchmarks.Layouts) float64 {
		return float64(x.Auction1.Elapsed) / float64(x.Auction2.Elapsed)
	}}
)

func layoutsPage(seeds seedRange, rows []layoutRow) (string, error) {
	sizes, answers := tableOf(layoutSizes, "nodes", "bids"), tableOf(layoutAnswers, "nodes", "bids")
	answers.header = append(answers.header, layoutWorth.title, layoutTime.title)
	for _, r := range rows {
		begin := []string{count(r.Nodes), r.Bids.String()}
		row := slices.Clone(begin)
		for _, c := range layoutSizes {
			row = append(row, count(int(c.mean(r.Seen))))
		}
		sizes.add(row...)
		row = slices.Clone(begin)
		for _, c := range layoutAnswers {
			row = append(row, c.print(c.mean(r.Seen)))
		}
		answers.add(append(row, signed(layoutWorth.mean(r.Seen), 1), times(layoutTime.mean(r.Seen)))...)
	}
	return render("layouts", map[string]any{"Seeds": &seeds, "Machine": machine(), "Jobs": layoutJobs,
		"Sizes": sizes, "Answers": answers})
}

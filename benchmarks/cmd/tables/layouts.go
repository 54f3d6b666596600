// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/core"
)

// layoutNodes, layoutJobs are the sizes of aucsched1, section 6: its three machines, and its window.
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

// mean is a figure's mean over the seeds.
func (r *layoutRow) mean(figure func(x *benchmarks.Layouts) float64) (sum float64) {
	for _, x := range r.Seen {
		sum += figure(x) / float64(len(r.Seen))
	}
	return sum
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
	return layoutsPage(seeds, rows), nil
}

func layoutsOf(nodes int, seed uint64, b bidding) (*benchmarks.Layouts, error) {
	w, err := benchmarks.NewWindow(nodes, layoutJobs, seed)
	if err != nil {
		return nil, err
	}
	o := core.PaperAuctionOptions()
	o.MaxBidsPerJob, o.Drafts = b.bids, b.drafts
	return benchmarks.CompareLayouts(w, o)
}

func layoutsPage(seeds seedRange, rows []layoutRow) string {
	var p page
	p.heading(1, "AUCSCHED1 beside AUCSCHED2")
	p.say("Written by `go run ./benchmarks/cmd/tables layouts -seeds %s`. Measured on: %s. Means over the seeds; windows of %d jobs, no reservation.", seeds.String(), machine(), layoutJobs)
	p.heading(2, "Sizes of the models")
	t := table{textColumns: 2, header: []string{"nodes", "bids", "auction2: columns", "rows", "auction1 as printed: columns", "rows", "as made: columns", "rows"}}
	size := func(r *layoutRow, of func(x *benchmarks.Layouts) benchmarks.ModelSize) []string {
		return []string{
			count(int(r.mean(func(x *benchmarks.Layouts) float64 { return float64(of(x).Columns) }))),
			count(int(r.mean(func(x *benchmarks.Layouts) float64 { return float64(of(x).Rows) }))),
		}
	}
	for i := range rows {
		r := &rows[i]
		cells := append([]string{count(r.Nodes), r.Bids.String()}, size(r, func(x *benchmarks.Layouts) benchmarks.ModelSize { return x.Fixed })...)
		cells = append(cells, size(r, func(x *benchmarks.Layouts) benchmarks.ModelSize { return x.Printed })...)
		t.add(append(cells, size(r, func(x *benchmarks.Layouts) benchmarks.ModelSize { return x.Direct })...)...)
	}
	p.table(&t)
	p.heading(2, "Answers")
	p.say("`started` are jobs; `gap` is by how many per cent the bound lies above the answer's worth; `worth` is by how many per cent auction1's answer is worth more; `time` is how many times as long its cycle takes.")
	t = table{textColumns: 2, header: []string{"nodes", "bids", "auction2: started", "gap %", "auction1: started", "gap %", "worth", "time"}}
	for i := range rows {
		r := &rows[i]
		t.add(count(r.Nodes), r.Bids.String(),
			fmt.Sprintf("%.1f", r.mean(func(x *benchmarks.Layouts) float64 { return float64(x.Auction2.Started) })),
			fmt.Sprintf("%.1f", r.mean(func(x *benchmarks.Layouts) float64 { return 100 * x.Auction2.Gap() })),
			fmt.Sprintf("%.1f", r.mean(func(x *benchmarks.Layouts) float64 { return float64(x.Auction1.Started) })),
			fmt.Sprintf("%.1f", r.mean(func(x *benchmarks.Layouts) float64 { return 100 * x.Auction1.Gap() })),
			signed(r.mean(func(x *benchmarks.Layouts) float64 { return 100 * (x.Auction1.Objective/x.Auction2.Objective - 1) }), 1),
			times(r.mean(func(x *benchmarks.Layouts) float64 { return float64(x.Auction1.Elapsed) / float64(x.Auction2.Elapsed) })))
	}
	p.table(&t)
	return p.String()
}

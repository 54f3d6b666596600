package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/core"
)

// bidding is one way to come by bids.
type bidding struct{ bids, drafts, rounds, priced int }

func (b bidding) String() string {
	s := fmt.Sprintf("%d bids, %d drafts", b.bids, b.drafts)
	if b.rounds > 0 {
		s += fmt.Sprintf(", %d by price in %s", b.priced, plural(b.rounds, "round"))
	}
	return s
}

// biddings are compared; the first is what the others are held against.
var biddings = []bidding{
	{15, 7, 0, 0}, {60, 7, 0, 0}, {15, 7, 1, 6}, {15, 7, 3, 18},
	{15, 0, 0, 0}, {60, 0, 0, 0}, {15, 0, 1, 6}, {15, 0, 3, 18},
}

// pricedNodes leaves out the largest machines, on which nothing new is seen.
var pricedNodes = []int{128, 1024, 10_000}

// pricedRow is one size of window, a worth for each bidding and seed.
type pricedRow struct {
	Nodes, Jobs int
	Worths      [][]benchmarks.Worth
}

type pricedFigures struct {
	Machine      string
	Seeds        seedRange
	Reservations int
	Work         int64
	Rows         []pricedRow
}

// priced measures what bids by price are worth, and writes the page.
func priced(ctx context.Context, seeds seedRange, reservations int, errs io.Writer) (string, error) {
	o := core.DefaultAuctionOptions()
	o.Reservations = reservations
	f := pricedFigures{Machine: machine(), Seeds: seeds, Reservations: reservations, Work: o.Work}
	for _, n := range pricedNodes {
		for _, j := range benchmarks.JobCounts {
			fmt.Fprintf(errs, "measuring: %d nodes, %d jobs\n", n, j)
			row := pricedRow{Nodes: n, Jobs: j, Worths: make([][]benchmarks.Worth, len(biddings))}
			for seed := seeds.First; seed <= seeds.Last; seed++ {
				if err := row.measure(ctx, o, seed); err != nil {
					return "", err
				}
			}
			f.Rows = append(f.Rows, row)
		}
	}
	return f.page(), nil
}

func (r *pricedRow) measure(ctx context.Context, o core.AuctionOptions, seed uint64) error {
	w, err := benchmarks.NewWindow(r.Nodes, r.Jobs, seed)
	if err != nil {
		return err
	}
	for i, b := range biddings {
		if err := ctx.Err(); err != nil {
			return err
		}
		o.MaxBidsPerJob, o.Drafts, o.PricedRounds, o.MaxPricedBids = b.bids, b.drafts, b.rounds, b.priced
		x, err := benchmarks.WorthOf(w, o)
		if err != nil {
			return fmt.Errorf("%d nodes, %d jobs, seed %d, %s: %w", r.Nodes, r.Jobs, seed, b, err)
		}
		r.Worths[i] = append(r.Worths[i], x)
	}
	return nil
}

// gain is by how many per cent bidding i is worth more than the first: the mean over
// the seeds, and the least.
func (r *pricedRow) gain(i int) (mean, least float64) {
	least = math.Inf(1)
	for s, x := range r.Worths[i] {
		g := 100 * (x.Started/r.Worths[0][s].Started - 1)
		mean += g / float64(len(r.Worths[i]))
		least = min(least, g)
	}
	return mean, least
}

// gap is by how many per cent all allocations could at most be worth more than bidding
// i's, on average.
func (r *pricedRow) gap(i int) (mean float64) {
	for _, x := range r.Worths[i] {
		mean += 100 * x.Gap / float64(len(r.Worths[i]))
	}
	return mean
}

// time is how long bidding i took, as a multiple of the first's time.
func (r *pricedRow) time(i int) float64 {
	var sum, first float64
	for s, x := range r.Worths[i] {
		sum += x.Elapsed.Seconds()
		first += r.Worths[0][s].Elapsed.Seconds()
	}
	return sum / first
}

func (f *pricedFigures) page() string {
	var p page
	p.heading(1, "Bids by price")
	p.say("Written by `go run ./benchmarks/cmd/tables priced -seeds %s -reservations %d`. Measured on: %s.", f.Seeds.String(), f.Reservations, f.Machine)
	p.say("By how many per cent the jobs that start are worth more, by the sum of their priorities, than with %s: the mean over the seeds and, in brackets, the least. All have the same limit, %s units of the solver's work, which the rounds share. \"All\" is by how much more any allocations of the window's jobs could be worth at most, bid or not.", biddings[0], count(int(f.Work)))
	t := table{header: []string{"nodes", "jobs", "all"}}
	for _, b := range biddings[1:] {
		t.header = append(t.header, b.String())
	}
	means, ratios := []string{"mean", "", ""}, []string{"time", "", ""}
	for i := range biddings[1:] {
		mean, ratio := 0.0, 0.0
		for _, r := range f.Rows {
			m, _ := r.gain(i + 1)
			mean += m / float64(len(f.Rows))
			ratio += math.Log(r.time(i+1)) / float64(len(f.Rows))
		}
		means, ratios = append(means, signed(mean, 2)), append(ratios, times(math.Exp(ratio)))
	}
	for _, r := range f.Rows {
		cells := []string{count(r.Nodes), count(r.Jobs), signed(r.gap(0), 2)}
		for i := range biddings[1:] {
			mean, least := r.gain(i + 1)
			cells = append(cells, fmt.Sprintf("%s (%s)", signed(mean, 2), signed(least, 1)))
		}
		t.add(cells...)
	}
	t.add(means...)
	t.add(ratios...)
	p.table(&t)
	return p.String()
}

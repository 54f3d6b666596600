// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// filePage is a page of two runs on 4 cores: under b, job 1 loads its file for 20 s and job 2 waits
// for job 1 with nothing to load, under a both load. Job 3 comes after the window.
func filePage() *Page {
	jobs := []workload.Job{
		jobOf("1", bids.Request{Cores: 4}, 100, 50, 100),
		jobOf("2", bids.Request{Cores: 2}, 110, 50, 100),
		jobOf("3", bids.Request{Cores: 2}, 200, 10, 100),
	}
	segs := func(cores uint16) []nodeset.Segment { return []nodeset.Segment{{First: 0, Last: 0, Cores: cores}} }
	run := func(policy string, second int64, loading int64) Run {
		log := new(Log)
		log.Add(sim.Record{Job: &jobs[0], Submit: 100, Start: 100, End: 170, Segs: segs(4), Loading: 20})
		log.Add(sim.Record{Job: &jobs[1], Submit: 110, Start: 170, End: second, Segs: segs(2), Loading: loading})
		log.Add(sim.Record{Job: &jobs[2], Submit: 200, Start: 200, End: 210, Segs: segs(2)})
		return Run{Result: &sim.Result{Policy: policy, Jobs: 3}, Log: log, Figures: []Figure{{"Stretch", "mean", policy + "!"}}}
	}
	return &Page{Workload: &workload.Workload{Name: "w", Jobs: jobs}, Nodes: []nodeset.Capacity{{Cores: 4}}, From: 100, To: 200,
		Runs: []Run{run("a", 240, 20), run("b", 220, 0)}}
}

// What the page shows of files, by hand.
func TestFileData(t *testing.T) {
	d := filePage().data()
	require.Equal(t, []int64{0, 100}, d.Window)
	require.Equal(t, int64(1), d.Step)
	require.Equal(t, [][]float64{{1, 1, 0}, {1, 1.1818, 0}}, d.Share, "job 2: 130 s under a, 110 s under b; job 3 does not count")
	b := d.Runs[1]
	require.Equal(t, []float64{1, 1, 0}, []float64{b.Loading[0], b.Loading[19], b.Loading[20]})
	require.Equal(t, []float64{0.5, 0.5, 0}, []float64{d.Runs[0].Loading[70], d.Runs[0].Loading[89], b.Loading[70]})
	require.Equal(t, []float64{0, 0.5, 0.5, 0}, []float64{b.Asked[9], b.Asked[10], b.Asked[69], b.Asked[70]})
	require.Equal(t, []float64{1, 0.5, 1}, []float64{b.Counted[69], b.Counted[105], b.CPU[105]}, "job 3 is in use and does not count")
	require.Equal(t, []metric{{"Stretch", "mean", []string{"a!", "b!"}}}, filePage().metrics())
}

// Without files and window the page has none of it.
func TestNoFileData(t *testing.T) {
	p := filePage()
	p.From, p.To = 0, 0
	for i := range p.Runs {
		for k := range p.Runs[i].Log.ran {
			p.Runs[i].Log.ran[k].loading = 0
		}
	}
	d := p.data()
	require.Nil(t, d.Window)
	require.Nil(t, d.Runs[0].Loading)
	require.Nil(t, d.Runs[0].Asked)
	require.Nil(t, d.Runs[0].Counted)
	p.Runs = p.Runs[:1]
	require.Nil(t, p.data().Share)
}

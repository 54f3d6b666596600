// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func jobOf(id string, r bids.Request, submit, duration, limit int64) workload.Job {
	return workload.Job{Job: core.Job{ID: id, Request: r, Priority: 10_000 - submit, TimeLimit: limit}, Submit: submit, Duration: duration}
}

// simulate is a page of one run under backfill, and the records of its jobs.
func simulate(t require.TestingT, nodes []nodeset.Capacity, jobs []workload.Job) (*Page, map[string]sim.Record) {
	policy, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	return simulateUnder(t, policy, nodes, jobs)
}

func simulateUnder(t require.TestingT, policy core.Policy, nodes []nodeset.Capacity, jobs []workload.Job) (*Page, map[string]sim.Record) {
	records := map[string]sim.Record{}
	var log Log
	cfg := sim.NewConfig(nodes)
	cfg.OnEnd = func(r sim.Record) {
		log.Add(r)
		r.Segs = append([]nodeset.Segment(nil), r.Segs...)
		records[r.Job.ID] = r
	}
	res, err := sim.Run(context.Background(), cfg, policy, jobs)
	require.NoError(t, err)
	require.Equal(t, len(records), log.Len())
	return &Page{Workload: &workload.Workload{Name: "test", Jobs: jobs}, Nodes: nodes, Runs: []Run{{Result: res, Log: &log}}}, records
}

func drawWorkload(t *rapid.T) ([]nodeset.Capacity, []workload.Job) {
	var nodes []nodeset.Capacity
	for range rapid.IntRange(1, 6).Draw(t, "nodes") {
		nodes = append(nodes, nodeset.Capacity{Cores: uint16(rapid.SampledFrom([]int{2, 4}).Draw(t, "cores")),
			GPUs: uint8(rapid.SampledFrom([]int{0, 2}).Draw(t, "gpus"))})
	}
	var jobs []workload.Job
	for i := range rapid.IntRange(1, 30).Draw(t, "jobs") {
		r := bids.Request{Cores: rapid.IntRange(1, 9).Draw(t, "need"), MinGPUs: rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "gpu")}
		limit := rapid.Int64Range(1, 5000).Draw(t, "limit")
		jobs = append(jobs, jobOf(string(rune('a'+i)), r, rapid.Int64Range(0, 4000).Draw(t, "submit"),
			rapid.Int64Range(0, limit+20).Draw(t, "duration"), limit))
	}
	return nodes, jobs
}

// A curve keeps the integral of every span, and so does its twin, second by second.
func TestCurveIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		origin, length := rapid.Int64Range(0, 9).Draw(t, "origin"), rapid.Int64Range(1, 60).Draw(t, "length")
		c := newCurve(origin, origin+length, rapid.IntRange(1, 70).Draw(t, "spans"))
		twin := make([]int64, len(c.area))
		require.GreaterOrEqual(t, int64(len(twin))*c.step, length)
		for range rapid.IntRange(0, 9).Draw(t, "intervals") {
			from := rapid.Int64Range(origin, origin+length).Draw(t, "from")
			to := rapid.Int64Range(from, origin+length).Draw(t, "to")
			units := rapid.Int64Range(1, 5).Draw(t, "units")
			c.add(from, to, units)
			for s := from; s < to; s++ {
				twin[(s-origin)/c.step] += units
			}
		}
		require.Equal(t, twin, c.areas())
	})
}

// What the page draws adds up to what the simulation measured.
func TestDataAgreesWithResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		p, records := simulate(t, nodes, jobs)
		d, res := p.data(), p.Runs[0].Result
		run := d.Runs[0]
		integral := func(curve []float64) (sum float64) {
			for _, v := range curve {
				sum += v * float64(d.Step)
			}
			return sum
		}
		rounding := 1e-6 * float64(d.Step) * float64(len(run.CPU))
		require.InDelta(t, res.CPUUtilization*float64(res.Runtime), integral(run.CPU), rounding)
		_, gpus := total(nodes)
		require.Equal(t, gpus > 0, run.GPU != nil)
		require.InDelta(t, res.GPUUtilization*float64(res.Runtime), integral(run.GPU), rounding)
		require.InDelta(t, res.WaitMean*float64(res.Jobs), integral(run.Queue), rounding)

		require.Len(t, run.Job, res.Jobs)
		waited, shares, spreads := 0, 0.0, 0.0
		for _, b := range run.Waits {
			waited += b.N
		}
		for i := range run.Blocks {
			shares += run.Blocks[i]
			spreads += run.Spreads[i]
		}
		require.Equal(t, res.Jobs, waited)
		if res.Jobs > 0 {
			require.InDelta(t, 1, shares, 1e-9)
			require.InDelta(t, 1, spreads, 1e-9)
		}
		checkGantt(t, d, p, records)
	})
}

// checkGantt finds every job that ran once, with the nodes and times of its record.
func checkGantt(t require.TestingT, d *data, p *Page, records map[string]sim.Record) {
	run, segs, origin := d.Runs[0], d.Runs[0].Segs, p.origin()
	seen := map[int]bool{}
	for i, j := range run.Job {
		require.False(t, seen[j], "job %s twice", d.Jobs.ID[j])
		seen[j] = true
		r := records[d.Jobs.ID[j]]
		var got []nodeset.Segment
		for next := 0; run.Parts[i] > len(got); segs = segs[3:] {
			first := next + segs[0]
			next = first + segs[1]
			got = append(got, nodeset.Segment{First: int32(first), Last: int32(next - 1), Cores: uint16(segs[2]), GPUs: uint8(run.GPUs[i])})
		}
		require.Equal(t, r.Segs, got)
		require.Equal(t, []int64{r.Submit, r.Start, r.End}, []int64{d.Jobs.Submit[j] + origin, run.Start[i] + origin, run.End[i] + origin})
	}
	require.Empty(t, segs)
}

// With a range of GPUs the curve counts what is allocated, for as long as it is.
func TestCurveOfGPURanges(t *testing.T) {
	nodes := []nodeset.Capacity{{Cores: 4, GPUs: 3}}
	policy, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	p, records := simulateUnder(t, policy, nodes, []workload.Job{jobOf("a", bids.Request{Cores: 4, MinGPUs: 1, MaxGPUs: 3}, 0, 300, 300)})
	require.Equal(t, int64(100), records["a"].End)
	d := p.data()
	require.Equal(t, int64(100), d.Horizon)
	for _, v := range append(d.Runs[0].CPU, d.Runs[0].GPU...) {
		require.Equal(t, 1.0, v)
	}
}

// The example of ipsched, table I, at a quarter of its size: the data by hand.
func TestDataByHand(t *testing.T) {
	gpu := bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 2}
	nodes := []nodeset.Capacity{{Cores: 8, GPUs: 2}, {Cores: 8, GPUs: 2}, {Cores: 8, GPUs: 2}, {Cores: 8}}
	jobs := []workload.Job{jobOf("J1", bids.Request{Cores: 16}, 0, 60, 60),
		jobOf("J2", gpu, 0, 60, 60), jobOf("J3", bids.Request{Cores: 99}, 1, 60, 60)}
	p, _ := simulate(t, nodes, jobs)
	d := p.data()
	require.Equal(t, []nodeGroup{{3, 8, 2}, {1, 8, 0}}, d.Machine)
	require.Equal(t, "3 nodes of 8 cores and 2 GPUs, 1 node of 8 cores", p.machine())
	require.Equal(t, []string{"1", "2–4", "5–16", "17–64", "65–256"}, d.Sizes)
	require.Equal(t, []int64{120, 1}, []int64{d.Horizon, d.Step})
	run := d.Runs[0]
	require.Equal(t, []int64{0, 60}, run.Start)
	require.Equal(t, []int{0, 2, 8, 0, 1, 3, 0, 1, 1}, run.Segs, "J1 takes two whole nodes; J2 fills the first as far as it can")
	require.Equal(t, 16.0/32, run.CPU[59])
	require.Equal(t, 4.0/32, run.CPU[60])
	require.InDelta(t, 4.0/6, run.GPU[60], 1e-6)
	require.Equal(t, []float64{1, 0}, []float64{run.Queue[59], run.Queue[60]})
	require.Equal(t, box{N: 1, Mean: 60, P25: 60, P50: 60, P75: 60, P95: 60}, run.Waits[1])
	require.Equal(t, []unrunLine{{"backfill", "can never run: needs 99 cores, its nodes have at most 32", "J3", 1}}, p.unrun())
}

func TestBox(t *testing.T) {
	require.Equal(t, box{}, boxOf(nil))
	var hundred []int64
	for i := range int64(100) {
		hundred = append(hundred, 100-i)
	}
	b := boxOf(hundred)
	require.InDelta(t, 50.5, b.Mean, 1e-9)
	require.Equal(t, []float64{25, 50, 75, 95}, []float64{b.P25, b.P50, b.P75, b.P95})
}

func TestSizeClasses(t *testing.T) {
	for cores, want := range map[int]string{1: "1", 2: "2–4", 4: "2–4", 5: "5–16", 16: "5–16", 17: "17–64", 3283: "1025–4096"} {
		require.Equal(t, want, sizeLabel(sizeClass(cores)), "%d cores", cores)
	}
}

// The page asks nothing of the network and does not let names out of their places.
func TestPageIsClosed(t *testing.T) {
	evil := "</script><script>alert(1)</script><!--"
	p, _ := simulate(t, []nodeset.Capacity{{Cores: 4}}, []workload.Job{
		jobOf(evil, bids.Request{Cores: 4}, 0, 60, 60), jobOf("<b>", bids.Request{Cores: 9}, 0, 60, 60)})
	p.Workload.Name, p.Command = `<img src="x">`, "aucsched simulate </pre>"
	p.Settings = []Setting{{Name: "<i>", Value: "</td>", Meaning: "&"}}
	var out strings.Builder
	require.NoError(t, p.Write(&out))
	page := out.String()
	for _, word := range []string{"http:", "https:", "src=\"", "href", "url(", "@import",
		"import(", "fetch(", "XMLHttpRequest", "WebSocket", "<link", "<img", "<b>x", "<i>&", "<!--"} {
		require.NotContains(t, page, word)
	}
	require.Equal(t, 2, strings.Count(page, "<script"))
	require.Equal(t, 2, strings.Count(page, "</script"))
	require.Equal(t, 1, strings.Count(page, "</pre>"))
	require.Contains(t, page, "Content-Security-Policy\" content=\"default-src 'none'")
	require.Contains(t, page, "&lt;b&gt;: can never run")
	found := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(page)
	require.NotNil(t, found)
	var d data
	require.NoError(t, json.Unmarshal([]byte(found[1]), &d))
	require.Equal(t, evil, d.Jobs.ID[0])
	require.Equal(t, *p.data(), d, "all that the script reads comes through")
}

// The page of a run in which no job ran has its table.
func TestPageOfNothing(t *testing.T) {
	p, _ := simulate(t, []nodeset.Capacity{{Cores: 4}}, []workload.Job{jobOf("a", bids.Request{Cores: 9}, 7, 60, 60)})
	var out strings.Builder
	require.NoError(t, p.Write(&out))
	require.Regexp(t, "Jobs<small>that ran</small></th><td>0</td>", out.String())
	require.Regexp(t, "Unrun jobs<small>that could not run</small></th><td>1</td>", out.String())
}

func TestAssetsAreSmall(t *testing.T) {
	files, err := assets.ReadDir("assets")
	require.NoError(t, err)
	sum := int64(0)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		sum += info.Size()
	}
	require.Less(t, sum, int64(200_000))
}

// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"math"
	"slices"
)

// counts tells whether a job is in the window, if there is one.
func (p *Page) counts(submit int64) bool { return p.To == 0 || p.From <= submit && submit < p.To }

// shares compares each job's flow, the time from submission to end, with that in the first run. As
// its stretch is its flow over a constant, this is how many times smaller its stretch is
// (locality, figures 5 and 11).
func (p *Page) shares() [][]float64 {
	if len(p.Runs) < 2 {
		return nil
	}
	var out [][]float64
	var first []int64
	for i := range p.Runs {
		order, position := p.Runs[i].Log.numbered(p.Workload.Jobs)
		flows, shares := make([]int64, len(p.Workload.Jobs)), make([]float64, len(p.Workload.Jobs))
		for _, j := range order {
			if p.counts(j.submit) {
				flows[position[j.job]] = max(j.end-j.submit, 1)
			}
		}
		if i == 0 {
			first = flows
		}
		for k := range flows {
			if flows[k] > 0 {
				shares[k] = math.Round(1e4*float64(first[k])/float64(flows[k])) / 1e4
			}
		}
		out = append(out, shares)
	}
	return out
}

// fileUse collects the curves that only workloads with a window or with files have.
type fileUse struct {
	window, files           bool
	counted, asked, loading *curve
}

func (p *Page) newFileUse(origin, end int64) *fileUse {
	u := &fileUse{window: p.To > 0}
	for _, c := range []**curve{&u.counted, &u.asked, &u.loading} {
		*c = newCurve(origin, end, maxSpans)
	}
	for i := range p.Runs {
		u.files = u.files || slices.ContainsFunc(p.Runs[i].Log.ran, func(j ran) bool { return j.loading > 0 })
	}
	return u
}

func (u *fileUse) add(p *Page, j *ran, cores int64) {
	u.asked.add(j.submit, j.start, cores)
	u.loading.add(j.start, min(j.start+j.loading, j.end), cores)
	if p.counts(j.submit) {
		u.counted.add(j.start, j.end, cores)
	}
}

// fill puts the curves into the data, as shares of the machine's cores.
func (u *fileUse) fill(d *runData, cores int64) {
	if u.window {
		d.Counted = means(u.counted, cores)
	}
	if u.files {
		d.Loading = means(u.loading, cores)
	}
	if u.window || u.files {
		d.Asked = means(u.asked, cores)
	}
}

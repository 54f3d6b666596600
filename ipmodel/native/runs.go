// SPDX-License-Identifier: BSD-3-Clause

package native

// runs are the columns of a problem as runs of neighbouring rows with one coefficient. A bid
// is a few of them however many nodes it takes, and with the running sum of a vector over
// the rows its product with a column takes that many steps.
type runs struct {
	run      []int32 // by column: first run, and one more
	runFirst []int32
	runEnd   []int32 // one past the last row
	runCoef  []float64
}

// setRuns finds the runs of p's columns.
func (p *problem) setRuns() {
	p.run, p.runFirst, p.runEnd, p.runCoef = append(p.run[:0], 0), p.runFirst[:0], p.runEnd[:0], p.runCoef[:0]
	for i := range p.columns() {
		for k := p.col[i]; k < p.col[i+1]; k++ {
			at := len(p.runEnd) - 1
			if k > p.col[i] && p.runEnd[at] == p.row[k] && p.coef[k] == p.coef[k-1] {
				p.runEnd[at]++
				continue
			}
			p.runFirst = append(p.runFirst, p.row[k])
			p.runEnd = append(p.runEnd, p.row[k]+1)
			p.runCoef = append(p.runCoef, float64(p.coef[k]))
		}
		p.run = append(p.run, int32(len(p.runFirst)))
	}
}

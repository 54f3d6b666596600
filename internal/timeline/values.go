// SPDX-License-Identifier: BSD-3-Clause

package timeline

// Term is a sum over the jobs of a plan. Waits are from a job's submission to its planned start;
// they count by the jobs' weights.
type Term int

// The terms, the less the better.
const (
	Wait        Term = iota // of waits
	Slowdown                // of waits over lengths, these of a minute at least
	Squares                 // of squared waits
	Area                    // of waits times width times length
	AreaSquares             // of squared waits times width times length
	Width                   // of waits times width
	End                     // until the last job has ended: no sum
	Longest                 // the longest wait: no sum
	Terms                   // how many there are
)

// Values are by term.
type Values [Terms]float64

// excess is how much more what a plan has above a cap counts than its terms. The best plan is then
// above a cap by at most a hundredth of all weights, and of the longest wait by nothing. A plan
// with more is a step on the way to others.
const excess = 100

// add counts a job that is planned to start after so many seconds. The conversions keep
// processors from rounding once where others round twice.
func (v *Values) add(j *Job, after int64, pace float64) {
	wait, length := float64(float64(after)*pace)+float64(j.Waited), float64(j.Length)
	counts := float64(wait * j.Weight)
	wide := float64(counts * j.Width)
	v[Wait] += counts
	v[Slowdown] += counts / max(length, 60)
	v[Squares] += float64(wait * counts)
	area := float64(wide * length)
	v[Area] += area
	v[AreaSquares] += float64(area * wait)
	v[Width] += wide
	v[End] = max(v[End], float64(after)+length)
	v[Longest] = max(v[Longest], wait)
}

// cost is what a plan costs: its terms relative to those of the plan first, by weight, and what
// they exceed caps by, also relative; 0: no cap. capped: the longest wait does not exceed its cap.
func (v *Values) cost(first, weights, caps *Values) (cost float64, capped bool) {
	capped = true
	for k, x := range v {
		x /= max(first[k], 1)
		cost += float64(weights[k] * x)
		if caps[k] > 0 && x > caps[k] {
			cost += float64(excess * (x - caps[k]))
			capped = capped && Term(k) != Longest
		}
	}
	return cost, capped
}

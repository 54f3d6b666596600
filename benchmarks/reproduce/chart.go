// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Sizes of a chart, in units of its own.
const (
	chartWidth = 420
	chartLeft  = 130 // of the names of workloads
	chartRow   = 13  // from one row to the next
	chartGap   = 5   // between workloads
)

// chart has our figure and the paper's of one metric, a line for each row of a table.
type chart struct {
	Title               string
	Width, Height, Axis int
	Bands               []band // every other workload's
	Groups, Ticks       []label
	Marks               []mark
}

type band struct{ Y, Height int }

type label struct {
	X, Y float64
	Text string
}

// mark is a row: first its figures, and then where they are.
type mark struct {
	Text               string // all of it in words
	HasOurs, hasPaper  bool
	mean, dev, printed float64
	Method             int
	Y                  float64
	Ours, From, To     float64
	Diamond            string // of the printed figure, if there is one
}

func (r *RowReport) mark(m *Metric) mark {
	f, ok := r.Ours[m.Key]
	p, printed := r.Paper[m.Key]
	k := mark{HasOurs: ok, hasPaper: printed, mean: f.Mean, dev: f.Dev, printed: p, Text: r.Workload + ", " + r.Method + ":"}
	if ok {
		k.Text += " " + plusMinus(f, m.decimals)
	}
	if printed {
		k.Text += ", printed " + m.printed(p)
	}
	return k
}

func (r *RowReport) boundMark() mark {
	if r.AboveBound == nil {
		return mark{}
	}
	return mark{HasOurs: true, mean: r.AboveBound.Mean, dev: r.AboveBound.Dev,
		Text: r.Workload + ", " + r.Method + ": " + plusMinus(*r.AboveBound, 1)}
}

// chart draws what of tells of every row.
func (t *TableReport) chart(title string, of func(*RowReport) mark) chart {
	c := chart{Title: title, Width: chartWidth}
	methods := t.methods()
	y, begin := 0, 0
	for i := range t.Rows {
		r := &t.Rows[i]
		if i == 0 || r.Workload != t.Rows[i-1].Workload {
			begin = y
			c.Groups = append(c.Groups, label{Y: float64(y + chartRow), Text: short(r.Workload)})
		}
		m := of(r)
		m.Method, m.Y = slices.Index(methods, r.Method), float64(y)+chartGap/2.+chartRow/2.
		if m.HasOurs || m.hasPaper {
			c.Marks = append(c.Marks, m)
		}
		y += chartRow
		if i+1 == len(t.Rows) || r.Workload != t.Rows[i+1].Workload {
			y += chartGap
			if len(c.Groups)%2 == 1 {
				c.Bands = append(c.Bands, band{begin, y - begin})
			}
		}
	}
	c.Axis, c.Height = y, y+14
	c.place()
	return c
}

// short is a name that fits to the left of a chart.
func short(name string) string {
	const most = 20
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// place finds a scale that has room for all, and puts the figures on it.
func (c *chart) place() {
	low, high := math.Inf(1), math.Inf(-1)
	for _, m := range c.Marks {
		if m.HasOurs {
			low, high = min(low, m.mean-m.dev), max(high, m.mean+m.dev)
		}
		if m.hasPaper {
			low, high = min(low, m.printed), max(high, m.printed)
		}
	}
	if len(c.Marks) == 0 {
		low, high = 0, 1
	}
	step := niceStep(max(high-low, 1e-6) / 4)
	first, last := math.Floor(low/step), math.Ceil(high/step)
	if first == last {
		last++
	}
	const room = 14 // for half of the last number
	x := func(v float64) float64 {
		share := (v/step - first) / (last - first)
		return math.Round(10*(chartLeft+share*(chartWidth-chartLeft-room))) / 10
	}
	for k := first; k <= last; k++ {
		c.Ticks = append(c.Ticks, label{X: x(k * step), Text: strconv.FormatFloat(math.Round(k*step*1e9)/1e9, 'g', 6, 64)})
	}
	for i := range c.Marks {
		m := &c.Marks[i]
		if m.HasOurs {
			m.Ours, m.From, m.To = x(m.mean), x(m.mean-m.dev), x(m.mean+m.dev)
		}
		if m.hasPaper {
			m.Diamond = fmt.Sprintf("M%g %gl4 4l-4 4l-4 -4z", x(m.printed), m.Y-4)
		}
	}
}

// niceStep is the next number of 1, 2 or 5 times a power of ten.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if v <= f*power*(1+1e-9) {
			return f * power
		}
	}
	return 10 * power
}

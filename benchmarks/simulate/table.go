// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/internal/cli"
)

// Column is a policy's runs, one for each seed.
type Column[R any] struct {
	Name string
	Runs []R
}

// Row is a figure of runs: a row of a table.
type Row[R any] struct {
	Name string
	// Unit is that of Value.
	Unit Unit
	// Digits is how many digits behind the point a Number has.
	Digits int
	// Good is 1 if more is better, -1 if less is, and 0 where neither is.
	Good  int
	Value func(R) float64
	// Alone has no difference shown.
	Alone bool
	// Text, if set, is what the row says of the first run, in place of a figure.
	Text func(R) string
}

// Unit is what a figure is.
type Unit int

// Units.
const (
	Number Unit = iota
	Seconds
	Share // of 1
	Milliseconds
)

// Table is a table of figures by policy, of which the first is what the others are compared with.
type Table[R any] struct {
	Columns []Column[R]
	Rows    []Row[R]
	// Same says that all seeds have the same workload: then nothing is said of noise.
	Same bool
	// Draws says that seeds are draws from one sample: their spread is then that of a figure, which
	// more of them do not make smaller.
	Draws bool
}

// shown is a row in words: its name, and of each column the figure and the difference.
type shown struct {
	name  string
	cells [][2]string
}

// values are a row's figures of a column, by seed.
func (r *Row[R]) values(c *Column[R]) []float64 {
	var all []float64
	for _, x := range c.Runs {
		all = append(all, r.Value(x))
	}
	return all
}

// show puts a row into words.
func (t *Table[R]) show(r *Row[R]) shown {
	s := shown{name: r.Name}
	if r.Text != nil {
		for i := range t.Columns {
			s.cells = append(s.cells, [2]string{r.Text(t.Columns[i].Runs[0])})
		}
		return s
	}
	values := make([][]float64, len(t.Columns))
	var means []float64
	for i := range t.Columns {
		values[i] = r.values(&t.Columns[i])
		means = append(means, stats.Over(values[i]).Mean)
	}
	scale, unit, digits := r.scale(means)
	if unit != "" {
		s.name += " (" + unit + ")"
	}
	number := func(v float64) string { return strconv.FormatFloat(v*scale, 'f', digits, 64) }
	for i, v := range values {
		f := stats.Over(v)
		cell := [2]string{number(f.Mean)}
		if half := t.noise(f.Half(), f.Mean, f.Seeds); half > 0 {
			cell[0] += " ±" + number(half)
		}
		if i > 0 && !r.Alone {
			d := stats.Paired(v, values[0])
			d.Noise = t.noise(d.Noise, means[0], d.Seeds)
			cell[1] = t.difference(r, d, means[0])
		}
		s.cells = append(s.cells, cell)
	}
	return s
}

// noise is half the width of an interval of a mean over seeds, as it counts: nothing where it is that of
// rounding.
func (t *Table[R]) noise(half, mean float64, seeds int) float64 {
	switch {
	case half <= 1e-9*math.Abs(mean):
		return 0
	case t.Draws:
		return half * math.Sqrt(float64(seeds))
	}
	return half
}

// difference is that of paired figures in words: of shares in points, of others in percent of base.
func (t *Table[R]) difference(r *Row[R], d stats.Difference, base float64) string {
	unit := "%"
	switch {
	case d.Mean == 0 && d.Noise == 0:
		return "="
	case r.Unit == Share:
		d.Mean, d.Noise, unit = 100*d.Mean, 100*d.Noise, ""
	case base == 0:
		return "from 0"
	default:
		d.Mean, d.Noise = 100*d.Mean/math.Abs(base), 100*d.Noise/math.Abs(base)
	}
	digits := 1
	if math.Abs(d.Mean) >= 10 && r.Unit != Share {
		digits = 0
	}
	text := fmt.Sprintf("%+.*f", digits, d.Mean)
	if strings.Trim(text, "+-0.") == "" {
		text = text[1:]
	}
	if d.Noise > 0 {
		text += fmt.Sprintf(" ±%.*f", digits, d.Noise)
	}
	return text + unit + t.mark(r, d)
}

// mark is * for what is better beyond noise, and ! for what is worse.
func (t *Table[R]) mark(r *Row[R], d stats.Difference) string {
	switch {
	case d.Seeds < 2 || t.Same || r.Good == 0:
		return ""
	case math.Abs(d.Mean) <= d.Noise:
		return " "
	case d.Mean > 0 == (r.Good > 0):
		return "*"
	}
	return "!"
}

// scale is by what the figures of a row are multiplied to be in a unit that fits all of them, and how
// many digits they have behind the point then.
func (r *Row[R]) scale(means []float64) (by float64, unit string, digits int) {
	switch r.Unit {
	case Share:
		return 100, "%", 1
	case Milliseconds:
		return 1, "ms", 2
	case Number:
		return 1, "", r.Digits
	}
	least, most := math.Inf(1), 0.0
	for _, v := range means {
		if v > 0 {
			least, most = min(least, v), max(most, v)
		}
	}
	if most == 0 {
		return 1, "s", 0
	}
	if most > 1e4*least { // no unit fits both
		least = most
	}
	size := 1.0
	for _, u := range []struct {
		name       string
		size, from float64
	}{{"d", 86400, 48 * 3600}, {"h", 3600, 3600}, {"min", 60, 60}, {"s", 1, 0}} {
		if least >= u.from {
			size, unit = u.size, u.name
			break
		}
	}
	// three digits of the least, and no more than four of the greatest
	log := func(v float64) int { return int(math.Floor(math.Log10(v / size))) }
	return 1 / size, unit, max(min(2-log(least), 3-log(most), 2), 0)
}

// Write writes the table as text, or as Markdown.
func (t *Table[R]) Write(out io.Writer, markdown bool) error {
	var rows []shown
	for i := range t.Rows {
		rows = append(rows, t.show(&t.Rows[i]))
	}
	var b strings.Builder
	if markdown {
		t.markdown(&b, rows)
	} else {
		t.text(&b, rows, out)
	}
	b.WriteString(t.legend(markdown))
	_, err := io.WriteString(out, b.String())
	return err
}

// text writes rows with as many columns beside each other as the terminal holds: the first one, and
// some of the others.
func (t *Table[R]) text(b *strings.Builder, rows []shown, out io.Writer) {
	const gap = 2
	wide := utf8.RuneCountInString
	name := wide("policy")
	values, differences := make([]int, len(t.Columns)), make([]int, len(t.Columns))
	for _, r := range rows {
		name = max(name, wide(r.name))
		for i, c := range r.cells {
			values[i], differences[i] = max(values[i], wide(c[0])), max(differences[i], wide(c[1]))
		}
	}
	width := func(i int) int {
		w := values[i]
		if differences[i] > 0 {
			w += 1 + differences[i]
		}
		return gap + max(w, wide(t.Columns[i].Name))
	}
	most := math.MaxInt
	if cli.IsTerminal(out) {
		most = cli.Width(out)
	}
	for first := 1; first == 1 || first < len(t.Columns); {
		shown, used := []int{0}, name+width(0)
		for ; first < len(t.Columns) && (len(shown) == 1 || used+width(first) <= most); first++ {
			shown, used = append(shown, first), used+width(first)
		}
		line := func(head string, cell func(i int) string) {
			text := head + strings.Repeat(" ", name-wide(head))
			for _, i := range shown {
				c := cell(i)
				text += strings.Repeat(" ", max(width(i)-wide(c), gap)) + c
			}
			b.WriteString(strings.TrimRight(text, " ") + "\n")
		}
		line("policy", func(i int) string { return t.Columns[i].Name })
		for _, r := range rows {
			line(r.name, func(i int) string {
				c := r.cells[i]
				if differences[i] == 0 {
					return c[0]
				}
				return c[0] + strings.Repeat(" ", 1+differences[i]-wide(c[1])) + c[1]
			})
		}
		if first < len(t.Columns) {
			b.WriteByte('\n')
		}
		if len(t.Columns) == 1 {
			break
		}
	}
}

func (t *Table[R]) markdown(b *strings.Builder, rows []shown) {
	head, rule := "| ", "| ---"
	for i := range t.Columns {
		head += " | " + strings.ReplaceAll(t.Columns[i].Name, "|", `\|`)
		rule += " | ---:"
		if i > 0 {
			head, rule = head+" | difference", rule+" | ---:"
		}
	}
	b.WriteString(head + " |\n" + rule + " |\n")
	for _, r := range rows {
		b.WriteString("| " + r.name)
		for i, c := range r.cells {
			if b.WriteString(" | " + strings.TrimSpace(c[0])); i > 0 {
				b.WriteString(" | " + strings.TrimSpace(strings.ReplaceAll(c[1], "*", `\*`)))
			}
		}
		b.WriteString(" |\n")
	}
}

// legend says how to read differences.
func (t *Table[R]) legend(markdown bool) string {
	seeds := len(t.Columns[0].Runs)
	var lines []string
	if len(t.Columns) > 1 {
		lines = append(lines,
			fmt.Sprintf("Differences are from %s, in %% of its figure; those of rows in %% are in points; = is none.", t.Columns[0].Name))
	}
	marked := slices.ContainsFunc(t.Rows, func(r Row[R]) bool { return r.Good != 0 })
	switch {
	case seeds > 1 && t.Same:
		lines = append(lines,
			fmt.Sprintf("±: 95%% intervals over %d seeds. The jobs are the same for all seeds, which only", seeds),
			"change what policies choose at random: what another trace would show is not in it.")
	case seeds > 1 && t.Draws:
		lines = append(lines, fmt.Sprintf("±: 95%% intervals by %d draws from the trace's blocks, with replacement.", seeds),
			"* better beyond these intervals, ! worse.")
	case seeds > 1 && len(t.Columns) == 1:
		lines = append(lines, fmt.Sprintf("±: 95%% intervals of the means over %d seeds, by Student's t.", seeds))
	case seeds > 1 && marked:
		lines = append(lines, fmt.Sprintf("±: 95%% intervals over %d seeds, of differences seed by seed, by Student's t.", seeds),
			"* better beyond these intervals, ! worse. Where nothing differs chance marks one row in 20.")
	}
	if len(lines) == 0 {
		return ""
	}
	if markdown {
		return "\n" + strings.ReplaceAll(strings.Join(lines, "\n"), "* better", `\* better`) + "\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

// PrintJSON prints an object for each result, one a line.
func PrintJSON[R any](out io.Writer, results []R, object func(R) any) error {
	e := json.NewEncoder(out)
	for _, r := range results {
		if err := e.Encode(object(r)); err != nil {
			return err
		}
	}
	return nil
}

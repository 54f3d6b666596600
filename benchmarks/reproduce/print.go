package reproduce

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// howToRead explains the tables.
const howToRead = "Our mean ± standard deviation over the seeds, and in brackets what the paper prints. Each table is " +
	"followed by the differences from the row that the paper compares with, paired seed by seed, in brackets the difference " +
	"of the printed figures, and whether their order is reproduced. \"yes\": ours has the same sign. \"within noise\": ours is " +
	"no larger than 95 of 100 runs without any difference would show, Student's quantile times the standard error of the " +
	"paired differences; where the printed figures are equal, that is \"yes\". With one seed nothing can be said of noise."

// Text prints the report for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	for i := range r.Tables {
		t := &r.Tables[i]
		fmt.Fprintf(&b, "%s: %s; %s\n\n", t.Name, t.Title, r.seeds())
		b.WriteString(t.figures().text())
		if orders := t.orders(); len(orders.rows) > 0 {
			b.WriteString("\n" + orders.text())
		}
		b.WriteString("\n")
		for _, line := range t.summaryLines() {
			b.WriteString(line + "\n")
		}
		for _, line := range t.remarks() {
			b.WriteString(line + "\n")
		}
		b.WriteString("\n")
	}
	fmt.Fprintln(&b, howToRead)
	for _, line := range r.warnings() {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Markdown prints the report as a page that command wrote.
func (r *Report) Markdown(command string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Reproduction\n\nThe experiments of the papers' tables in the simulator, %s. Written by `%s`; change the command, not this page.\n\n%s\n", r.seeds(), command, howToRead)
	for _, line := range r.warnings() {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", t.Name, t.Title)
		for _, n := range t.Notes {
			fmt.Fprintf(&b, "\n%s\n", n)
		}
		b.WriteString("\n" + t.figures().markdown())
		if orders := t.orders(); len(orders.rows) > 0 {
			b.WriteString("\n" + orders.markdown() + "\n")
		}
		for _, line := range t.summaryLines() {
			fmt.Fprintf(&b, "- %s\n", line)
		}
		for _, line := range t.remarks() {
			fmt.Fprintf(&b, "\n%s\n", line)
		}
	}
	return b.String()
}

func (r *Report) seeds() string {
	first, last := r.Seeds[0], r.Seeds[len(r.Seeds)-1]
	if first == last {
		return fmt.Sprintf("seed %d", first)
	}
	return fmt.Sprintf("seeds %d-%d", first, last)
}

func (r *Report) warnings() []string {
	if len(r.Programs) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("Several builds of the program ran these cells (%s): run them anew in an empty directory to be sure that their figures belong together.", strings.Join(r.Programs, ", "))}
}

// shown are the metrics of the table that keep tells.
func (t *TableReport) shown(keep func(*Metric, *RowReport) bool) []Metric {
	var shown []Metric
	for _, m := range metrics {
		for i := range t.Rows {
			if keep(&m, &t.Rows[i]) {
				shown = append(shown, m)
				break
			}
		}
	}
	return shown
}

func (t *TableReport) figures() *grid {
	shown := t.shown(func(m *Metric, r *RowReport) bool { _, ok := r.Ours[m.Key]; return ok })
	g := newGrid(shown)
	for i := range t.Rows {
		r := &t.Rows[i]
		row := []string{r.Workload, r.Method}
		for _, m := range shown {
			cell := ""
			if f, ok := r.Ours[m.Key]; ok {
				cell = f.print(m.decimals)
			}
			if p, ok := r.Paper[m.Key]; ok {
				cell += " (" + m.printed(p) + ")"
			}
			row = append(row, cell)
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// print leaves out the deviation of one seed, which has none.
func (f Figure) print(decimals int) string {
	if f.Seeds < 2 {
		return fmt.Sprintf("%.*f", decimals, f.Mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, f.Mean, decimals, f.Dev)
}

func (t *TableReport) orders() *grid {
	shown := t.shown(func(m *Metric, r *RowReport) bool { _, ok := r.Orders[m.Key]; return ok })
	g := newGrid(shown)
	g.header[1] = "method - baseline"
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Against == "" {
			continue
		}
		row := []string{r.Workload, r.Method + " - " + r.Against}
		for _, m := range shown {
			cell := ""
			if c, ok := r.Orders[m.Key]; ok {
				cell = fmt.Sprintf("%s (%s) %s", signed(c.Ours.Mean, m.decimals), signedText(m.printed(c.Paper)), c.Order)
			}
			row = append(row, cell)
		}
		g.rows = append(g.rows, row)
	}
	return g
}

func (t *TableReport) summaryLines() []string {
	var lines []string
	for _, tally := range t.Summary {
		var parts []string
		for _, o := range []Order{Same, Noise, Opposite, SameOnce, OpposedOnce} {
			if n := tally.Orders[o]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, o))
			}
		}
		lines = append(lines, fmt.Sprintf("order of %s: %s", titleOf(tally.Metric), strings.Join(parts, "; ")))
	}
	return lines
}

func (t *TableReport) remarks() []string {
	var lines []string
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Remark != "" {
			lines = append(lines, fmt.Sprintf("Remark on %s, %s: %s.", r.Workload, r.Method, r.Remark))
		}
		if r.Unrun > 0 {
			lines = append(lines, fmt.Sprintf("Remark on %s, %s: %d jobs of all seeds together did not run; the figures are of the others.", r.Workload, r.Method, r.Unrun))
		}
	}
	return lines
}

func titleOf(key string) string {
	for _, m := range metrics {
		if m.Key == key {
			return m.Title
		}
	}
	return key
}

// printed is a figure with the decimals that the papers have: whole percent, else as
// many as ours or more.
func (m *Metric) printed(v float64) string {
	least := m.decimals
	if m.Key == CPUUtilization || m.Key == GPUUtilization {
		least = 0
	}
	exact := strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) // differences have rounding in them
	_, fraction, _ := strings.Cut(exact, ".")
	return fmt.Sprintf("%.*f", max(least, len(fraction)), v)
}

func signed(v float64, decimals int) string { return signedText(fmt.Sprintf("%.*f", decimals, v)) }

// signedText gives a printed number its sign, and none to zero.
func signedText(s string) string {
	switch digits := strings.TrimPrefix(s, "-"); {
	case strings.Trim(digits, "0.") == "":
		return digits
	case digits == s:
		return "+" + s
	}
	return s
}

// grid is a table of text; the first two columns are names.
type grid struct {
	header []string
	rows   [][]string
}

func newGrid(shown []Metric) *grid {
	g := &grid{header: []string{"workload", "method"}}
	for _, m := range shown {
		g.header = append(g.header, m.Title)
	}
	return g
}

func (g *grid) widths() []int {
	w := make([]int, len(g.header))
	for _, row := range append([][]string{g.header}, g.rows...) {
		for i, cell := range row {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// lines writes every row with its cells padded, numbers to the right.
func (g *grid) lines(begin, between, end string, rule bool) string {
	var b strings.Builder
	widths := g.widths()
	write := func(row []string) {
		cells := make([]string, len(row))
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if cells[i] = pad + cell; i < 2 {
				cells[i] = cell + pad
			}
		}
		b.WriteString(strings.TrimRight(begin+strings.Join(cells, between)+end, " ") + "\n")
	}
	write(g.header)
	if rule {
		row := make([]string, len(widths))
		for i, w := range widths {
			if row[i] = strings.Repeat("-", max(w, 1)); i >= 2 {
				row[i] = strings.Repeat("-", max(w-1, 1)) + ":"
			}
		}
		write(row)
	}
	for _, row := range g.rows {
		write(row)
	}
	return b.String()
}

func (g *grid) text() string     { return g.lines("", "  ", "", false) }
func (g *grid) markdown() string { return g.lines("| ", " | ", " |", true) }

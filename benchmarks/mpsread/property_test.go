// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/benchmarks/mps"
	"github.com/aucsched/aucsched/ipmodel"
)

// drawMPS draws the text of a packing model of up to 6 columns and 6 rows, with
// everything that Read has to see through.
func drawMPS(t *rapid.T) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	numbers := []string{"1", "2", "3", ".5", "1.25", "1e0", "0.30e1"}
	number := rapid.SampledFrom(numbers)
	gains := rapid.SampledFrom([]string{"1", "-1", "2", "-2", "0", "3.75", "-3.75",
		"-12345.678901234567", "1e-3", "-7E2", "12345678901234567890123", "-.000001"})
	columns := rapid.IntRange(1, 6).Draw(t, "columns")
	line("* drawn\nNAME drawn")
	if rapid.Bool().Draw(t, "max") {
		line("OBJSENSE")
		line(" MAX")
	}
	line("ROWS")
	line(" N obj")
	type row struct{ kind, rhs, ranged string }
	rows := make([]row, rapid.IntRange(0, 6).Draw(t, "rows"))
	coef := map[[2]int]string{}
	required := map[int]bool{}
	for r := range rows {
		what := rapid.SampledFrom([]string{"packing", "packing", "packing", "clique",
			"clique", "turned", "vacuous", "ranged", "between", "required", "free"}).Draw(t, "what")
		same := number.Draw(t, "same")
		sign := ""
		rhs := rapid.SampledFrom([]string{"0", "1", "1.5", "2", "2.75", "4", "9", "-1"})
		switch what {
		case "packing":
			rows[r] = row{"L", rhs.Draw(t, "rhs"), ""}
		case "clique", "required":
			rows[r] = row{"L", same, ""}
			if what == "required" {
				rows[r].kind = "E"
			}
		case "turned":
			sign = "-"
			rows[r] = row{"G", "-" + rapid.SampledFrom([]string{"0", "1", "2.5", "4"}).Draw(t, "rhs"), ""}
		case "vacuous":
			rows[r] = row{"G", rapid.SampledFrom([]string{"0", "-3"}).Draw(t, "rhs"), ""}
		case "ranged":
			rows[r] = row{"L", "2.5", rapid.SampledFrom([]string{"2.5", "-100"}).Draw(t, "range")}
		case "between":
			rows[r] = row{"G", "-1", rapid.SampledFrom([]string{"2", "-3.5"}).Draw(t, "range")}
		case "free":
			rows[r] = row{"N", "0", ""}
		}
		for c := range columns {
			if !rapid.Bool().Draw(t, "in") {
				continue
			}
			if what == "required" {
				if required[c] {
					continue
				}
				required[c] = true
			}
			coef[[2]int{r, c}] = sign + number.Draw(t, "coef")
			if what == "clique" || what == "required" {
				coef[[2]int{r, c}] = same
			}
		}
		line(" %s r%d", rows[r].kind, r)
	}
	line("COLUMNS\n M 'MARKER' 'INTORG'")
	for c := range columns {
		line(" x%d obj %s", c, gains.Draw(t, "gain"))
		for r := range rows {
			if a, ok := coef[[2]int{r, c}]; ok {
				line(" x%d\tr%d   %s", c, r, a)
			}
		}
	}
	line(" M 'MARKER' 'INTEND'\nRHS")
	line(" RHS obj %s", gains.Draw(t, "constant"))
	for r := range rows {
		line(" RHS r%d %s", r, rows[r].rhs)
	}
	line("RANGES")
	for r := range rows {
		if rows[r].ranged != "" {
			line(" RNG r%d %s", r, rows[r].ranged)
		}
	}
	line("BOUNDS")
	for c := range columns {
		switch rapid.IntRange(0, 9).Draw(t, "bound") {
		case 0:
			line(" UP B x%d 1", c)
		case 1:
			line(" BV B x%d", c)
		case 2:
			line(" FX B x%d 0", c)
		case 3:
			line(" FX B x%d 1", c)
		case 4:
			line(" LO B x%d 1\n UP B x%d 1.5", c, c)
		case 5:
			line(" UP B x%d 0.5", c)
		}
	}
	line("ENDATA")
	return out.String()
}

func TestReadHasTheOptimumOfTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawMPS(t)
		twin := newTextTwin(text)
		p, err := Read(strings.NewReader(text), "drawn")
		require.NoError(t, err, text)
		require.NoError(t, p.Model.Validate(), text)
		best, worth := bestChoices(p.Model)
		if twin.best == nil {
			require.Empty(t, best, text)
			return
		}
		require.NotEmpty(t, best, text)
		bestTwin := map[string]bool{}
		for _, names := range twin.bestNames {
			bestTwin[keyOf(names)] = true
		}
		if p.Exact {
			for _, chosen := range best {
				require.Zero(t, p.ExactObjective(chosen).Cmp(twin.best), text)
				require.True(t, bestTwin[keyOf(p.Names(chosen))], "%s\n%q", text, p.Names(chosen))
			}
		}
		bound := p.Bound(worth)
		f, _ := twin.best.Float64()
		if p.Sense == Maximise {
			require.GreaterOrEqual(t, bound, f, text)
		} else {
			require.LessOrEqual(t, bound, f, text)
		}
		feasible := map[string]bool{}
		for _, names := range twin.feasibles {
			feasible[keyOf(names)] = true
		}
		choices(p.Model, func(chosen []int32, _ int64) {
			names := p.Names(chosen)
			require.True(t, feasible[keyOf(names)], "%s\n%q", text, names)
			value := twin.sum("obj", names)
			if c := twin.rhs["obj"]; c != nil {
				value.Sub(value, c)
			}
			require.Zero(t, p.ExactObjective(chosen).Cmp(value), text)
		})
	})
}

// drawModel draws a model of up to 4 groups of up to 3 columns and up to 4 rows.
func drawModel(t *rapid.T) *ipmodel.Model {
	m := &ipmodel.Model{GroupStart: []int32{0}, ColStart: []int32{0}}
	for range rapid.IntRange(0, 4).Draw(t, "rows") {
		m.Cap = append(m.Cap, rapid.Int64Range(0, 6).Draw(t, "cap"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "groups") {
		for range rapid.IntRange(0, 3).Draw(t, "columns") {
			m.Value = append(m.Value, rapid.Int64Range(0, 5).Draw(t, "worth"))
			for r := range m.Cap {
				if a := rapid.Int32Range(0, 4).Draw(t, "coef"); a > 0 {
					m.Row, m.Coef = append(m.Row, int32(r)), append(m.Coef, a)
				}
			}
			m.ColStart = append(m.ColStart, int32(len(m.Row)))
		}
		m.GroupStart = append(m.GroupStart, int32(len(m.Value)))
		m.Required = append(m.Required, rapid.IntRange(0, 3).Draw(t, "required") == 0)
	}
	return m
}

// worthNames are the names of the chosen columns that are worth something.
func worthNames(m *ipmodel.Model, chosen []int32) []string {
	var names []string
	for _, i := range chosen {
		if m.Value[i] > 0 {
			names = append(names, fmt.Sprintf("c%d", i))
		}
	}
	slices.Sort(names)
	return names
}

func TestWriteThenReadKeepsTheOptima(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		var text, again bytes.Buffer
		require.NoError(t, mps.Write(&text, m, "drawn"))
		require.NoError(t, mps.Write(&again, m, "drawn"))
		require.Equal(t, text.String(), again.String())
		p, err := Read(bytes.NewReader(text.Bytes()), "drawn")
		require.NoError(t, err, text.String())
		require.True(t, p.Exact)
		worthOf := map[string]int64{}
		for i, w := range m.Value {
			worthOf[fmt.Sprintf("c%d", i)] = w
		}
		want, _ := bestChoices(m)
		got, _ := bestChoices(p.Model)
		wantKeys, gotKeys := map[string]bool{}, map[string]bool{}
		for _, chosen := range want {
			wantKeys[keyOf(worthNames(m, chosen))] = true
		}
		for _, chosen := range got {
			names := slices.DeleteFunc(p.Names(chosen), func(s string) bool { return worthOf[s] == 0 })
			slices.Sort(names)
			gotKeys[keyOf(names)] = true
		}
		require.Equal(t, wantKeys, gotKeys, text.String())
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(tinyMPS))
	f.Add([]byte("NAME\nROWS\n N o\n E r\nCOLUMNS\n M 'MARKER' 'INTORG'\n x o -1 r 2\n y r 2\nRHS\n r 2\nBOUNDS\n UP x 3\nENDATA\n"))
	f.Add([]byte("OBJSENSE MAX\nROWS\n N o\n G r\nCOLUMNS\n x o 1e300 r -2.5\nRHS\n S r -3 o 1\nRANGES\n S r 1\nBOUNDS\n BV x\nENDATA\n"))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(bytes.NewReader(data), "fuzz")
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			require.True(t, strings.HasPrefix(err.Error(), "fuzz:"), err.Error())
			return
		}
		require.NoError(t, p.Model.Validate())
		p.Names(nil)
		p.Objective(nil)
		p.Bound(0)
		var text bytes.Buffer
		require.NoError(t, mps.Write(&text, p.Model, "again"))
		again, err := Read(bytes.NewReader(text.Bytes()), "again")
		require.NoError(t, err, text.String())
		require.True(t, again.Exact)
	})
}

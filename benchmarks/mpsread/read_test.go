// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
)

const tinyMPS = `* two jobs, two nodes
NAME tiny
OBJSENSE
    MAX
ROWS
 N value
 L job1
 L job2
 L n1
 L n2
COLUMNS
 M1 'MARKER' 'INTORG'
 a value 5 job1 1
 a n1 2
 b value 4.5 job1 1 n2 2
 c value 3 job2 1
 c n1 1 n2 1
 M2 'MARKER' 'INTEND'
RHS
 RHS job1 1 job2 1
 RHS n1 2
 RHS n2 3
BOUNDS
 UP BND a 1
ENDATA
`

func read(t *testing.T, text string) *File {
	t.Helper()
	p, err := Read(strings.NewReader(text), "t.mps")
	require.NoError(t, err)
	require.NoError(t, p.Model.Validate())
	return p
}

func TestReadTiny(t *testing.T) {
	p := read(t, tinyMPS)
	require.Equal(t, &ipmodel.Model{
		Value: []int64{50, 45, 30}, Scale: 10, GroupStart: []int32{0, 2, 3},
		ColStart: []int32{0, 1, 1, 2}, Row: []int32{0, 0}, Coef: []int32{2, 1}, Cap: []int64{2},
		ColName: []string{"a", "b", "c"}, RowName: []string{"n1"},
	}, p.Model, "job2 has one column, and n2 can't bind")
	require.True(t, p.Exact)
	require.Equal(t, Maximise, p.Sense)
	require.Equal(t, 7.5, p.Objective([]int32{1, 2}))
	require.Equal(t, []string{"b", "c"}, p.Names([]int32{2, 1}))
	require.Equal(t, 7.5, p.Bound(75))
}

func TestReadGzip(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write([]byte(tinyMPS))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	p, err := Read(bytes.NewReader(z.Bytes()), "t.mps.gz")
	require.NoError(t, err)
	require.Equal(t, read(t, tinyMPS).Model, p.Model)

	p, err = Read(strings.NewReader("\xef\xbb\xbf"+tinyMPS), "t.mps")
	require.NoError(t, err, "a byte order mark is no part of the text")
	require.Equal(t, read(t, tinyMPS).Model, p.Model)

	broken := z.Bytes()
	broken[len(broken)-6] ^= 1 // in the checksum
	_, err = Read(bytes.NewReader(broken), "t.mps.gz")
	require.ErrorContains(t, err, "t.mps.gz")
	_, err = Read(bytes.NewReader(z.Bytes()[:z.Len()/2]), "t.mps.gz")
	require.Error(t, err)
}

func TestReadFixedFormat(t *testing.T) {
	p, err := os.ReadFile("testdata/fixed.mps")
	require.NoError(t, err)
	m := read(t, string(p))
	// RHS and BOUNDS without a set's name, and CR LF at the lines' ends, change nothing.
	text := strings.NewReplacer("    RHS       ", "              ", " UP BND       ", " UP           ", "\n", "\r\n").Replace(string(p))
	require.NotEqual(t, string(p), text)
	require.Equal(t, m, read(t, text))
	best, _ := bestChoices(m.Model)
	require.Len(t, best, 1)
	require.Equal(t, []string{"COL00001", "COL00003"}, m.Names(best[0]))
	require.Equal(t, -12.5, m.Objective(best[0]))
}

// model is an MPS file of columns x, y, z with objective coefficients 1, 2, 3 to be
// maximised, of a row of one kind, and more.
func model(kind, x, y, z, rhs, more string) string {
	text := "NAME m\nOBJSENSE MAX\nROWS\n N obj\n " + kind + " row\nCOLUMNS\n M 'MARKER' 'INTORG'\n"
	for i, a := range []string{x, y, z} {
		text += fmt.Sprintf(" %c obj %d row %s\n", 'x'+i, i+1, a)
	}
	return text + " M 'MARKER' 'INTEND'\nRHS\n S row " + rhs + "\n" + more + "ENDATA\n"
}

func TestReadAccepts(t *testing.T) {
	for _, test := range []struct {
		name, text string
		best       []string
		objective  float64
	}{
		{"packing row", model("L", "1", "1", "1", "2", ""), []string{"y", "z"}, 5},
		{"clique", model("L", "2", "2", "2", "3.9", ""), []string{"z"}, 3},
		{"vacuous row", model("L", "1", "1", "1", "3", ""), []string{"x", "y", "z"}, 6},
		{"great right-hand side", model("L", "1", "1", "1", "1e30", ""), []string{"x", "y", "z"}, 6},
		{"fractions", model("L", "0.1", "0.2", "0.3", "0.3", ""), []string{"z"}, 3},
		{"common factor beyond 31 bits", model("L", "1e10", "2e10", "3e10", "59999999999.9", ""), []string{"y", "z"}, 5},
		{"turned row", model("G", "-1", "-1", "-1", "-1", ""), []string{"z"}, 3},
		{"vacuous G row", model("G", "1", "1", "1", "0", ""), []string{"x", "y", "z"}, 6},
		{"E row of zero", model("E", "1", "0", "1", "0", ""), []string{"y"}, 2},
		{"required group", model("E", "5", "5", "0", "5", ""), []string{"y", "z"}, 5},
		{"required single", model("G", "1", "0", "0", "1", ""), []string{"x", "y", "z"}, 6},
		{"range without effect", model("L", "1", "1", "1", "2", "RANGES\n S row 2\n"), []string{"y", "z"}, 5},
		{"range on G", model("G", "1", "1", "1", "-1", "RANGES\n S row 2\n"), []string{"z"}, 3},
		{"range on E, upward", model("E", "1", "1", "1", "0", "RANGES\n S row 1\n"), []string{"z"}, 3},
		{"range on E, downward", model("E", "1", "1", "1", "1", "RANGES\n S row -1\n"), []string{"z"}, 3},
		{"fixed at 1", model("L", "1", "1", "1", "2", "BOUNDS\n FX x 1\n"), []string{"x", "z"}, 4},
		{"fixed at 0", model("L", "1", "1", "1", "2", "BOUNDS\n FX B z 0\n"), []string{"x", "y"}, 3},
		{"fixed with the other sign", model("L", "1", "1", "-1", "0", "BOUNDS\n FX B z 1\n"), []string{"y", "z"}, 5},
		{"binary by BV", model("L", "1", "1", "1", "2", "BOUNDS\n BV x\n BV B y\n BV B z 1\n"), []string{"y", "z"}, 5},
		{"upper bound that the row implies", model("L", "2", "1", "1", "3", "BOUNDS\n UP x 9\n"), []string{"y", "z"}, 5},
		{"no upper bound but the row's", model("L", "2", "1", "1", "3", "BOUNDS\n LO x 0\n"), []string{"y", "z"}, 5},
		{"infinite bound", model("L", "2", "1", "1", "3", "BOUNDS\n UP x inf\n"), []string{"y", "z"}, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := read(t, test.text)
			best, _ := bestChoices(p.Model)
			require.NotEmpty(t, best, "%+v", p.Model)
			names := map[string]bool{}
			for _, chosen := range best {
				names[keyOf(p.Names(chosen))] = true
				require.Equal(t, test.objective, p.Objective(chosen))
			}
			require.Contains(t, names, keyOf(test.best))
		})
	}
}

// TestReadDialects has one model in forms that HiGHS reads alike: x, y and z are worth 3, 4 and 5,
// x and y exclude each other by size, x and z by number; y and z are best, worth 9.
func TestReadDialects(t *testing.T) {
	const plain = `NAME d
OBJSENSE
    MAX
ROWS
 N obj
 L c1
 L c2
COLUMNS
 M1 'MARKER' 'INTORG'
 x obj 3 c1 2
 x c2 1
 y obj 4 c1 3
 z obj 5 c1 1 c2 1
 M2 'MARKER' 'INTEND'
RHS
 rhs c1 4 c2 1
BOUNDS
 UP b x 1
 BV b y
 BV b z
ENDATA
`
	lines := func(old ...string) string { return strings.NewReplacer(old...).Replace(plain) }
	for name, text := range map[string]string{
		"plain": plain,
		"dollar comments": lines("ROWS\n", "ROWS $ rows\n", "N obj", "N obj $ the objective", "L c1\n",
			"L c1 $c1\n", "INTORG'\n", "INTORG' $ on\n",
			"c1 2\n", "c1 2 $comment\n", "x c2 1", "x c2 1 $ c2 is 1", "c2 1\nBOUNDS", "c2 1 $ 1\nBOUNDS",
			"x 1\n", "x 1 $c\n", "BV b y", "BV b y $"),
		"star comments": lines("L c2\n", "L c2 *Comment\n", "x c2 1", "x c2 1 * c2", "BV b z", "BV b z *"),
		"lines of comment": lines("ROWS\n", " $ at first\nROWS\n * more\n", " y obj",
			" $ y is next\n * y\n y obj", "BOUNDS\n", "BOUNDS\n $ none\n"),
		"names that begin like comments": lines("c1", "$c", "c2", "*c", " x ", " $x ", "rhs", "$r", " b x",
			" $b $x", " b ", " $b ", "M1", "$M1", "obj", "$obj"),
		"a comment and a name":      lines("c1", "$c", "c1 2\n", "$c 2 $d\n"),
		"D exponents":               lines("obj 3", "obj 0.3D1", "c1 4", "c1 40d-1", "x 1\n", "x 10.D-01\n", "obj 5", "obj .5D+1"),
		"objective by OBJSENSE MAX": lines("OBJSENSE\n    MAX", "OBJSENSE MAX"),
		"maximization":              lines("MAX", "Maximization"),
		"minimised":                 lines("MAX", "MIN", "obj 3", "obj -3", "obj 4", "obj -4", "obj 5", "obj -5"),
		"all at the margin":         strings.ReplaceAll(plain, "\n ", "\n"),
		"indented headers": lines("ROWS", "  ROWS", "COLUMNS", "\tcolumns", "RHS", " Rhs", "BOUNDS",
			" BOUNDS", "ENDATA", "  ENDATA"),
		"tabs and CR LF":                 lines(" ", "\t", "\n", "\r\n"),
		"a set called RHS at the margin": lines("\n rhs", "\nRHS"),
		"columns called as sections":     lines(" x ", " RHS ", " y ", " ROWS ", "y\n", "ROWS\n"),
		"turned rows":                    lines("L c2", "G c2", "x c2 1", "x c2 -1", "c1 1 c2 1", "c1 1 c2 -1", "4 c2 1", "4 c2 -1"),
		"a range to 0":                   lines("BOUNDS", "RANGES\n r c1 4\nBOUNDS"),
		"no sets' names":                 lines("rhs c1", "c1", "UP b", "UP", "BV b", "BV"),
		"no markers":                     lines(" M1 'MARKER' 'INTORG'\n", "", " M2 'MARKER' 'INTEND'\n", "", "UP b x 1", "BV b x"),
		"integers by UI and LI":          lines("UP b x 1", "UI b x 1D0\n LI b x 0"),
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, text)
			best, _ := bestChoices(p.Model)
			require.Len(t, best, 1)
			names := p.Names(best[0])
			require.Len(t, names, 2)
			require.Equal(t, "z", names[1])
			require.Equal(t, 9., math.Abs(p.Objective(best[0])))
		})
	}
}

func TestReadInfeasible(t *testing.T) {
	for name, text := range map[string]string{
		"negative right-hand side": model("L", "1", "1", "1", "-1", ""),
		"empty row":                model("E", "0", "0", "0", "1", ""),
		"asks too much":            model("G", "1", "1", "1", "4", ""),
		"parity":                   model("E", "2", "2", "2", "1", ""),
		"fraction":                 model("E", "1", "1", "1", "0.5", ""),
		"fixed beyond capacity":    model("L", "1", "1", "1", "1", "BOUNDS\n FX x 1\n FX y 1\n"),
		"no integer in bounds":     model("L", "1", "1", "1", "1", "BOUNDS\n FX x 0.5\n"),
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, text)
			require.NotEmpty(t, p.Infeasible)
			best, _ := bestChoices(p.Model)
			require.Empty(t, best)
			require.Equal(t, 1, p.Model.Groups())
		})
	}
}

func TestReadRejects(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "t.mps:1: the file ends without ENDATA"},
		{"UTF-16", "N\x00A\x00M\x00E\x00", "t.mps:1: the text is in UTF-16: save it as UTF-8"},
		{"truncated", strings.TrimSuffix(tinyMPS, "ENDATA\n"), "ends without ENDATA"},
		{"mixed signs", model("L", "1", "-1", "1", "1", ""), `t.mps:5: row "row": not a packing row: coefficients of both signs`},
		{"covering", model("G", "1", "1", "1", "2", ""), `row "row": not a packing row: it asks for 2 to 3 of 3 columns`},
		{"at least one of many", model("G", "1", "1", "1", "1", ""), "1 to 3 of 3 columns"},
		{"equation", model("E", "1", "2", "3", "3", ""), "different coefficients"},
		{"range that asks", model("L", "1", "1", "1", "2", "RANGES\n S row 1\n"), "not a packing row"},
		{"two equations", strings.NewReplacer("ROWS\n", "ROWS\n E q\n", " z obj 3",
			" z obj 3 q 1", "RHS\n", "RHS\n S q 1\n").Replace(model("E", "1", "1", "1", "1", "")),
			`so does another row with column "z"`},
		{"continuous", strings.Replace(tinyMPS, "'INTORG'", "'INTEND'", 1),
			`t.mps:13: column "a": not a 0-1 packing model: the column is continuous`},
		{"upper bound 3", model("L", "1", "1", "1", "2", "BOUNDS\n UP B x 3\n"),
			`column "x": not a 0-1 packing model: the column may exceed 1`},
		{"lower bound alone", model("L", "1", "1", "1", "2", "BOUNDS\n LO B x 0\n"), "may exceed 1"},
		{"lower bound 2", model("L", "1", "1", "1", "2", "BOUNDS\n FX B x 2\n"), "lower bound is greater than 1"},
		{"negative lower bound", model("L", "1", "1", "1", "2", "BOUNDS\n LO B x -1\n UP B x 1\n"), "less than 0"},
		{"free", model("L", "1", "1", "1", "2", "BOUNDS\n FR B x\n"), "less than 0"},
		{"negative upper bound", model("L", "1", "1", "1", "2", "BOUNDS\n UP B x -1\n"), "upper bound is less than 0"},
		{"semicontinuous", model("L", "1", "1", "1", "2", "BOUNDS\n SC B x 1\n"), "t.mps:15: BOUNDS: type \"SC\""},
		{"bound of no column", model("L", "1", "1", "1", "2", "BOUNDS\n UP B q 1\n"), `there is no column "q"`},
		{"bound without number", model("L", "1", "1", "1", "2", "BOUNDS\n UP x\n"), "has 2 fields"},
		{"bound twice", model("L", "1", "1", "1", "2", "BOUNDS\n UP B x 1\n FX B x 1\n"), "same side"},
		{"two sets", model("L", "1", "1", "1", "2", "BOUNDS\n UP B x 1\n UP C y 1\n"), "a second set"},
		{"too wide", model("L", "1", "3e9", "1", "3e9", ""), `t.mps:9: column "y", row "row": the coefficient needs more than 31 bits`},
		{"too wide once scaled", model("L", "1e-9", "3", "1", "4", ""), "more than 31 bits"},
		{"far too wide", model("L", "1e-300", "1e300", "1", "4", ""), "more than 31 bits"},
		{"many digits", model("L", "1234567890123456789012", "1", "1", "4", ""), "more than 31 bits"},
		{"no number", model("L", "1x", "1", "1", "4", ""), `column "x", row "row": "1x": not a number`},
		{"hexadecimal", model("L", "0x1", "1", "1", "4", ""), "not a number"},
		{"infinite", model("L", "inf", "1", "1", "4", ""), "not a number"},
		{"exponent", model("L", "1e999999999999", "1", "1", "4", ""), "magnitude"},
		{"unknown row", strings.Replace(tinyMPS, "a n1 2", "a n3 2", 1), `t.mps:14: column "a": there is no row "n3"`},
		{"duplicate entry", strings.Replace(tinyMPS, "a n1 2", "a n1 2 n1 2", 1), `a second entry in row "n1"`},
		{"duplicate row", strings.Replace(tinyMPS, " L n2", " L n1", 1), `t.mps:10: a second row "n1"`},
		{"torn column", strings.Replace(tinyMPS, " c n1", " a n2", 1), `column "a" is taken up again`},
		{"unknown row in RHS", strings.Replace(tinyMPS, "RHS n1", "RHS n3", 1), `RHS: there is no row "n3"`},
		{"second right-hand side", strings.Replace(tinyMPS, "RHS n2", "RHS n1", 1), `RHS: a second value for row "n1"`},
		{"sense", strings.Replace(tinyMPS, " MAX", " UP", 1), "neither MAX nor MIN"},
		{"section", strings.Replace(tinyMPS, "BOUNDS", "QUADOBJ", 1), "QUADOBJ"},
		{"section twice", strings.Replace(tinyMPS, "BOUNDS", "RHS", 1), "a second section RHS"},
		{"row type", strings.Replace(tinyMPS, " L n1", " Q n1", 1), `row "n1": type "Q"`},
		{"no objective", strings.Replace(tinyMPS, " N value", " L value", 1), "no objective"},
		{"objective name", strings.Replace(tinyMPS, "ROWS", "OBJNAME cost\nROWS", 1), `no N row "cost"`},
		{"marker", strings.Replace(tinyMPS, "'INTEND'", "'SOSEND'", 1), "SOSEND"},
		{"fields", strings.Replace(tinyMPS, " a n1 2", " a n1", 1), "not 2 fields"},
		{"outside", " x\n" + tinyMPS, "outside of any section"},
		{"unknown row like a comment", strings.Replace(tinyMPS, "b value 4.5 job1 1", "b value 4.5 $job 1", 1), `no row "$job"`},
		{"column like a comment, unknown row", strings.Replace(tinyMPS, " c n1 1 n2 1", " $c n3 1",
			1), `column "$c": there is no row "n3"`},
		{"unknown column like a comment", model("L", "1", "1", "1", "2", "BOUNDS\n UP B $x 1\n"), `no column "$x"`},
		{"two exponents", model("L", "1D2E3", "1", "1", "4", ""), "not a number"},
		{"exponent without digits", model("L", "1D", "1", "1", "4", ""), "not a number"},
		{"long line", tinyMPS[:20] + strings.Repeat("x", maxMPSLine) + tinyMPS[20:], "longer than 1048576 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.text), "t.mps")
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestReadChoosesTheObjective(t *testing.T) {
	text := strings.Replace(tinyMPS, " L job1\n", " N other\n L job1\n", 1)
	text = strings.Replace(text, " a n1 2", " a n1 2 other 7", 1)
	require.Equal(t, 5., read(t, text).Objective([]int32{0}), "the first N row")
	named := strings.Replace(text, "ROWS\n", "OBJNAME\n other\nROWS\n", 1)
	p := read(t, named)
	require.Equal(t, 7., p.Objective([]int32{0}))
	require.Equal(t, []string{"a"}, p.Model.ColName, "the others are worth nothing")
}

func TestReadConstantAndBoundsOfMinimisation(t *testing.T) {
	text := strings.Replace(tinyMPS, "    MAX", "    MIN", 1)
	text = strings.NewReplacer("value 5", "value -5", "value 4.5", "value -4.5",
		"value 3", "value -3", "RHS n1", "RHS value 100 n1").Replace(text)
	p := read(t, text)
	require.Equal(t, -107.5, p.Objective([]int32{1, 2}))
	require.Equal(t, -107.5, p.Bound(75))
	require.Equal(t, 107.5, p.Model.Objective(75))
}

func TestReadRoundsWorthsThatDoNotFit(t *testing.T) {
	text := strings.NewReplacer("value 5", "value 500000000000000000000.25", "value 4.5",
		"value 0.000000000000000000000123").Replace(tinyMPS)
	p := read(t, text)
	require.False(t, p.Exact)
	best, worth := bestChoices(p.Model)
	require.LessOrEqual(t, worth, int64(ipmodel.MaxTotalValue))
	require.Greater(t, worth, int64(ipmodel.MaxTotalValue)/11, "the greatest power of ten that fits")
	require.Equal(t, "2000000000000000000013/4", p.ExactObjective([]int32{0, 2}).String())
	exact, _ := p.ExactObjective(best[0]).Float64()
	require.GreaterOrEqual(t, p.Bound(worth), exact)
	require.LessOrEqual(t, p.Bound(worth), math.Nextafter(exact, math.Inf(1))*(1+1e-15))
}

func ExampleRead() {
	p, err := Read(strings.NewReader(tinyMPS), "tiny.mps")
	if err != nil {
		fmt.Println(err)
		return
	}
	chosen := []int32{1, 2}
	_, err = p.Model.Check(chosen)
	fmt.Println(err, p.Names(chosen), p.Objective(chosen))
	// Output: <nil> [b c] 7.5
}

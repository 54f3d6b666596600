// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree writes files into a directory of its own.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

const imports = `import _ "github.com/aucsched/aucsched/`

func TestCount(t *testing.T) {
	h, err := count(tree(t, map[string]string{
		"bids/bids.go":          "package bids\n\ntype Bid int\n\nfunc (Bid) Worth() {}\n\nfunc (Bid) own() {}\n\nfunc New() {}\n",
		"bids/bids_test.go":     "package bids\n\nfunc Exported() {}\n",
		"bids/hidden.go":        "package bids\n\ntype hidden int\n\nfunc (hidden) Shown() {}\n\nconst A, b = 1, 2\n\nvar C int\n",
		"core/core.go":          "package core\n\n" + imports + "bids\"\n\ntype Job struct{}\n",
		"internal/sim/sim.go":   "package sim\n\n" + imports + "core\"\n\nfunc Run() {}\n",
		"cmd/aucsched/main.go":  "package main\n\n" + imports + "internal/sim\"\n\nfunc Main() {}\n",
		"invasive/invasive.go":  "package invasive\n\nvar X int\n",
		"adapters/x/x.go":       "package x\n\nvar X int\n",
		"slurmplugin/a.c":       "extern int a(void)\n{\n\treturn b();\n}\n",
		"slurmplugin/b.c":       "extern int b(void)\n{\n\treturn c();\n}\n",
		"slurmplugin/c.c":       "extern int c(void)\n{\n\treturn 1;\n}\n",
		"slurmplugin/test/t.c":  "int main(void)\n{\n\treturn a();\n}\n",
		"core/testdata/odd.go":  "this is not Go",
		"build/generated/by.go": "nor this",
	}))
	require.NoError(t, err)
	require.Equal(t, 6, len(h.packages))
	require.Len(t, h.public(), 4) // bids, core, invasive, adapters
	require.Equal(t, 6, h.exported(product), "Bid, Worth, New, A, C; Job")
	require.Equal(t, 1, h.exported(invasive), "X")
	require.Equal(t, []string{"bids"}, h.below("core"))
	require.Equal(t, []string{"bids", "core", "internal/sim"}, h.below("cmd/aucsched"))
	require.Equal(t, 4, h.floors())
	require.Equal(t, 3+4, h.lines[tests])
	require.Equal(t, 9+9+5+5+5+12, h.lines[product], "without the tests' C")
	require.Equal(t, map[string]int{"bids": 18, "core": 5, "internal": 5, "cmd": 5, "slurmplugin": 12}, h.areas)
	require.Equal(t, 3, h.lines[invasive])
	require.Equal(t, 3, h.lines[adapter])
	require.Zero(t, calls(h.c).circles())
}

func TestArrows(t *testing.T) {
	h, err := count(tree(t, map[string]string{
		"core/a.go":     "package core\n\nimport \"absent\"\n\ntype A struct{ b B }\n\nvar _ = absent.X\n",
		"core/b.go":     "package core\n\ntype B struct{}\n\nfunc (B) own() { c() }\n",
		"core/c.go":     "package core\n\nfunc c() { new(A).b.own() }\n",
		"core/d.go":     "package core\n\nvar d = A{}\n",
		"core/e.go":     "package core\n\nfunc e(a A) { B := 1; _ = B; _ = d }\n",
		"internal/f.go": "package f\n\nvar f = g\n",
		"internal/g.go": "package f\n\nvar g = 1\n",
	}))
	require.NoError(t, err)
	arrows := 0
	for _, to := range h.arrows(h.packages["core"]) {
		arrows += len(to)
	}
	require.Equal(t, 7, arrows, "a to b; b to c; c to a and b; d to a; e to a and d")
	require.Equal(t, map[string]int{"core": 4, "elsewhere": 0}, map[string]int{
		"core": h.figures()["arrows back: core"], "elsewhere": h.figures()["arrows back: elsewhere"]})
}

func TestSentences(t *testing.T) {
	h, err := count(tree(t, map[string]string{
		"core/a.go":          "package core\n\n// It is there. Only\n// [Auction] is asked. Only one looks at it.\n",
		"core/a_test.go":     "package core\n\n// Only Auction is.\n",
		"slurmplugin/a.h":    "/* A preset is\n * off where GPUs are shared. */\n",
		"README.md":          "It is for one that only\nauction2 knows.\n",
		"CHANGELOG.md":       "Only Auction.\n",
		"benchmarks/x/a.md":  "Only Auction.\n",
		"docs/more/other.md": "Only Auction.\n",
	}))
	require.NoError(t, err)
	require.Equal(t, 5, h.sentences)
}

func TestBudget(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	const figures = "10 lines: product\n 7 lines: product: core\n1 longest line\n"
	for name, c := range map[string]struct {
		before, budget string // before: "" if it was not
		says, fault    string // parts
	}{
		"kept":           {"", "10 lines: product\n", "", ""},
		"lower it":       {"", "11 lines: product\n", "lines: product: 10; lower its budget of 11", ""},
		"too many":       {"", "9 lines: product\n", "", "lines: product: 10 exceeds the budget of 9"},
		"too many there": {"", "6 lines: product: core\n", "", "lines: product: core: 7 exceeds"},
		"gone":           {"", "1 lines: product: old\n", "lines: product: old: 0; lower", ""},
		"no number":      {"", "x lines\n", "", "line 1"},
		"lowered":        {"12 lines: product\n", "10 lines: product\n", "", ""},
		"raised":         {"9 lines: product\n", "10 lines: product\n", "", "only shrinks"},
		"with a reason":  {"9 lines: product\n", "10 lines: product # raised: a door\n", "", ""},
		"moved":          {"6 lines: product: core\n", "7 lines: product: core\n", "", ""},
		"taken out":      {figures, "10 lines: product\n", "", "longest line: its budget was 1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "budget.txt")
			git := func(args ...string) {
				c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
				out, err := c.CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
			for i, text := range []string{c.before, c.budget} {
				if text == "" {
					continue
				}
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
				if c.before != "" && i == 0 {
					git("init", "-q")
				}
				if c.before != "" { // what is committed counts like what is not
					git("add", ".")
					git("commit", "-qm", "budget")
				}
			}
			now, err := parseBudget(figures)
			require.NoError(t, err)
			var out strings.Builder
			err = hold(&out, path, now)
			require.Equal(t, c.says == "", out.String() == "", out.String())
			require.Contains(t, out.String(), c.says)
			if c.fault == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.fault)
			}
		})
	}
}

func TestCircles(t *testing.T) {
	call := func(names ...string) string {
		return "extern void " + names[0] + "(void)\n{\n\t" + strings.Join(names[1:], "(); ") + "();\n}\n"
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  int
	}{
		"a line":         {map[string]string{"a": call("a", "b"), "b": call("b", "c"), "c": call("c", "printf")}, 0},
		"only in words":  {map[string]string{"a": call("a", "b"), "b": "/* see a() */\n" + call("b", "puts(\"a\"); c")}, 0},
		"two":            {map[string]string{"a": call("a", "b"), "b": call("b", "a")}, 1},
		"through others": {map[string]string{"a": call("a", "b"), "b": call("b", "c"), "c": call("c", "a"), "d": call("d", "a")}, 1},
		"two circles":    {map[string]string{"a": call("a", "b"), "b": call("b", "a"), "c": call("c", "d", "a"), "d": call("d", "c")}, 2},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, calls(c.files).circles()) })
	}
}

func TestLongFunctionsAndLines(t *testing.T) {
	h, err := count(tree(t, map[string]string{
		"a.go": "package a\n\nfunc f() {\n" + strings.Repeat("\tf()\n", 79) + "}\n\nfunc g() {\n" + strings.Repeat("\tg()\n", 78) + "}\n",
		"b.go": "package a\n\n// " + strings.Repeat("x", 150) + "\n",
		"c.go": "// Code generated by hand. DO NOT EDIT.\n\npackage a\n\n// " + strings.Repeat("x", 250) + "\n",
	}))
	require.NoError(t, err)
	require.Equal(t, 1, h.longFunctions)
	require.Equal(t, 153, h.longest)
	require.Equal(t, 1, h.over140)
}

func TestRefused(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no package":    {"a.txt": ""},
		"not Go at all": {"a.go": "package"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := count(tree(t, files))
			require.Error(t, err)
		})
	}
}

func TestTable(t *testing.T) {
	dir := tree(t, map[string]string{"bids/a.go": "package bids\n\nfunc A() {}\n"})
	var out strings.Builder
	require.NoError(t, run(&out, "", []string{dir, dir}))
	require.Regexp(t, `(?m)^lines: product +3 +3$`, out.String())
	require.Regexp(t, `(?m)^lines: product: bids +3 +3$`, out.String())
	require.ErrorContains(t, run(&out, "", []string{filepath.Join(dir, "absent")}), "absent")
	require.ErrorContains(t, run(&out, "", nil), "usage")
	require.ErrorContains(t, run(&out, filepath.Join(dir, "absent"), []string{dir}), "absent")
}

// heart are the public packages, from below, and below those what they are built from.
var heart = []string{"nodeset", "bids", "ipmodel", "ipmodel/native", "core"}

var foundation = []string{"cycle", "format", "hostlist", "input", "market", "place", "settings", "timeline"}

// upward are the imports that lead up: from the foundation to core or out of it, from the heart to
// what stands on it, and from anything but tests to what is for tests.
func upward(h *house) (out []string) {
	low := make(map[string]bool)
	for _, dir := range heart[:len(heart)-1] {
		low[dir] = true
	}
	for _, dir := range foundation {
		low["internal/"+dir] = true
	}
	for dir, p := range h.packages {
		for to := range p.imports {
			up := (low[dir] || dir == "core") && !low[to]
			if up || p.wing == product && strings.HasPrefix(to, "internal/test/") {
				out = append(out, dir+" imports "+to)
			}
		}
	}
	slices.Sort(out)
	return out
}

// The simulator's door is narrow: a name more needs a reason here.
func TestNamesOfSimulate(t *testing.T) {
	h, err := count("../../..")
	require.NoError(t, err)
	require.Equal(t, 7, h.figures()["exported names: simulate"])
}

func TestLayers(t *testing.T) {
	h, err := count("../../..")
	require.NoError(t, err)
	for _, dir := range foundation {
		require.Contains(t, h.packages, "internal/"+dir, "the list of what core is built from")
	}
	require.Empty(t, upward(h))

	h, err = count(tree(t, map[string]string{
		"core/a.go":               "package core\n\n" + imports + "internal/place\"\n" + imports + "internal/sim\"\n",
		"bids/a.go":               "package bids\n\n" + imports + "internal/window\"\n" + imports + "nodeset\"\n",
		"nodeset/a.go":            "package nodeset\n",
		"internal/place/a.go":     "package place\n\n" + imports + "core\"\n",
		"internal/sim/a.go":       "package sim\n\n" + imports + "core\"\n" + imports + "internal/test/draw\"\n",
		"internal/sim/a_test.go":  "package sim\n\n" + imports + "internal/test/draw\"\n",
		"internal/test/b/a.go":    "package b\n\n" + imports + "internal/test/draw\"\n",
		"benchmarks/emulate/a.go": "package emulate\n\n" + imports + "internal/test/slurmtest\"\n",
	}))
	require.NoError(t, err)
	require.Equal(t, []string{"bids imports internal/window", "core imports internal/sim", "internal/place imports core",
		"internal/sim imports internal/test/draw"}, upward(h))
}

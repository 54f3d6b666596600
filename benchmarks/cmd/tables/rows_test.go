// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/results"
	"github.com/aucsched/aucsched/internal/test/beside"
	"github.com/aucsched/aucsched/internal/test/race"
)

const resultsDir = "../../results"

// older are the pages that an older core has measured, and say so, with the reason: none of their
// rows is measured. AUCSCHED_ROWS=NAME has a page's rows all the same.
var older = map[string]string{
	"alternatives": ruled, "backfill": ruled, "gpu-traces": ruled, "simulation": ruled, "topology": ruled,
	"worth": "25 workloads of 50 runs each take hours, and a row minutes",
}

const ruled = "nodes, left-overs and stops go by new rules, of which more are to come"

// TestDrawnRow measures a row of a measured page again, by the command that the page names, and
// compares the figures: a page whose programs have changed since is stale. Which row is drawn anew
// in each run, of those that take less than a minute. AUCSCHED_ROWS=N draws as the run that said N
// did, =all measures all that could be drawn, =NAME all those of a page.
func TestDrawnRow(t *testing.T) {
	race.Slow(t)
	var pages []*subcommand
	for i := range subcommands {
		if subcommands[i].rows != nil {
			pages = append(pages, &subcommands[i])
		}
	}
	which := os.Getenv("AUCSCHED_ROWS")
	seed, err := strconv.ParseUint(which, 10, 64)
	switch {
	case which == "":
		seed = uint64(time.Now().UnixNano())
	case err != nil:
		for _, c := range pages {
			if which == "all" && older[c.page] == "" || which == c.page {
				for _, row := range c.rows() {
					t.Run(c.page+"/"+row, func(t *testing.T) { measureRow(t, c, row) })
				}
			}
		}
		return
	}
	t.Logf("AUCSCHED_ROWS=%d draws this row again", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	pages = slices.DeleteFunc(pages, func(c *subcommand) bool { return older[c.page] != "" })
	if len(pages) == 0 {
		t.Skip("all pages with rows are of an older core")
	}
	c := pages[draw.IntN(len(pages))]
	rows := slices.DeleteFunc(c.rows(), func(row string) bool { return strings.HasPrefix(row, "Philly 2017 at") })
	row := rows[draw.IntN(len(rows))]
	t.Run(c.page+"/"+row, func(t *testing.T) { measureRow(t, c, row) })
}

// measureRow measures a row and holds it against the page.
func measureRow(t *testing.T, c *subcommand, row string) {
	text, err := os.ReadFile(filepath.Join(resultsDir, c.page+".md"))
	require.NoError(t, err)
	args := append(pageCommand(t, c, string(text)), "-match", row)
	var out strings.Builder
	require.NoError(t, write(t.Context(), args, &out, io.Discard), "tables %s", strings.Join(args, " "))
	tables, err := results.ReadTables(resultsDir, c.page)
	require.NoError(t, err)
	kept := map[string]bool{}
	for _, line := range tableLines(tables) {
		kept[line] = true
	}
	again := tableLines(results.Tables(out.String()))
	require.NotEmpty(t, again)
	for _, line := range again {
		if !kept[line] {
			t.Errorf("benchmarks/results/%s.md is stale: it and its tables have no row\n%s\nthat `tables %s` has measured",
				c.page, line, strings.Join(args, " "))
		}
	}
}

var writtenBy = regexp.MustCompile("Written by `go run ./benchmarks/cmd/tables ([^`]+?) -into")

// pageCommand are the arguments with which the page was written, without those for files that
// are written beside it, and with the traces beside the checkout for DIR.
func pageCommand(t *testing.T, c *subcommand, text string) (args []string) {
	m := writtenBy.FindStringSubmatch(strings.Join(strings.Fields(text), " "))
	require.NotNil(t, m, "%s.md does not say by which command it was written", c.page)
	words := strings.Fields(m[1])
	require.Equal(t, c.name, words[0])
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "-plot", "-csv":
			i++
		case "DIR":
			args = append(args, beside.Shared(t, "traces"))
		default:
			args = append(args, words[i])
		}
	}
	return args
}

// machineColumns are those of figures that differ from machine to machine.
var machineColumns = []string{"CPU time", "peak memory", "p50", "p99", "max"}

// tableLines are the rows of tables, each with the heading above and the titles of its columns,
// without figures of the machine. Tables of means over all rows are left out.
func tableLines(tables []results.Table) (lines []string) {
	for _, t := range tables {
		if t.Head[0] == "mean of all" {
			continue
		}
		for _, row := range t.Rows {
			cells := slices.Clone(row)
			for i, title := range t.Head {
				if slices.Contains(machineColumns, title) {
					cells[i] = "-"
				}
				cells[i] = glued.Replace(cells[i])
			}
			lines = append(lines, t.Section+"\n"+strings.Join(t.Head, " | ")+"\n"+strings.Join(cells, " | "))
		}
	}
	return lines
}

// glued takes out what tables in CSV files do not keep of a number.
var glued = strings.NewReplacer(" ± ", "±", " ±", "±", ",", "")

// TestPagesNameTheirCommands: the list of pages says by which command each is written, as the
// page does.
func TestPagesNameTheirCommands(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(resultsDir, "README.md"))
	require.NoError(t, err)
	commands := regexp.MustCompile("(?m)^\\| \\[([a-z-]+)\\].*`go run ./benchmarks/cmd/tables ([^`]+)` \\|$")
	found := commands.FindAllStringSubmatch(string(list), -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		text, err := os.ReadFile(filepath.Join(resultsDir, m[1]+".md"))
		require.NoError(t, err)
		require.True(t, strings.Contains(strings.Join(strings.Fields(string(text)), " "), "tables "+m[2]+" -into"),
			"%s.md names another command than the list in README.md, `%s`", m[1], m[2])
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"image"
	"image/png"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// plotted is a page of a job on the first two of four nodes, in the first half of the time.
func plotted() *Page {
	w := &workload.Workload{Name: "w", Jobs: []workload.Job{{Duration: 50}, {Submit: 1, Duration: 50}}}
	log := new(Log)
	log.Add(sim.Record{Job: &w.Jobs[0], Start: 0, End: 50, Segs: []nodeset.Segment{{First: 0, Last: 1, Cores: 8}}})
	log.Add(sim.Record{Job: &w.Jobs[1], Submit: 1, Start: 50, End: 100, Segs: []nodeset.Segment{{First: 3, Last: 3, Cores: 2}}})
	nodes := make([]nodeset.Capacity, 4)
	for n := range nodes {
		nodes[n] = nodeset.Capacity{Cores: 8}
	}
	return &Page{Workload: w, Nodes: nodes, Runs: []Run{{Result: &sim.Result{Policy: "p"}, Log: log}}}
}

// The first node is at the bottom, time goes to the right, and what is taken in part is paler.
func TestGantt(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, plotted().Plot(&out, ".svg", []string{"gantt"}, []string{"p"}, nil))
	found := regexp.MustCompile(`<image preserveAspectRatio="none" .*base64,([^"]+)"`).FindStringSubmatch(out.String())
	require.Len(t, found, 2)
	text, err := base64.StdEncoding.DecodeString(found[1])
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(text))
	require.NoError(t, err)
	wide, high := picture.Bounds().Dx(), picture.Bounds().Dy()
	white := func(i image.Image, x, y int) bool {
		r, g, b, _ := i.At(x, y).RGBA()
		return r == 0xffff && g == 0xffff && b == 0xffff
	}
	for _, c := range []struct {
		x, y  int
		white bool
	}{{wide / 4, high - 1, false}, {wide / 4, high/2 + 1, false}, {wide / 4, high/2 - 1, true}, {3 * wide / 4, high - 1, true},
		{3 * wide / 4, 0, false}, {wide / 4, 0, true}} {
		require.Equal(t, c.white, white(picture, c.x, c.y), c)
	}
	least := func(x, y int) uint32 { r, g, b, _ := picture.At(x, y).RGBA(); return min(r, g, b) }
	require.Greater(t, least(3*wide/4, 0), least(wide/4, high-1))
	p := plotted()
	g := newRaster(4, 0, 100)
	g.add(p.Runs[0].Log.segs[0], 0, 50, 1, hue(0))
	require.False(t, white(g.image(true), 0, 0))
	require.True(t, white(g.image(false), 0, 0))
}

// All panels of all formats are drawn, and are small.
func TestPlot(t *testing.T) {
	p := plotted()
	p.Runs = append(p.Runs, p.Runs[0])
	c := &Comparison{To: "p", Figures: []string{"mean wait", "runtime"},
		With: []Differences{{"q", []float64{-20, 3}, []float64{5, 0}}}}
	for _, ending := range PlotFormats() {
		var out bytes.Buffer
		require.NoError(t, p.Plot(&out, ending, Panels(), []string{"p", "q"}, c), ending)
		require.Less(t, out.Len(), 300_000)
		if ending == ".pdf" {
			require.True(t, strings.HasPrefix(out.String(), "%PDF-"))
			continue
		}
		for d := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
		}
		for _, word := range []string{"difference from p, %", "mean wait", "cores in use, %", "jobs waiting", ">q<"} {
			require.Contains(t, out.String(), word)
		}
		require.NotContains(t, out.String(), "GPUs in use")
	}
	for path, ok := range map[string]bool{"a.pdf": true, "b.SVG": true, "c.png": false, "pdf": false} {
		_, err := PlotEnding(path)
		require.Equal(t, ok, err == nil, path)
	}
}

// Ticks are round numbers within the axis, few enough to read, and 0 is one of them.
func TestRoundTicks(t *testing.T) {
	for want, ends := range map[string][2]float64{
		"-150 -100 -50 0 50": {-180, 80}, "0 50 100 150 200 250": {0, 290}, "0 20 40 60 80": {0, 93}, "0 0.1 0.2 0.3": {0, 0.35},
		"0 2000 4000 6000": {0, 7999}, "1 2 3": {0.5, 3.5},
	} {
		var labels []string
		for _, tick := range roundTicks(ends[0], ends[1]) {
			labels = append(labels, tick.Label)
		}
		require.Equal(t, want, strings.Join(labels, " "), ends)
	}
	require.Empty(t, roundTicks(1, 1))
}

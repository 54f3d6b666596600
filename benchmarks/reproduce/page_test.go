// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/clitest"
)

func pageOf(t *testing.T, r *Report, command string) string {
	var b strings.Builder
	require.NoError(t, r.WritePage(&b, command))
	return b.String()
}

// A figure is where the axis says it is.
func TestChartIsToScale(t *testing.T) {
	r := fakeReport(t, []uint64{1, 2, 3})
	p := r.Tables[0].page()
	var titles []string
	for _, c := range p.Charts {
		titles = append(titles, c.Title)
		first, last := c.Ticks[0], c.Ticks[len(c.Ticks)-1]
		low, err := strconv.ParseFloat(first.Text, 64)
		require.NoError(t, err)
		high, err := strconv.ParseFloat(last.Text, 64)
		require.NoError(t, err)
		read := func(x float64) float64 { return low + (x-first.X)/(last.X-first.X)*(high-low) }
		precision := (high - low) / 1000
		for _, m := range c.Marks {
			require.InDelta(t, m.mean, read(m.Ours), precision, m.Text)
			require.InDelta(t, m.mean-m.dev, read(m.From), precision, m.Text)
			require.InDelta(t, m.mean+m.dev, read(m.To), precision, m.Text)
			if m.hasPaper {
				x, _, _ := strings.Cut(strings.TrimPrefix(m.Diamond, "M"), " ")
				v, err := strconv.ParseFloat(x, 64)
				require.NoError(t, err)
				require.InDelta(t, m.printed, read(v), precision, m.Text)
			}
			require.True(t, 0 < m.Y && m.Y < float64(c.Axis) && m.From >= chartLeft && m.To <= chartWidth)
		}
	}
	require.Equal(t, []string{"CPU %", "runtime h", "wait h", "fragmentation", "slowdown", "spread", "runtime, above bound %"}, titles)
	cpu := p.Charts[0]
	require.Len(t, cpu.Marks, 6)
	require.Len(t, cpu.Groups, 3)
	require.Equal(t, mark{Text: "easy, auction: 92.3 ± 2.5, printed 66", HasOurs: true,
		hasPaper: true, mean: cpu.Marks[1].mean, dev: cpu.Marks[1].dev, printed: 66,
		Method: 1, Y: cpu.Marks[1].Y, Ours: cpu.Marks[1].Ours, From: cpu.Marks[1].From,
		To: cpu.Marks[1].To, Diamond: cpu.Marks[1].Diamond}, cpu.Marks[1])
	require.Len(t, p.Charts[6].Marks, 5, "not of the row whose jobs did not all run")
}

func TestDuels(t *testing.T) {
	p := fakeReport(t, []uint64{1, 2, 3}).Tables[0].page()
	require.Equal(t, []string{"CPU %", "wait h", "spread"}, p.Compared)
	var got [][]verdict
	for _, d := range p.Duels {
		got = append(got, d.Cells)
	}
	require.Equal(t, [][]verdict{
		{{"method +10.3 (method +6)", "yes"}, {"baseline +0.21 (neither 0.00)", "no"}, {"neither 0.00 (neither 0.00)", "yes"}},
		{{"baseline -9.7 (method +6)", "no"}, {"method -0.19 (neither 0.00)", "no"}, {"neither 0.00 (neither 0.00)", "yes"}},
		{{"neither 0.0 (method +6)", "noise"}, {"neither 0.00 (neither 0.00)", "yes"}, {"neither 0.00 (neither 0.00)", "yes"}},
	}, got)
}

// The page asks nothing of the network, runs nothing, and lets no name out of its place.
func TestPageIsClosed(t *testing.T) {
	r := fakeReport(t, []uint64{1, 2, 3})
	evil := `<img src="x">`
	r.Tables[0].Title, r.Tables[0].Rows[0].Workload, r.Tables[0].Rows[1].Workload = evil, evil, evil
	page := pageOf(t, r, "aucsched reproduce </pre>")
	for _, word := range []string{"http:", "https:", "<script", "src=\"", "href", "url(", "@import", "<link", "<img"} {
		require.NotContains(t, page, word)
	}
	require.Contains(t, page, "default-src 'none'; style-src 'unsafe-inline'\"")
	require.Equal(t, 2, strings.Count(page, "</pre>"))
	for _, word := range []string{"aucsched simulate easy backfill", "the paper prints this upside down",
		"Several builds", "82.0 ± 2.0 (60)"} {
		require.Contains(t, page, word)
	}
}

// Every tag is closed and every number of a picture is one.
func TestPageIsWellFormed(t *testing.T) {
	for _, seeds := range [][]uint64{{1}, {1, 2, 3}} {
		page := pageOf(t, fakeReport(t, seeds), "aucsched reproduce")
		for _, picture := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
			require.NotContains(t, picture, "NaN")
			require.NotContains(t, picture, "Inf")
			d := xml.NewDecoder(strings.NewReader(picture))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else {
					require.NoError(t, err)
				}
			}
		}
		require.Equal(t, 7, strings.Count(page, "<svg"))
	}
}

func TestNiceStep(t *testing.T) {
	for v, want := range map[float64]float64{1: 1, 1.1: 2, 0.03: 0.05, 70: 100, 0.0011: 0.002} {
		require.InEpsilon(t, want, niceStep(v), 1e-9)
	}
}

// A browser has nothing to say against the page, and shows every mark inside its picture.
func TestPageInBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium: sh scripts/packages.sh pages")
	}
	page := pageOf(t, fakeReport(t, []uint64{1, 2, 3}), "aucsched reproduce")
	clitest.Browse(t, map[string]string{"reproduce": page})
	page = strings.Replace(page, "style-src 'unsafe-inline'", "style-src 'unsafe-inline'; script-src 'unsafe-inline'", 1)
	probe := `<script>
let outside = 0, seen = 0;
for (const svg of document.querySelectorAll("svg")) {
  const box = svg.getBoundingClientRect();
  for (const m of svg.querySelectorAll("circle, path, text")) {
    const b = m.getBoundingClientRect();
    seen++;
    if (b.width === 0 || b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 4) outside++;
  }
}
document.title = seen + " seen, " + outside + " outside";
</script></body>`
	page = strings.Replace(page, "</body>", probe, 1)
	path := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(path, []byte(page), 0o600))
	var said strings.Builder
	c := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox",
		"--disable-gpu", "--enable-logging=stderr", "--user-data-dir="+t.TempDir(),
		"--window-size=1000,900", "--virtual-time-budget=3000", "--dump-dom", "file://"+path)
	c.Stderr = &said
	dom, err := c.Output()
	require.NoError(t, err)
	require.Regexp(t, `<title>[1-9]\d\d seen, 0 outside</title>`, string(dom))
	require.NotContains(t, said.String(), "CONSOLE")
}

// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"html"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// probe looks for every job where the picture should have it, on the first node of its
// allocation halfway through its run, and notes what it found and every error.
const probe = `<script>
const found = gantts.map(g => {
  let n = 0;
  for (let k = 0; k < g.run.n; k++) {
    const node = g.run.segs[g.run.from[k]], t = (g.run.start[k] + g.run.end[k]) / 2;
    Object.assign(view, { t0: g.run.start[k], t1: g.run.end[k], n0: node, n1: node + 1 });
    g.draw();
    let rows = 0;
    for (let y = 0.5; y < g.box.h; y++) if (g.at(g.x(t), g.box.y + y) === k) rows++;
    const cores = g.run.segs[g.run.from[k] + 2];
    if (Math.abs(rows - g.box.h * cores / machine.cores[node]) <= cores + 1) n++;
  }
  return n + " of " + g.run.n;
});
document.title = "found " + found + "; " + errors;
</script>`

// In a browser the script runs without an error, every chart has its lines, and every
// job is where it was, with its share of the node.
func TestPageInBrowser(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var jobs []workload.Job
	for i := range 60 {
		limit := 60 + rng.Int64N(600)
		jobs = append(jobs, jobOf("j"+strconv.Itoa(i), bids.Request{Cores: 1 + rng.IntN(20), MinGPUs: rng.IntN(3)},
			rng.Int64N(2000), limit, limit))
	}
	jobs = append(jobs, jobOf("</script>", bids.Request{Cores: 99}, 0, 60, 60))
	p, _ := simulate(t, []nodeset.Capacity{{Cores: 8, GPUs: 2}, {Cores: 8, GPUs: 2}, {Cores: 8}, {Cores: 12, GPUs: 2}}, jobs)
	dom := browse(t, p, probe)
	require.Contains(t, dom, "<title>found 60 of 60; 0</title>")
	require.Equal(t, 3, strings.Count(dom, "<path d=\"M"), "a line for each of cores, GPUs and the queue")
	when := regexp.MustCompile(`<output id="when">(.*?)</output>`).FindStringSubmatch(dom)
	require.NotNil(t, when)
	require.Regexp(t, `^0:\d\d:\d\d after the first submission$|^1:\d\d:\d\d after`, html.UnescapeString(when[1]))
}

// browse is the page's document after its script and more have run in a browser. Errors
// are counted in errors.
func browse(t *testing.T, p *Page, more string) string {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium: sh scripts/packages.sh pages")
	}
	var page strings.Builder
	require.NoError(t, p.Write(&page))
	listen := `<script>let errors = 0; addEventListener("error", () => errors++);</script><style>`
	path := filepath.Join(t.TempDir(), "page.html")
	text := strings.Replace(page.String(), "<style>", listen, 1) + more
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	dom, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--window-size=800,900", "--virtual-time-budget=3000", "--dump-dom", "file://"+path).Output()
	require.NoError(t, err)
	return string(dom)
}

// filesProbe reads off the pictures of files what they show: where job 2's circle is, which is 1.18
// times better off, against the line of 1.
const filesProbe = `<script>
const one = +document.querySelector("#shares .one").getAttribute("y1");
const circles = [...document.querySelectorAll("#shares circle")].map(c => one - c.getAttribute("cy") > 1 ? "up" : "level");
document.title = circles + "; " + document.querySelectorAll("#curves .window").length + "; " + errors;
</script>`

// In a browser the pictures of files show each job against the first policy, and where the window
// begins and ends.
func TestFilesInBrowser(t *testing.T) {
	dom := browse(t, filePage(), filesProbe)
	require.Contains(t, dom, "<title>level,up; 10; 0</title>")
	require.Contains(t, dom, "2 jobs by submission: 1 better, 0 worse")
	for _, caption := range []string{"Cores in use by jobs that count", "Cores asked for in the queue", "Cores that wait for a file"} {
		require.Contains(t, dom, caption)
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/test/inputs"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// decisionsVariable names a directory into which TestDecisions writes all decisions, a file for
// each row, so that those of two commits can be compared: scripts/golden.sh does that.
const decisionsVariable = "AUCSCHED_TEST_DECISIONS"

// TestDecisions holds a hash of all decisions of each row against testdata/decisions.golden. A
// change of the code that is to change no decision changes none of them.
func TestDecisions(t *testing.T) {
	race.Slow(t)
	rows := slices.Concat(simulatedRows(), caseRows(t), recordedRows(), drawnRows())
	hashes := make([]string, len(rows))
	t.Run("rows", func(t *testing.T) {
		for i, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				hash := sha256.New()
				d := decisions{Writer: bufio.NewWriter(io.MultiWriter(hash, decisionsFile(t, row.name)))}
				row.run(t, &d)
				require.NoError(t, d.Flush())
				hashes[i] = fmt.Sprintf("%-24s %x\n", row.name, hash.Sum(nil))
			})
		}
	})
	if !slices.Contains(hashes, "") { // some were not run
		golden.Equal(t, "decisions.golden", strings.Join(hashes, ""))
	}
}

// decisionsFile is where the decisions of a row are written to.
func decisionsFile(t *testing.T, row string) io.Writer {
	dir := os.Getenv(decisionsVariable)
	if dir == "" {
		return io.Discard
	}
	f, err := os.Create(filepath.Join(dir, strings.ReplaceAll(row, "/", "_")))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// decisionsRow is a line of the golden file.
type decisionsRow struct {
	name string
	run  func(t *testing.T, to *decisions)
}

// decisions writes what a policy decides: a line for each job that it looks at, in words that do
// not depend on how core keeps a decision.
type decisions struct {
	core.Policy
	*bufio.Writer
}

func (d *decisions) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	if err := d.Policy.Decide(ctx, s, l, p); err != nil {
		return err
	}
	for i := range p.Decisions {
		x := &p.Decisions[i]
		fmt.Fprintf(d, "second %d job %s: ", s.Now, s.Pending[x.Job].ID)
		switch {
		case x.Start:
			fmt.Fprintf(d, "starts by way %d on", x.Alternative)
			for _, s := range x.Segs {
				fmt.Fprintf(d, " %d-%d:%d/%d part %d bin %d", s.First, s.Last, s.Cores, s.GPUs, s.Part, s.Bin)
			}
		case x.Kept:
			fmt.Fprintf(d, "waits, reason %d, from %d on", x.Why, x.Expected)
		default:
			fmt.Fprintf(d, "waits, reason %d", x.Why)
		}
		if x.Why == core.OverQuota {
			fmt.Fprintf(d, ", quota %d", x.Quota)
		}
		fmt.Fprintln(d)
	}
	for _, x := range p.Preempted {
		fmt.Fprintf(d, "second %d stops %s for", s.Now, s.Running[x.Running].ID)
		for _, i := range x.For {
			fmt.Fprint(d, " ", s.Pending[i].ID)
		}
		fmt.Fprintln(d)
	}
	return nil
}

// caseRows are the windows of testdata, a row for each file, without those of other policies.
func caseRows(t *testing.T) (rows []decisionsRow) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		rows = append(rows, decisionsRow{"testdata/" + name, func(t *testing.T, to *decisions) {
			for _, input := range golden.Inputs(t, file) {
				policy, w := readCase(t, input)
				if policy.Name() != "auction2" {
					continue
				}
				to.Policy = policy
				var p core.Plan
				require.NoError(t, to.Decide(t.Context(), &w.Snapshot, core.Limits{Seed: 1}, &p))
			}
		}})
	}
	return rows
}

// recordedRows are the cycles of a slurmctld 22.05 in the test bed: on 24 nodes of two kinds, with
// memory and licences, it had a tree of switches at first, and later a partition whose jobs preempt
// the others. auc_record had recorded them, and each has been made a window, a line each.
func recordedRows() (rows []decisionsRow) {
	for _, setting := range decidedPresets {
		rows = append(rows, decisionsRow{"recorded/" + setting, func(t *testing.T, to *decisions) {
			file, err := os.Open("testdata/recorded.json.gz")
			require.NoError(t, err)
			defer file.Close()
			text, err := gzip.NewReader(file)
			require.NoError(t, err)
			to.Policy = policyWith(t, setting)
			lines := bufio.NewScanner(text)
			lines.Buffer(nil, 1<<20)
			for n := uint64(1); lines.Scan(); n++ {
				w, err := window.Read(bytes.NewReader(lines.Bytes()), fmt.Sprint("cycle ", n))
				require.NoError(t, err)
				fmt.Fprintln(to, "cycle", n)
				var p core.Plan
				require.NoError(t, to.Decide(t.Context(), &w.Snapshot, core.Limits{Seed: n}, &p))
			}
			require.NoError(t, lines.Err())
		}})
	}
	return rows
}

// drawnWindows is how many windows with every feature are drawn, in rows of drawnRow.
const drawnWindows, drawnRow = 4000, 200

func drawnRows() (rows []decisionsRow) {
	for first := uint64(0); first < drawnWindows; first += drawnRow {
		rows = append(rows, decisionsRow{fmt.Sprintf("drawn/%d", first), func(t *testing.T, to *decisions) {
			for seed := first; seed < first+drawnRow; seed++ {
				s, o := core.DrawAny(t, seed)
				var err error
				to.Policy, err = core.NewAuction(o, nil)
				require.NoError(t, err)
				fmt.Fprintln(to, "window", seed)
				var p core.Plan
				require.NoError(t, to.Decide(t.Context(), s, core.Limits{Seed: seed}, &p))
			}
		}})
	}
	return rows
}

// simulatedLoad is a generated workload, of which the first jobs are simulated.
type simulatedLoad struct {
	name, machine string
	jobs          int
	// change adds what the workload has not; it may be nil.
	change func(cfg *sim.Config, jobs []workload.Job)
}

var simulatedLoads = []simulatedLoad{
	{"I.1", "32x8x2", 150, shareGPUs},
	{"II.1", "32x8x2", 150, readFiles},
	{"III.1", "32x8x2", 150, takeMemory},
	{"IV.1", "64x8x2", 200, nil},
	{"V.1", "64x8x2", 200, nil},
	{"V.2", "64x8x2", 200, standInRows},
	{"V.3", "64x8x2", 200, offerAlternatives},
	{"esp", "64x8x2", 150, nil},
	{"lublin-110", "128x2", 200, nil},
	{"tsubame-1.NC", tsubame, 70, nil},
	{"tsubame-2.FC", tsubame, 70, nil},
	{"tsubame-1.NC-ranges", tsubame, 70, nil},
}

const tsubame = "1408x12x3"

// shareGPUs has each third job ask for a quarter to three quarters of a GPU instead.
func shareGPUs(cfg *sim.Config, jobs []workload.Job) {
	shares := sim.Resource{Name: "share", Shares: true}
	for range cfg.Nodes {
		shares.Total = append(shares.Total, 4)
	}
	cfg.Resources = []sim.Resource{shares}
	for i := 0; i < len(jobs); i += 3 {
		jobs[i].Request = bids.Request{Cores: 1 + i%4, MinNodes: 1, MaxNodes: 1, Uses: nodeset.Uses{{PerNode: 1 + int64(i)%3}}}
	}
}

// readFiles has jobs read files, which some share, and prefer the nodes that hold them.
func readFiles(cfg *sim.Config, jobs []workload.Job) {
	inputs.Files{Bandwidth: 10, Memory: 8000, Prefer: true}.In(cfg)
	for i := range jobs {
		jobs[i].Input = workload.Input{File: uint64(1 + i%20), Bytes: 4000}
	}
}

// takeMemory has jobs take memory, so that a part of the cores is left over.
func takeMemory(cfg *sim.Config, jobs []workload.Job) {
	memory := sim.Resource{Name: "memory"}
	for range cfg.Nodes {
		memory.Total = append(memory.Total, 64)
	}
	cfg.Resources = []sim.Resource{memory}
	for i := range jobs {
		jobs[i].Uses = nodeset.Uses{{PerNode: 1, PerCore: int64(1 + i%8)}}
	}
}

// standInRows has each 8 nodes below a switch, and each fourth job ask for few of them.
func standInRows(cfg *sim.Config, jobs []workload.Job) {
	root := len(cfg.Nodes) / 8
	var switches []draw.Switch
	for k := range root {
		s := draw.Switch{Name: fmt.Sprint("row", k), Parent: root, Nodes: nodeset.NewMask(len(cfg.Nodes))}
		for n := range 8 {
			s.Nodes.Set(8*k + n)
		}
		switches = append(switches, s)
	}
	cfg.Topology, _ = draw.Topology(len(cfg.Nodes), append(switches, draw.Switch{Name: "root", Parent: -1}))
	for i := 0; i < len(jobs); i += 4 {
		jobs[i].Switches = 2
	}
}

// offerAlternatives has each second job offer to take its cores anywhere, or half of them.
func offerAlternatives(_ *sim.Config, jobs []workload.Job) {
	for i := 0; i < len(jobs); i += 2 {
		r := &jobs[i].Request
		cores := max(1, r.Cores, r.MinNodes*r.TasksPerNode)
		jobs[i].Alternatives = []bids.Request{{Cores: cores}, {Cores: max(1, cores/2)}}
	}
}

var decidedPresets = []string{"none", "default", "short", "throughput"}

func policyWith(t *testing.T, setting string) core.Policy {
	p, err := core.NewAuction(core.Preset(setting), nil)
	require.NoError(t, err)
	return p
}

func simulatedRows() (rows []decisionsRow) {
	for _, load := range simulatedLoads {
		for _, setting := range decidedPresets {
			for seed := uint64(1); seed <= 2; seed++ {
				rows = append(rows, decisionsRow{fmt.Sprintf("%s/%s/%d", load.name, setting, seed), func(t *testing.T, to *decisions) {
					to.Policy = policyWith(t, setting)
					load.simulate(t, seed, to)
				}})
			}
		}
	}
	return rows
}

func (load *simulatedLoad) simulate(t *testing.T, seed uint64, policy core.Policy) {
	nodes, err := generate.Nodes(load.machine)
	require.NoError(t, err)
	w, err := generate.Generate(generate.GeneratorPrefix+load.name, nodes, seed)
	require.NoError(t, err)
	jobs := slices.SortedStableFunc(slices.Values(w.Jobs), func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	jobs = jobs[:load.jobs]
	cfg := sim.NewConfig(nodes)
	cfg.Seed, cfg.Interval = seed, 30
	if load.change != nil {
		load.change(&cfg, jobs)
	}
	_, err = sim.Run(t.Context(), cfg, policy, jobs)
	require.NoError(t, err)
}

// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
)

// smallConf is a site with two partitions that share nodes, and one apart with GPUs of two types.
const smallConf = `SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=30,bf_max_job_test=200
NodeName=DEFAULT CPUs=16 RealMemory=64000
NodeName=c[1-8]
NodeName=g[1-2] Gres=gpu:a100:4
NodeName=v[1-2] Gres=gpu:v100:2
PartitionName=cpu Nodes=c[1-8] Default=YES
PartitionName=wide Nodes=c[5-8]
PartitionName=gpu Nodes=g[1-2],v[1-2]
`

const monday = 1_767_571_200 // 2026-01-05T00:00:00

// row is a line of sacct.
type row struct {
	id, partition, user   string
	eligible, start, run  int64 // the first two since monday
	limit                 int64 // minutes
	cpus, nodes, priority int
	gpus                  int
	gpuType, mem          string
	state                 string // COMPLETED unless set
	asked                 int    // nodes at least; nodes unless set
	list                  string // of its nodes
}

func instant(second int64) string {
	return time.Unix(monday+second, 0).UTC().Format("2006-01-02T15:04:05")
}

// write writes rows as sacct does, and a slurm.conf, and returns their paths.
func write(t *testing.T, conf string, rows []row) (sacct, conffile string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(workload.PastFormat, ",", "|") + "\n")
	for _, r := range rows {
		tres := fmt.Sprintf("cpu=%d,mem=%s", r.cpus, r.mem)
		if r.gpus > 0 {
			tres += fmt.Sprintf(",gres/gpu=%d", r.gpus)
		}
		if r.gpuType != "" {
			tres += fmt.Sprintf(",gres/gpu:%s=%d", r.gpuType, r.gpus)
		}
		fmt.Fprintf(&b, "%s|%s|%s|%s|%d|%d|%d|%d|%d|%d|%s|%s|%s|%d|%s|%s|%s|%s|lab||%s\n", r.id, instant(r.eligible), instant(r.start),
			instant(r.start+r.run), r.run, r.limit, r.cpus, r.cpus, cmp.Or(r.asked, r.nodes), r.nodes, tres, tres,
			cmp.Or(r.state, "COMPLETED"), r.priority, r.user,
			instant(r.eligible), r.partition, r.mem, r.list)
	}
	dir := t.TempDir()
	sacct, conffile = filepath.Join(dir, "jobs.txt"), filepath.Join(dir, "slurm.conf")
	require.NoError(t, os.WriteFile(sacct, []byte(b.String()), 0o600))
	require.NoError(t, os.WriteFile(conffile, []byte(conf), 0o600))
	return sacct, conffile
}

// drawn is a queue of jobs that all partitions have.
func drawn(seed uint64, jobs int) (rows []row) {
	rng := rand.New(rand.NewPCG(seed, 1))
	at := int64(0)
	for i := range jobs {
		at += rng.Int64N(215)
		r := row{id: fmt.Sprint(i + 1), partition: "cpu", user: fmt.Sprint("u", rng.IntN(5)), eligible: at, nodes: 1,
			cpus: 1 + rng.IntN(16), run: 60 + rng.Int64N(3000), priority: 100000 - i, mem: fmt.Sprint(1000+rng.IntN(30000), "M")}
		switch rng.IntN(5) {
		case 0:
			r.partition = "wide"
			r.nodes = 1 + rng.IntN(4)
			r.cpus = r.nodes * (1 + rng.IntN(16))
		case 1:
			r.partition, r.cpus, r.gpus = "gpu", 1+rng.IntN(4), 1+rng.IntN(2)
			r.gpuType = []string{"", "a100", "v100"}[rng.IntN(3)]
		}
		r.limit = r.run/60*int64(1+rng.IntN(3)) + 1
		r.start = r.eligible
		rows = append(rows, r)
	}
	return rows
}

// past reads them all.
func past(t *testing.T, rows []row, o Options) *Past {
	t.Helper()
	return pastOf(t, smallConf, rows, o)
}

func pastOf(t *testing.T, text string, rows []row, o Options) *Past {
	t.Helper()
	sacct, conf := write(t, text, rows)
	p, err := Read(sacct, conf, o)
	require.NoError(t, err)
	return p
}

func replay(t *testing.T, p *Past, by Policy) *Replay {
	t.Helper()
	r, err := p.Replay(t.Context(), by, Setting{Interval: 1, Seed: 3})
	require.NoError(t, err)
	require.Empty(t, r.Unrun)
	return r
}

// If a site's Slurm is the simulated one, the simulated one does as it did, job for job, and the
// auction is told from it.
func TestAgreesWithItself(t *testing.T) {
	race.Slow(t)
	rows := drawn(6, 300)
	first := past(t, rows, Options{Weeks: 1})
	did := replay(t, first, first.Slurm())
	starts := map[string]int64{}
	for i, j := range first.Jobs {
		starts[j.ID] = did.Began[i] + first.Start - monday
	}
	for i := range rows {
		rows[i].start = starts[rows[i].id]
	}
	p := past(t, rows, Options{Weeks: 1})
	again, auction := replay(t, p, p.Slurm()), replay(t, p, Preset("default"))
	require.Equal(t, p.What().Began, again.Began)
	report := p.NewReport([]*Replay{p.What(), again, auction}, 1)
	require.Equal(t, Agreement{1, 1, 1, 100, 0}, report.Agreement)
	require.Equal(t, Agrees, report.Judged)
	require.Equal(t, 300, report.All.Jobs)
	require.Equal(t, Ratio{1, 1, 1}, report.All.Ratios[0])
	require.Less(t, report.All.Ratios[2].Of, 0.95, "default has them wait less")
	require.LessOrEqual(t, report.All.Ratios[2].Low, report.All.Ratios[2].Of)
	require.GreaterOrEqual(t, report.All.Ratios[2].High, report.All.Ratios[2].Of)
	require.Positive(t, report.All.Figures[1].CPUs)
	require.Positive(t, report.All.Figures[1].GPUs)
	sum := 0
	for _, g := range report.Partitions {
		sum += g.Jobs
	}
	require.Equal(t, 300, sum)

	// A site that has its users wait for something else is told from it.
	for i := range rows {
		rows[i].start += 7200
	}
	p = past(t, rows, Options{Weeks: 1})
	report = p.NewReport([]*Replay{p.What(), replay(t, p, p.Slurm())}, 1)
	require.Equal(t, Apart, report.Judged)
	require.Contains(t, report.Verdict(), "does not do as yours did")
}

// Nobody gets more than there is: of memory, of a type of GPUs, of a partition's nodes.
func TestKeepsToTheMachine(t *testing.T) {
	base := row{partition: "gpu", user: "u", nodes: 1, cpus: 1, run: 1000, limit: 20, mem: "1000M", priority: 9}
	with := func(n int, change func(*row)) (rows []row) {
		for i := range n {
			r := base
			r.id = fmt.Sprint(i)
			change(&r)
			rows = append(rows, r)
		}
		return rows
	}
	for name, c := range map[string]struct {
		rows  []row
		first int // so many start at once
	}{
		"a type of GPUs": {with(6, func(r *row) { r.gpus, r.gpuType = 2, "v100" }), 2},
		"any GPUs":       {with(8, func(r *row) { r.gpus = 2 }), 6},
		"memory":         {with(20, func(r *row) { r.partition, r.mem = "wide", "40000M" }), 4},
		"a partition":    {with(6, func(r *row) { r.partition, r.cpus = "wide", 16 }), 4},
	} {
		p := past(t, c.rows, Options{Weeks: 1})
		for _, by := range []Policy{p.Slurm(), Preset("default")} {
			first := 0
			for _, began := range replay(t, p, by).Began {
				if began < 1000 {
					first++
				}
			}
			require.Equal(t, c.first, first, "%s: %s", name, by.Name)
		}
	}
}

// Where few days have waits a ratio has no interval.
func TestFewDays(t *testing.T) {
	race.Slow(t)
	rows := drawn(5, 40)
	late := rows[39]
	late.id, late.eligible, late.start = "late", 20*86400, 20*86400
	p := past(t, append(rows, late), Options{Weeks: 4})
	report := p.NewReport([]*Replay{p.What(), replay(t, p, p.Slurm()), replay(t, p, Preset("default"))}, 1)
	require.Equal(t, int64(86400), report.Block)
	for _, r := range report.All.Ratios {
		require.Equal(t, []float64{0, 0}, []float64{r.Low, r.High})
	}
	require.Positive(t, report.All.Ratios[2].Of)
	require.NotContains(t, report.All.against(2), "(")
}

// Waits below a minute are compared by their difference: their ratio is that of scheduling intervals.
func TestShortWaits(t *testing.T) {
	for _, c := range []struct {
		was, is float64
		want    string
	}{
		{0.1, 0.3, "+0 s"}, {27, 12, "-15 s"}, {12, 27, "+15 s"},
		{59, 61, "1.03 (0.90-1.20)"}, {600, 30, "0.05 (0.90-1.20)"}, {0, 5, "-"},
	} {
		ratio := Ratio{Of: math.Round(100*c.is/max(c.was, 0.01)) / 100, Low: 0.9, High: 1.2}
		if c.was == 0 {
			ratio = Ratio{}
		}
		g := Group{Figures: []Figures{{}, {Mean: c.was}, {Mean: c.is}}, Ratios: []Ratio{{}, {Of: 1}, ratio}}
		require.Equal(t, c.want, g.against(2), "%v s instead of %v s", c.is, c.was)
	}
}

// Jobs are replayed on the whole machine, each on the nodes of its partition.
func TestReplayed(t *testing.T) {
	p := past(t, drawn(1, 50), Options{Weeks: 1})
	of := map[string]int{"cpu": 8, "wide": 4, "gpu": 4}
	for _, j := range p.replayed() {
		require.Equal(t, of[partitionOf(&j)], j.Eligible.Count())
	}
}

// What ran when the span began runs, what waited comes at its beginning, and neither counts.
func TestSpan(t *testing.T) {
	rows := []row{
		{id: "ended", start: 10, run: 100}, {id: "ran", start: 100, run: 10000}, {id: "waited", eligible: 500, start: 4000, run: 50},
		{id: "counts", eligible: 3000, start: 5000, run: 60}, {id: "late", eligible: 9000, start: 9000, run: 60},
	}
	for i := range rows {
		r := &rows[i]
		r.partition, r.cpus, r.nodes, r.limit, r.priority, r.mem, r.user = "cpu", 128, 8, 400, 5, "8M", "u"
	}
	p := past(t, rows, Options{Span: Span{monday + 1000, monday + 6000}})
	var names []string
	for i := range p.Jobs {
		names = append(names, p.Jobs[i].ID)
	}
	require.Equal(t, []string{"ran", "waited", "counts"}, names)
	r := replay(t, p, p.Slurm())
	for i, want := range []int64{100, 10102, 10154} {
		require.Equal(t, want, r.Began[i]+p.Start-monday)
	}
	report := p.NewReport([]*Replay{p.What(), r}, 1)
	require.Equal(t, []int{1, 2}, []int{report.All.Jobs, report.Before})
}

// Runs of a job before it was requeued are jobs of their own, and what can't be replayed is told.
func TestOddRows(t *testing.T) {
	head := strings.ReplaceAll(workload.PastFormat, ",", "|") + "\n"
	line := func(id, start, end, state, partition string) string {
		return fmt.Sprintf("%s|2026-01-05T00:00:00|%s|%s|60|5|1|1|1|1|cpu=1|cpu=1|%s|9|u|2026-01-05T00:00:00|%s|1G|||\n",
			id, start, end, state, partition)
	}
	dir := t.TempDir()
	sacct, conf := filepath.Join(dir, "s"), filepath.Join(dir, "slurm.conf")
	require.NoError(t, os.WriteFile(conf, []byte(smallConf), 0o600))
	require.NoError(t, os.WriteFile(sacct, []byte(head+
		line("1", "2026-01-05T00:00:10", "2026-01-05T00:01:10", "REQUEUED", "cpu")+
		line("1", "2026-01-05T00:02:10", "2026-01-05T00:03:10", "NODE_FAIL", "cpu")+
		line("1", "2026-01-05T00:04:10", "2026-01-05T00:05:10", "COMPLETED", "cpu")+
		line("1.batch", "2026-01-05T00:04:10", "2026-01-05T00:05:10", "COMPLETED", "")+
		line("2_[3-9%2]", "Unknown", "Unknown", "PENDING", "cpu,wide")+
		line("3+0", "2026-01-05T00:04:10", "Unknown", "RUNNING", "wide")+
		line("4", "2026-01-05T00:04:10", "2026-01-05T00:05:10", "COMPLETED", "gone")), 0o600))
	p, err := Read(sacct, conf, Options{Weeks: 1})
	require.NoError(t, err)
	var names []string
	for i := range p.Jobs {
		names = append(names, p.Jobs[i].ID)
	}
	require.ElementsMatch(t, []string{"1", "1#2", "1#3", "3+0"}, names)
	require.Contains(t, p.Skipped, workload.Tally{Reason: `of partition "gone", of which slurm.conf has no node`, Jobs: 1})
	require.Contains(t, p.Skipped, workload.Tally{Reason: "never started", Jobs: 1})
}

// A partition whose nodes slurm.conf doesn't tell takes its jobs alone with it, and the reason is
// said; and so it is where no job is left.
func TestUnknownNodes(t *testing.T) {
	jobs := func(partitions ...string) (rows []row) {
		for i, name := range partitions {
			rows = append(rows, row{id: fmt.Sprint(i + 1), partition: name, user: "u", nodes: 1, cpus: 1, run: 60, limit: 5, mem: "1M"})
		}
		return rows
	}
	const conf = smallConf + "NodeSet=s Feature=cloud\nPartitionName=burst Nodes=s,c1\n"
	why := `of partition "burst", whose nodes slurm.conf doesn't tell: no line NodeName has feature "cloud", by which NodeSet s goes`
	p := pastOf(t, conf, jobs("cpu", "burst", "wide", "burst"), Options{Weeks: 1})
	require.Len(t, p.Jobs, 2)
	require.Equal(t, []workload.Tally{{Reason: why, Jobs: 2}}, p.Skipped)
	sacct, file := write(t, conf, jobs("burst"))
	_, err := Read(sacct, file, Options{Weeks: 1})
	require.ErrorIs(t, err, ErrNoJob)
	require.EqualError(t, err, ErrNoJob.Error()+"; left out: 1 "+why)
	sacct, file = write(t, smallConf+"PartitionName=p Nodes=none\n", jobs("cpu"))
	_, err = Read(sacct, file, Options{Weeks: 1})
	require.EqualError(t, err, file+`:10: Nodes: "none": there is no node none`)
}

// Names are no part of the page's own text, and the page needs nothing else.
func TestPage(t *testing.T) {
	race.Slow(t)
	rows := drawn(2, 60)
	for i := range rows {
		rows[i].user = `<script>alert("x")</script>`
	}
	p := past(t, rows, Options{Weeks: 1})
	did := &Replay{Policy: "backfill", Began: p.What().Began} // as it was
	report := p.NewReport([]*Replay{p.What(), did, replay(t, p, Preset("default"))}, 1)
	var page, text bytes.Buffer
	require.NoError(t, report.HTML(&page))
	require.NotContains(t, page.String(), "<script")
	require.NotRegexp(t, "https?:", page.String())
	require.Contains(t, page.String(), "&lt;script&gt;")
	require.NoError(t, report.Text(&text))
	for _, want := range []string{"backfill", "default", "partition", "wide", "2 to 16 CPUs", "If it contains 1, no difference"} {
		require.Contains(t, strings.ReplaceAll(text.String(), "\n", " "), want)
		require.Contains(t, page.String(), want)
	}
	var again bytes.Buffer
	require.NoError(t, p.NewReport([]*Replay{p.What(), did, replay(t, p, Preset("default"))}, 1).HTML(&again))
	require.Equal(t, page.String(), again.String())
}

func TestErrors(t *testing.T) {
	sacct, conf := write(t, smallConf, drawn(1, 5))
	_, err := Read(sacct, filepath.Join(t.TempDir(), "none"), Options{Weeks: 1})
	require.ErrorContains(t, err, "none: no such file")
	_, err = Read(sacct, conf, Options{Span: Span{5, 10}})
	require.Error(t, err)
	require.NoError(t, os.WriteFile(conf, []byte(smallConf+"SchedulerParameters=bf_interval=soon"), 0o600))
	_, err = Read(sacct, conf, Options{Weeks: 1})
	require.ErrorContains(t, err, `slurm.conf:10: bf_interval: "soon": not a whole number`)
	require.NoError(t, os.WriteFile(sacct, []byte("what|is|this\n"), 0o600))
	_, err = Read(sacct, conf, Options{Weeks: 1})
	require.ErrorContains(t, err, "bf_interval")
	require.NoError(t, os.WriteFile(conf, []byte(smallConf), 0o600))
	_, err = Read(sacct, conf, Options{Weeks: 1})
	require.ErrorContains(t, err, "no field JobID")
}

// texts are a report as text and as a page.
func texts(t *testing.T, r *Report) (text, page string) {
	t.Helper()
	var a, b bytes.Buffer
	require.NoError(t, r.Text(&a))
	require.NoError(t, r.HTML(&b))
	return strings.Join(strings.Fields(a.String()), " "), strings.Join(strings.Fields(b.String()), " ")
}

// What the accounts lack is said before any verdict, and none is green without what it needs.
func TestMissingColumns(t *testing.T) {
	rows := drawn(4, 40)
	for _, c := range []struct {
		without []string
		said    string
		void    bool
	}{
		{[]string{"ReqTRES", "AllocTRES"}, "no job counts as one with GPUs", true},
		{[]string{"ReqTRES", "ReqMem"}, "no job takes memory", true},
		{[]string{"User"}, "there is no table by user", false},
		{[]string{"Priority"}, "jobs come in the order of their submission", false},
		{[]string{"Eligible"}, "waits count from the submission", false},
		{[]string{"State"}, "jobs that were cancelled or still run can't be told", false},
	} {
		sacct, conf := write(t, smallConf, rows)
		rename(t, sacct, c.without)
		p, err := Read(sacct, conf, Options{Weeks: 1})
		require.NoError(t, err)
		report := p.NewReport([]*Replay{p.What(), p.What(), {Policy: "none", Interval: 3, Began: p.What().Began}}, 1)
		text, page := texts(t, report)
		require.Contains(t, text, c.said)
		require.Equal(t, c.void, report.Judged == Void, "%v: %s", c.without, report.Judged)
		require.Equal(t, c.void, !strings.Contains(text, "partition: partition jobs"), "tables, if they say something")
		require.Equal(t, c.void, !strings.Contains(page, "All jobs"))
		require.Equal(t, !c.void, strings.Contains(text, "- none: SchedulerParameters=bf_interval=30,bf_max_job_test=200,auc_mode=shadow,auc_interval=3,auc_preset=none"))
	}
	sacct, conf := write(t, smallConf, rows)
	rename(t, sacct, []string{"Partition"})
	_, err := Read(sacct, conf, Options{Weeks: 1})
	require.ErrorContains(t, err, "jobs.txt:1: no field Partition: slurm.conf has 3")
	require.NoError(t, os.WriteFile(conf, []byte("NodeName=n[1-4] CPUs=64\nPartitionName=all Nodes=n[1-4]\n"), 0o600))
	p, err := Read(sacct, conf, Options{Weeks: 1})
	require.NoError(t, err)
	require.Equal(t, "all", partitionOf(&p.Jobs[0]))
	require.Contains(t, p.Missing[len(p.Missing)-1].So, `"all", the only one`)
}

// rename has columns of a file be called something else.
func rename(t *testing.T, path string, columns []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, _ := strings.Cut(string(text), "\n")
	for _, name := range columns {
		head = strings.Replace("|"+head+"|", "|"+name+"|", "|x"+name+"|", 1)
		head = strings.Trim(head, "|")
	}
	require.NoError(t, os.WriteFile(path, []byte(head+"\n"+rest), 0o600))
}

// At short waits nothing can be told, and where it is apart there are no tables.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		was, is float64
		want    Judgement
	}{
		{0, 0, Agrees}, {12, 12, Agrees}, {100, 110, Agrees}, {12, 27, Short}, {27, 12, Short}, {0, 40, Short}, {32, 25, Short},
		{300, 255, Agrees}, {300, 245, Apart}, {50, 115, Apart}, {1000, 700, Apart}, {110, 140, Apart},
	} {
		r := &Report{All: Group{Jobs: 9, Figures: []Figures{{Mean: c.was}, {Mean: c.is}}}}
		r.Agreement = Agreement{Slowdown: 1, CPUs: 1}
		if c.was > 0 {
			r.Agreement.Wait = c.is / c.was
		}
		require.Equal(t, c.want, r.judge(), "%v", c)
	}
}

// If the nodes are too small for all jobs, that is the first thing that is said; what never
// runs is in use nowhere.
func TestAllLeftOut(t *testing.T) {
	rows := drawn(4, 30)
	sacct, conf := write(t, "NodeName=n1 CPUs=1\nPartitionName=DEFAULT Nodes=n1\nPartitionName=cpu\nPartitionName=wide\n"+
		"PartitionName=gpu\n", rows)
	p, err := Read(sacct, conf, Options{Weeks: 1})
	require.NoError(t, err)
	never := &Replay{Policy: "backfill", Began: slices.Repeat([]int64{-1}, len(p.Jobs))}
	report := p.NewReport([]*Replay{p.What(), never}, 1)
	text, page := texts(t, report)
	require.Equal(t, None, report.Judged)
	require.Contains(t, text, "No job can be compared: 30 jobs: a simulated policy finds no nodes for it, ever: the nodes of slurm.conf")
	require.NotContains(t, page, "All jobs")
	require.Zero(t, report.All.Figures[0].CPUs, "the same jobs on both sides")
}

// The verdict says what share of the jobs is left out, and where that is most of them there are no tables.
func TestLeftOut(t *testing.T) {
	p := past(t, drawn(4, 40), Options{Weeks: 1})
	for _, c := range []struct {
		left int
		want Judgement
	}{{10, Agrees}, {30, Part}} {
		never := p.What()
		for i := range c.left {
			never.Began[i] = -1
		}
		report := p.NewReport([]*Replay{p.What(), never}, 1)
		require.Equal(t, c.want, report.Judged)
		require.InDelta(t, 100*float64(c.left)/40, report.Out, 1e-9)
		text, page := texts(t, report)
		require.Contains(t, text, fmt.Sprintf("%d%% of the jobs", 100*c.left/40))
		require.Equal(t, c.want == Agrees, strings.Contains(page, "All jobs"))
	}
}

// What the site has in SchedulerParameters stays in the line to set; the auction's own words of before do not.
func TestLineToSet(t *testing.T) {
	p := pastOf(t, smallConf+"SchedulerParameters=bf_window=1440,auc_partitions=cpu,gpu,defer,auc_mode=on,bf_interval=30\n", drawn(4, 40), Options{Weeks: 1})
	report := p.NewReport([]*Replay{p.What(), p.What(), {Policy: "short", Interval: 5, Began: p.What().Began}}, 1)
	require.Equal(t, []string{"short: SchedulerParameters=bf_window=1440,defer,bf_interval=30,auc_mode=shadow,auc_interval=5,auc_preset=short"},
		report.Settings)
}

// Progress is told.
func TestProgress(t *testing.T) {
	p := past(t, drawn(3, 40), Options{Weeks: 1})
	cycles := 0
	_, err := p.Replay(t.Context(), p.Slurm(), Setting{Interval: 3, Seed: 1, OnCycle: func(sim.Progress) { cycles++ }})
	require.NoError(t, err)
	require.Positive(t, cycles)
}

// BenchmarkMillion reads a million lines of years, of which two weeks count; the metric is the
// memory that was taken from the system.
func BenchmarkMillion(b *testing.B) {
	dir := b.TempDir()
	sacct, conf := filepath.Join(dir, "jobs.txt"), filepath.Join(dir, "slurm.conf")
	require.NoError(b, os.WriteFile(conf, []byte(smallConf), 0o600))
	f, err := os.Create(sacct)
	require.NoError(b, err)
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, strings.ReplaceAll(workload.PastFormat, ",", "|"))
	for i := range int64(1_000_000) {
		at := instant(i * 150)
		fmt.Fprintf(w, "%d|%s|%s|%s|600|20|4|4|1|1|cpu=4,mem=8G,node=1|cpu=4,mem=8G,node=1|COMPLETED|%d|u%d|%s|cpu|8G|||\n",
			i, at, at, instant(i*150+600), 1_000_000-i, i%50, at)
	}
	require.NoError(b, w.Flush())
	require.NoError(b, f.Close())
	for b.Loop() {
		p, err := Read(sacct, conf, Options{Weeks: 2})
		require.NoError(b, err)
		require.Greater(b, len(p.Jobs), 8000)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
	}
}

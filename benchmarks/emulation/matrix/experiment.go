// SPDX-License-Identifier: BSD-3-Clause

package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/papers"
	"github.com/aucsched/aucsched/benchmarks/reproduce"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/settings"
)

// Experiment is a workload on a machine, under several methods.
type Experiment struct {
	Name  string // "esp-basic"
	Title string
	// Args are those of emulate and simulate: machine, workload, priorities.
	Args    []string
	Methods []Method // the first is what the others are compared with
	// Busy is emulate's --busy-rate, for all methods.
	Busy int
	// BackfillTest is how long stock backfill took to look at a job, for the simulator.
	BackfillTest string
}

// Method is a scheduler with its settings.
type Method struct {
	Name string
	// Scheduler is one of emulate's, Args its settings there and in simulate.
	Scheduler string
	Args      []string
	// Workload, if set, is given instead of the experiment's.
	Workload string
	// Paper has the printed figures, by the keys of reproduce.
	Paper map[string]float64
	// Best is our best settings.
	Best bool
}

// rate is emulate's.
const rate = 500

// What Slurm's daemons compute takes as long as in the world on the small machines. On the large
// ones backfill would compute for hours.
const (
	busySmall = 1
	busyLarge = 10
)

// Mean length of a pass by its mean depth, as emulate prints them: 0.41 to 0.43 s and 210 to
// 243 jobs on S, 0.59 to 1.07 s and 217 to 366 jobs on M, 8.2 to 9.9 s and 79 to 90 jobs on
// ESP's and Tsubame's.
const (
	testS     = "2ms"
	testM     = "3ms"
	testLarge = "110ms"
)

// besideAuction are what a site would set beside an auction: Slurm's own backfill has
// nothing to start, but goes on planning, which takes the locks half of the time.
const besideAuction = "--parameters=bf_interval=300"

// deadline is that of a cycle, the plug-in's default of 0.5 s by a computer that is a tenth as
// fast. And the governor sees a cycle a millisecond or two after its beginning, which may be a
// second of the clock's.
const deadline = "--deadline=5s"

// ArgsOf are the method's for a command of aucsched, emulate or simulate, without seeds
// and places.
func (e *Experiment) ArgsOf(command string, m *Method) []string {
	if command == "simulate" {
		args := append([]string{"--slurmctld", "--policy=" + m.Scheduler}, e.shared(m)...)
		if m.Scheduler == "backfill" { // its main scheduler looks whenever a job comes or goes
			args = append(args, "--interval=1", "--backfill-test="+e.BackfillTest)
		}
		return args
	}
	args := append([]string{"--scheduler=" + m.Scheduler}, e.shared(m)...)
	args = append(args, fmt.Sprintf("--rate=%d", rate), fmt.Sprintf("--busy-rate=%d", e.Busy))
	if m.Scheduler != "backfill" {
		args = append(args, besideAuction, deadline)
	}
	return args
}

func (e *Experiment) shared(m *Method) []string {
	args := slices.Concat(e.Args, m.Args)
	if m.Workload != "" {
		args = slices.DeleteFunc(args, func(a string) bool { return strings.HasPrefix(a, "--workload=") })
		args = append(args, "--workload="+m.Workload)
	}
	return args
}

// Experiments are all of them.
func Experiments() []Experiment {
	p := published(reproduce.Tables())
	return slices.Concat(p.esp(), p.mix("S", 128, testS), p.mix("M", 256, testM), p.tsubame())
}

// Select are the experiments whose name contains one of the words; all without any.
func Select(words []string) ([]Experiment, error) {
	all := Experiments()
	if len(words) == 0 {
		return all, nil
	}
	var out []Experiment
	for _, e := range all {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(e.Name, w) }) {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
		}
		return nil, fmt.Errorf("no experiment has %s in its name; there are %s%s",
			strings.Join(words, " or "), strings.Join(names, ", "), input.Hint(words[0], names))
	}
	return out, nil
}

// KeepBest leaves backfill and our best settings of each.
func KeepBest(experiments []Experiment) {
	for i := range experiments {
		e := &experiments[i]
		e.Methods = slices.DeleteFunc(e.Methods, func(m Method) bool { return m.Scheduler != "backfill" && !m.Best })
	}
}

func backfill(paper map[string]float64) Method {
	return Method{Name: "backfill", Scheduler: "backfill", Paper: paper}
}

// best are our best settings: those that get most done. With multifactor priorities, which say
// themselves what is to go first, a start is worth its priority and no more.
func best(interval int, name string, more ...string) Method {
	return Method{Name: name, Scheduler: "auction2",
		Args: append([]string{"--preset=packed", fmt.Sprintf("--interval=%d", interval)}, more...), Best: true}
}

// presets are the settings that plan over time, which are ours as well.
func presets(interval int) []Method {
	var out []Method
	for _, name := range settings.Planned() {
		m := best(interval, "preset "+name)
		m.Args[0] = "--preset=" + name
		out = append(out, m)
	}
	return out
}

// published are the tables of reproduce. They take long to read, and the command line names the
// experiments whenever it starts.
type published []reproduce.Table

// row is what the paper prints in the first row of a table that will do. It must be there, as the
// tables are compiled in.
func (p published) row(table, what string, wanted func(r *reproduce.Row) bool) map[string]float64 {
	for i := range p {
		for k := range p[i].Rows {
			if r := &p[i].Rows[k]; p[i].Name == table && wanted(r) {
				return r.Paper
			}
		}
	}
	panic("matrix: no row " + what + " in table " + table)
}

// of is what a table prints of a method.
func (p published) of(table, workload, method string) map[string]float64 {
	return p.row(table, method+" of "+workload, func(r *reproduce.Row) bool {
		return r.Workload == workload && r.Method == method
	})
}

// esp are tables V and VI of ipsched, with the auction beside them.
func (p published) esp() []Experiment {
	ipsched := func(table, workload, method, objective string, more ...string) Method {
		return Method{
			Name: method, Scheduler: "ipsched", Args: append([]string{"--objective=" + objective, "--interval=4"}, more...),
			Paper: p.of(table, workload, method),
		}
	}
	auctions := func(more ...string) []Method {
		return []Method{
			{Name: "auction, papers' settings", Scheduler: "auction2", Args: []string{"--preset=paper", "--interval=4"}},
			best(4, "auction, our best settings", more...),
		}
	}
	base := func(spec, priority string) []string {
		return []string{"--cluster=1024x8x2", "--workload=" + spec, "--priority=" + priority}
	}
	const size, first = "max sum p r (s - c)", "max sum p (s - c)"
	return []Experiment{
		{Name: "esp-basic",
			Title: "ESP, basic priorities (ipsched, table V, experiments 1 to 3): 1,024 nodes of 8 cores and 2 GPUs",
			Args:  base("gen:esp", "basic"), Busy: busyLarge, BackfillTest: testLarge, Methods: append([]Method{
				backfill(p.of("ipsched-5", "priority basic", "1-SLURM: Backfill")),
				ipsched("ipsched-5", "priority basic", "2: IPSCHED, "+size, "size"),
				ipsched("ipsched-5", "priority basic", "3: IPSCHED, "+first, "priority"),
			}, append(auctions(), presets(4)...)...)},
		{Name: "esp-multifactor", Title: "ESP, multifactor priorities (ipsched, table V, experiments 4 to 6)",
			Args: base("gen:esp", "multifactor"), Busy: busyLarge, BackfillTest: testLarge, Methods: append([]Method{
				backfill(p.of("ipsched-5", "priority multifactor", "4-SLURM: Backfill")),
				ipsched("ipsched-5", "priority multifactor", "5: IPSCHED, "+first, "priority"),
				ipsched("ipsched-5", "priority multifactor", "6: IPSCHED, "+size, "size"),
			}, auctions("--objective=priority")...)},
		{Name: "esp-random", Title: "ESP with random sizes, multifactor priorities (ipsched, table VI, experiments 7 and 8)",
			Args: base("gen:esp-rand", "multifactor"), Busy: busyLarge, BackfillTest: testLarge,
			Methods: append([]Method{
				backfill(p.of("ipsched-6", "priority multifactor", "7-SLURM: Backfill")),
				ipsched("ipsched-6", "priority multifactor", "8: IPSCHED, "+size, "size", "--node-limits=false"),
			}, auctions("--objective=priority")...)},
	}
}

// mix are workloads IV and V of aucsched1 on a machine, tables 5 and 6.
func (p published) mix(machine string, nodes int, test string) []Experiment {
	table := map[string]string{"S": "aucsched1-5", "M": "aucsched1-6"}[machine]
	var out []Experiment
	for _, w := range []string{"IV.1", "IV.2", "IV.3", "V.1", "V.2", "V.3"} {
		e := Experiment{
			Name: fmt.Sprintf("%s-%s", machine, w),
			Title: fmt.Sprintf("Workload %s on machine %s (aucsched1, table %s): %d nodes of 8 cores and 2 GPUs",
				w, machine, strings.TrimPrefix(table, "aucsched1-"), nodes),
			Args: []string{fmt.Sprintf("--cluster=%dx8x2", nodes), "--workload=gen:" + w, "--priority=basic"},
			Busy: busySmall, BackfillTest: test,
			Methods: []Method{
				backfill(p.auction(table, w, true)),
				{Name: "auction, papers' settings", Scheduler: "auction1",
					Args: []string{"--preset=paper", "--slurm-bids", "--interval=5"}, Paper: p.auction(table, w, false)},
				best(5, "auction, our best settings"),
			},
		}
		if machine == "S" && strings.HasSuffix(w, ".1") {
			e.Methods = append(e.Methods, presets(5)...)
		}
		out = append(out, e)
	}
	return out
}

// auction is what a table of aucsched1 prints of a workload, for backfill or the auction.
func (p published) auction(table, workload string, baseline bool) map[string]float64 {
	return p.row(table, "of "+workload, func(r *reproduce.Row) bool {
		return r.Workload == workload && r.Baseline == baseline
	})
}

// tsubame are the first half of table 3 of aucsched2.
func (p published) tsubame() []Experiment {
	var out []Experiment
	for _, w := range []string{"1.NC", "1.HC", "1.FC"} {
		paper := func(method string) map[string]float64 { return p.of("aucsched2-3", w, method) }
		spec := "gen:tsubame-" + w
		ranges := best(3, "auction with GPU ranges, our best settings")
		ranges.Workload = spec + "-ranges"
		e := Experiment{
			Name:  "tsubame-" + w,
			Title: fmt.Sprintf("Tsubame %s (aucsched2, table 3): 1,408 nodes of 12 cores and 3 GPUs", w),
			Args:  []string{"--cluster=1408x12x3", "--workload=" + spec, "--priority=basic"},
			Busy:  busyLarge, BackfillTest: testLarge,
			Methods: []Method{
				backfill(paper(papers.SlurmBackfill)),
				{Name: "auction, papers' settings", Scheduler: "auction2",
					Args: []string{"--preset=paper"}, Paper: paper(papers.Aucsched2)},
				best(3, "auction, our best settings"),
				{Name: "auction with GPU ranges, papers' settings", Scheduler: "auction2",
					Args: []string{"--preset=paper"}, Workload: spec + "-ranges", Paper: paper(papers.Aucsched2Ranges)},
				ranges,
			},
		}
		if w == "1.NC" {
			e.Methods = append(e.Methods, presets(3)...)
		}
		out = append(out, e)
	}
	return out
}

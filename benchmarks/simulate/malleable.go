// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/crews"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
)

// crewFlags are the settings of malleable jobs.
type crewFlags struct {
	percent            float64
	nodes              string
	reconfigure, limit time.Duration
}

// crewSettings are their names.
var crewSettings = []string{"malleable", "malleable-nodes", "reconfigure", "companion-limit"}

func (f *crewFlags) register(flags *pflag.FlagSet) {
	o := crews.Default()
	flags.Float64Var(&f.percent, "malleable", 0,
		"percent of the jobs, chosen by the seed, that take and leave nodes while they run, as aucsched crew does: "+
			"those that name like nodes, or of a machine whose nodes have one core each")
	flags.StringVar(&f.nodes, "malleable-nodes", "0.25:2",
		"with --malleable: the fewest and the most nodes of such a job, as LEAST:MOST times those that it asks for")
	flags.DurationVar(&f.reconfigure, "reconfigure", time.Duration(o.Reconfigure)*time.Second,
		"with --malleable: for how long a job does nothing after a change of its nodes")
	flags.DurationVar(&f.limit, "companion-limit", time.Duration(o.Limit)*time.Second,
		"with --malleable: time limit of a companion, the job that is one more node of another")
}

// malleability is that of the jobs.
func (f *crewFlags) malleability(seed uint64) (m generate.Malleability, err error) {
	m.Share, m.Seed = f.percent/100, seed
	least, most, ok := strings.Cut(f.nodes, ":")
	if m.Least, err = strconv.ParseFloat(least, 64); err == nil {
		m.Most, err = strconv.ParseFloat(most, 64)
	}
	if !ok || err != nil {
		return m, fmt.Errorf("--malleable-nodes: %q: must be LEAST:MOST, as 0.25:2", f.nodes)
	}
	if !(f.percent >= 0 && f.percent <= 100) {
		return m, fmt.Errorf("--malleable: %v: must be in 0..100", f.percent)
	}
	if err := m.Validate(); err != nil {
		return m, fmt.Errorf("--malleable-nodes: %w", err)
	}
	return m, nil
}

// apply makes jobs malleable, and sets what cfg says of them.
func (f *crewFlags) apply(flags *pflag.FlagSet, cfg *sim.Config, jobs []workload.Job, seed uint64) error {
	for _, name := range crewSettings[1:] {
		if flags.Changed(name) && f.percent == 0 {
			return fmt.Errorf("--%s: goes with --malleable", name)
		}
	}
	m, err := f.malleability(seed)
	if err != nil || f.percent == 0 {
		return err
	}
	for name, d := range map[string]time.Duration{"reconfigure": f.reconfigure, "companion-limit": f.limit} {
		if d%time.Second != 0 {
			return fmt.Errorf("--%s: %v: must be whole seconds", name, d)
		}
	}
	o := crews.Default()
	o.Reconfigure, o.Limit = int64(f.reconfigure/time.Second), int64(f.limit/time.Second)
	if err := o.Validate(); err != nil {
		return fmt.Errorf("--malleable: %w", err)
	}
	cfg.Crews = o.For
	if cfg.Release > 0 {
		return fmt.Errorf("--malleable: goes without --slurmctld")
	}
	made, err := m.Apply(cfg.Nodes, jobs)
	if err != nil {
		return err
	}
	if made == 0 {
		slog.Warn(fmt.Sprintf("none of %s is malleable: none asks for whole nodes that are alike", cli.Count(len(jobs), "job")))
	}
	return nil
}

// settings are those of the runs, for their page.
func (f *crewFlags) settings() []report.Setting {
	if f.percent == 0 {
		return nil
	}
	return []report.Setting{
		{Name: "Malleable", Value: fmt.Sprintf("%g%%", f.percent), Meaning: "share of the jobs that take and leave nodes while they run"},
		{Name: "Nodes of those", Value: f.nodes, Meaning: "the fewest and the most, as multiples of what they ask for"},
		{Name: "Reconfiguration", Value: f.reconfigure.String(), Meaning: "in which such a job does nothing after a change"},
		{Name: "Companions' limit", Value: f.limit.String(), Meaning: "time limit of a node more"},
	}
}

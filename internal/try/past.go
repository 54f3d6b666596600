// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/slurm/conf"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Span is a part of time in seconds since 1970; To is not in it.
type Span struct{ From, To int64 }

// Seconds is how long it is.
func (s Span) Seconds() int64 { return s.To - s.From }

// Past is what happened: the machine, and the jobs that ran on it in a span.
type Past struct {
	Span    Span
	Machine *conf.Machine
	// Backfill are Slurm's settings, by slurm.conf.
	Backfill sim.BackfillOptions
	// CountsMemory: jobs take memory of nodes (SelectTypeParameters).
	CountsMemory bool
	// Parameters is the site's SchedulerParameters.
	Parameters string
	// Jobs are those that ran or waited in the span. Submit is when they could begin.
	Jobs []workload.Job
	// Start is the second since 1970 from which the jobs' times count.
	Start int64
	// Skipped are jobs of the accounts that are not in Jobs, Adjusted those that are not quite as
	// there.
	Skipped, Adjusted []workload.Tally
	// Missing are columns that the accounts lack.
	Missing []Missing
	// Notes are what the user should know of how slurm.conf was read.
	Notes []string
	// Assumed says what was inferred of the machine without a slurm.conf, and how far it may be wrong.
	Assumed []string
	factors *factors        // of priorities that change; nil: they do not
	before  map[string]bool // jobs that ran or waited as the span began, by ID
}

// Options say what to read.
type Options struct {
	// Weeks is how many, up to the last time in the accounts, at least one; or else the span that
	// is not empty.
	Weeks int
	Span  Span
}

// ErrNoJob is that nothing was submitted in the span.
var ErrNoJob = errors.New("no job could begin in this time")

const (
	week          = 7 * 24 * 3600 // seconds
	slurmInterval = 30            // Slurm's bf_interval unless set, in seconds
)

// Read reads what "sacct --parsable2" has printed into a file, twice, and what is needed of a
// slurm.conf. Without one ("") the machine is inferred from what jobs used.
func Read(sacct, slurmConf string, o Options) (*Past, error) {
	p := &Past{Span: o.Span, Machine: &conf.Machine{}, Backfill: sim.DefaultBackfill()}
	p.Backfill.Interval = slurmInterval
	if slurmConf != "" {
		if err := p.configure(slurmConf); err != nil {
			return nil, err
		}
	}
	err := opened(sacct, func(r io.Reader) error {
		first, last, _, err := workload.SacctSpan(r, sacct)
		switch {
		case err != nil:
			return err
		case o.Span.To == 0:
			p.Span = Span{max(first, last+1-int64(o.Weeks)*week), last + 1}
		case o.Span.From > last || o.Span.To <= first:
			return &workload.InputError{File: sacct, Err: fmt.Errorf("has no job from %s to %s: its jobs are from %s to %s",
				when(o.Span.From), when(o.Span.To), when(first), when(last))}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = opened(sacct, func(r io.Reader) error {
		w, err := workload.ReadSacct(r, sacct, workload.SacctOptions{
			Past: true, From: p.Span.From, To: p.Span.To, Limits: p.limits()})
		if err != nil {
			return err
		}
		p.Jobs, p.Start, p.Skipped, p.Adjusted = w.Jobs, w.Start, w.Skipped, w.Adjusted
		if slurmConf == "" {
			err = p.infer()
		}
		if err != nil {
			return &workload.InputError{File: sacct, Err: err}
		}
		return p.missing(w.Columns, sacct)
	})
	if err != nil {
		return nil, err
	}
	p.align()
	p.ranked()
	p.spread()
	if p.factors != nil {
		p.factors.learn(p.Jobs)
	}
	p.runOn()
	p.tiers()
	return p, p.checkPartitions()
}

// infer takes the machine that the jobs show.
func (p *Past) infer() error {
	in, err := infer(p.Jobs)
	if err != nil {
		return err
	}
	if p.Machine, err = in.machine(); err != nil {
		return err
	}
	p.CountsMemory = slices.Max(p.Machine.Memory) > 0
	p.Assumed, p.Adjusted = in.assumed(), append(p.Adjusted, in.unread...)
	return nil
}

// configure takes what is needed of a slurm.conf.
func (p *Past) configure(path string) error {
	c, err := conf.Read(path)
	if err != nil {
		return err
	}
	if p.Machine, err = c.Machine(); err != nil {
		return err
	}
	for _, moved := range c.Moved {
		p.Notes = append(p.Notes, moved.Error())
	}
	if err := p.settings(c); err != nil {
		return err
	}
	p.factors, err = readFactors(c, p.Machine)
	return err
}

// limits are the partitions' time limits.
func (p *Past) limits() map[string]workload.PartitionLimit {
	limits := map[string]workload.PartitionLimit{}
	for i := range p.Machine.Partitions {
		x := &p.Machine.Partitions[i]
		limits[x.Name] = workload.PartitionLimit{Default: x.DefaultTime, Max: x.MaxTime}
	}
	return limits
}

// when is a second since 1970 as sacct prints it, in its zone.
func when(second int64) string { return time.Unix(second, 0).UTC().Format("2006-01-02T15:04:05") }

// opened has read read a file.
func opened(path string, read func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}

// align has times count from a full hour: slots of backfill's reservations begin at multiples of
// bf_resolution, which is an hour at most, since 1970.
func (p *Past) align() {
	const hour = 3600
	past := p.Start % hour
	p.Start -= past
	for i := range p.Jobs {
		j := &p.Jobs[i]
		j.Submit += past
		j.Past.Began += past
		if j.Leaves > 0 {
			j.Leaves += past
		}
	}
}

// runOn has jobs that ran already as the span begins be started when they were, ahead of all
// others, and those that waited then come at its beginning.
func (p *Past) runOn() {
	from := p.Span.From - p.Start
	p.before = map[string]bool{}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.Submit >= from {
			continue
		}
		p.before[j.ID] = true
		if j.Submit = from; j.Past.Began < from {
			j.Submit, j.Priority = j.Past.Began, core.MaxPriority
		}
	}
	slices.SortStableFunc(p.Jobs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
}

// counts reports whether a job could begin in the span.
func (p *Past) counts(j *workload.Job) bool {
	return !p.before[j.ID] && j.Leaves == 0
}

// checkPartitions has jobs of partitions that slurm.conf lacks count as skipped.
func (p *Past) checkPartitions() error {
	known, unknown := map[string]bool{}, map[string]string{}
	for i := range p.Machine.Partitions {
		x := &p.Machine.Partitions[i]
		known[x.Name], unknown[x.Name] = x.Nodes.Count() > 0, x.Unknown
	}
	p.Jobs = slices.DeleteFunc(p.Jobs, func(j workload.Job) bool {
		name := partitionOf(&j)
		switch why := unknown[name]; {
		case why != "":
			p.Skipped = workload.Count(p.Skipped, fmt.Sprintf("of partition %q, whose nodes slurm.conf doesn't tell: %s", name, why))
		case !known[name]:
			p.Skipped = workload.Count(p.Skipped, fmt.Sprintf("of partition %q, of which slurm.conf has no node", name))
		}
		return !known[name]
	})
	slices.SortFunc(p.Skipped, func(a, b workload.Tally) int { return strings.Compare(a.Reason, b.Reason) })
	if !slices.ContainsFunc(p.Jobs, func(j workload.Job) bool { return p.counts(&j) }) {
		return p.noJob()
	}
	return nil
}

// noJob is ErrNoJob, with why the jobs of the accounts are left out.
func (p *Past) noJob() error {
	if len(p.Skipped) == 0 {
		return ErrNoJob
	}
	reasons := make([]string, len(p.Skipped))
	for i, t := range p.Skipped {
		reasons[i] = fmt.Sprintf("%d %s", t.Jobs, t.Reason)
	}
	return fmt.Errorf("%w; left out: %s", ErrNoJob, strings.Join(reasons, "; "))
}

// settings takes what slurm.conf says of backfill and of memory.
func (p *Past) settings(c *conf.Conf) error {
	for name, set := range map[string]func(int64){
		"bf_interval":        func(n int64) { p.Backfill.Interval = n },
		"bf_max_job_test":    func(n int64) { p.Backfill.MaxJobTest = int(n) },
		"bf_max_job_start":   func(n int64) { p.Backfill.MaxJobStart = int(n) },
		"bf_node_space_size": func(n int64) { p.Backfill.NodeSpaceSize = int(n) },
		"bf_resolution":      func(n int64) { p.Backfill.Resolution = n },
		"bf_window":          func(n int64) { p.Backfill.Window = n * 60 },
	} {
		text, given := c.Option("SchedulerParameters", name)
		if !given {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt32 {
			_, line, _ := c.Last("SchedulerParameters")
			return &conf.Error{File: line.File, Line: line.Number, Field: name, Value: text, Err: errors.New("not a whole number")}
		}
		set(n)
	}
	if err := p.Backfill.Validate(); err != nil {
		return err
	}
	p.Parameters, _, _ = c.Last("SchedulerParameters")
	parameters, _, _ := c.Last("SelectTypeParameters")
	p.CountsMemory = strings.Contains(strings.ToUpper(parameters), "MEMORY")
	return nil
}

// resources are what jobs take of nodes beside CPUs and GPUs, and how a job's uses are numbered.
func (p *Past) resources() (all []sim.Resource) {
	if p.CountsMemory {
		total := slices.Clone(p.Machine.Memory)
		for n, mib := range total {
			if mib == 0 {
				total[n] = nodeset.MaxAmount
			}
		}
		all = append(all, sim.Resource{Name: "memory", Total: total})
	}
	for k, kind := range p.Machine.Types {
		all = append(all, sim.Resource{Name: "gpu:" + kind, Total: p.Machine.GPUs[k]})
	}
	return all
}

// uses is what the job takes of them.
func (p *Past) uses(j *workload.Job) (uses nodeset.Uses) {
	first := 0
	if p.CountsMemory {
		first = 1
		if j.Memory != (workload.Memory{}) {
			uses = append(uses, nodeset.Use{Row: 0, PerNode: j.Memory.PerNode, PerCore: j.Memory.PerCore})
		}
	}
	if k := slices.Index(p.Machine.Types, j.Past.GPUType); k >= 0 && j.MinGPUs > 0 {
		uses = append(uses, nodeset.Use{Row: first + k, PerGPU: 1})
	}
	return uses
}

// Missing is what the accounts do not say, and what comes of that.
type Missing struct {
	Columns string `json:"columns"`
	So      string `json:"so"`
	// Void is whether no comparison says anything without them.
	Void bool `json:"void"`
}

// wanted are columns of which the accounts need one each, in the order of their weight.
var wanted = []struct {
	any  []string
	so   string
	void func(*Past) bool // nil: never
}{
	{[]string{"ReqTRES", "AllocTRES", "ReqGRES", "AllocGRES"},
		"no job counts as one with GPUs: GPUs in use, and all waits where jobs compete for them, are void", (*Past).hasGPUs},
	{[]string{"ReqMem", "ReqTRES"}, "no job takes memory: waits for memory are void",
		func(p *Past) bool { return p.CountsMemory }},
	{[]string{"State"}, "jobs that were cancelled or still run can't be told from others", nil},
	{[]string{"Eligible"}, "waits count from the submission: dependencies and begin times count as waits", nil},
	{[]string{"Priority"}, "jobs come in the order of their submission: fair share and so on are void", nil},
	{[]string{"ReqNodes", "NNodes", "AllocNodes", "ReqTRES", "AllocTRES"}, "jobs ask for CPUs only, wherever they are", nil},
	{[]string{"AllocCPUS", "NCPUS", "AllocTRES"}, "jobs have the CPUs that they asked for, not those that they got", nil},
	{[]string{"User", "UID"}, "there is no table by user", nil},
}

// hasGPUs reports whether the machine has GPUs.
func (p *Past) hasGPUs() bool {
	return slices.ContainsFunc(p.Machine.Nodes, func(n nodeset.Capacity) bool { return n.GPUs > 0 })
}

// missing notes what the columns lack. Without the partition there is none to replay in, unless
// slurm.conf has a single one.
func (p *Past) missing(columns map[string]bool, file string) error {
	has := func(name string) bool { return columns[strings.ToLower(name)] }
	for _, w := range wanted {
		if !slices.ContainsFunc(w.any, has) {
			void := w.void != nil && w.void(p)
			if w.void != nil && !void && p.Assumed == nil {
				continue // there is nothing of that
			}
			p.Missing = append(p.Missing, Missing{strings.Join(w.any, " or "), w.so, void})
		}
	}
	if has("Partition") {
		return nil
	}
	if n := len(p.Machine.Partitions); n != 1 {
		return &workload.InputError{File: file, Line: 1, Err: fmt.Errorf("no field Partition: slurm.conf has %d, and which nodes "+
			"a job may use can't be told (aucsched try --how prints the command)", n)}
	}
	name := p.Machine.Partitions[0].Name
	for i := range p.Jobs {
		p.Jobs[i].Past.Partition = name
	}
	p.Missing = append(p.Missing, Missing{"Partition", fmt.Sprintf("all jobs are taken as of %q, the only one", name), false})
	return nil
}

// alike are jobs of which one tells how the others were asked for. They are tasks of an array, or
// jobs of a user in a partition with as much memory a core.
type alike struct {
	array, user, partition string
	memory                 int64
}

func alikeOf(j *workload.Job) [2]alike {
	array, _, isTask := strings.Cut(j.ID, "_")
	memory := max(j.Memory.PerCore, j.Memory.PerNode/max(place.LeastCores(&j.Request), 1))
	byUser := alike{user: j.User, partition: partitionOf(j), memory: memory}
	if !isTask {
		return [2]alike{byUser, byUser}
	}
	return [2]alike{{array: array}, byUser}
}

// spread lets jobs that had one node have several, where jobs alike had several though they asked
// for one at least: the accounts do not tell -n8 from -N1 -n8. Jobs with GPUs keep their nodes.
func (p *Past) spread() {
	several := map[alike]bool{}
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.MinGPUs == 0 && j.MaxNodes == 0 {
			for _, k := range alikeOf(j) {
				several[k] = true
			}
		}
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.MinGPUs > 0 || j.MaxNodes != 1 || j.Cores < 2 {
			continue
		}
		if of := alikeOf(j); several[of[0]] || several[of[1]] {
			cores := int64(j.Cores)
			j.MaxNodes = 0
			j.Memory.PerCore, j.Memory.PerNode = max(j.Memory.PerCore, (j.Memory.PerNode+cores-1)/cores), 0
		}
	}
}

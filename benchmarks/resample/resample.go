// SPDX-License-Identifier: BSD-3-Clause

// Package resample makes other days out of a log of jobs with input files, so that schedulers can
// be compared over a distribution instead of one sample. It keeps, drops and duplicates whole
// sessions of users, as Zakay and Feitelson do ("Workload resampling for performance evaluation of
// parallel job schedulers", Concurrency and Computation: Practice and Experience 26, 2014) with
// users: what makes a log real, and jobs share files, is within sessions.
package resample

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/locality"
)

// Gap is the longest time, in seconds, between two submissions of a user in one session: that
// within which jobs share a file by locality, section 5.1.
const Gap = 800

// Options say which day to make.
type Options struct {
	// Load is how often a session is in the day, on average, in 0..MaxLoad, 0 excluded: 0.25 keeps
	// a quarter of them, 1.5 all and a second copy of half of them. With the same seed more load
	// means the same sessions and more.
	Load float64
	// Scale is the share of each session's jobs that is kept, in 0..1, 0 excluded: those of a log
	// of 400 nodes have about the same number of jobs a file and node on 100 nodes with 0.25.
	Scale float64
	// From and Window are when the jobs are submitted that are evaluated, in seconds: from From
	// after the first submission of class WarmUp on for Window.
	From, Window int64
	// Spread is by how many seconds at most further copies come earlier or later than the first.
	Spread int64
	Seed   uint64
}

// MaxLoad bounds Options.Load.
const MaxLoad = 100

// Day makes a day for a cluster, whose size need not be the log's: jobs that run when it begins are
// put on its nodes first fit, and those that fit nowhere head the queue as the simulation has it.
// Jobs keep all that schedulers look at, and share files exactly if they did so in the log and are
// of one copy of their session. They are numbered anew, from 1 on, and further copies have users
// and files of their own. The same input gives the same day. Neither list is changed.
func Day(nodes []locality.Node, jobs []locality.Job, o Options) ([]locality.Job, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	begin := start(jobs)
	if begin < 0 {
		return nil, fmt.Errorf("log: no job of class %d, with which the day would begin", locality.WarmUp)
	}
	d := day{o: o, begin: begin, files: newFile(jobs)}
	for number, s := range sessions(jobs) {
		d.add(s, rand.New(rand.NewPCG(o.Seed, uint64(number))))
	}
	if len(d.jobs) > locality.MaxJobs {
		return nil, fmt.Errorf("load: %v: makes %d jobs, at most %d are possible", o.Load, len(d.jobs), locality.MaxJobs)
	}
	return d.finish(nodes)
}

func (o *Options) check() error {
	switch {
	case !(o.Load > 0 && o.Load <= MaxLoad):
		return fmt.Errorf("load: %v: must be above 0 and at most %d", o.Load, MaxLoad)
	case !(o.Scale > 0 && o.Scale <= 1):
		return fmt.Errorf("scale: %v: must be above 0 and at most 1", o.Scale)
	case o.From < 0 || o.From > locality.MaxTime:
		return fmt.Errorf("from: %d: must be in 0..%d", o.From, locality.MaxTime)
	case o.Window < 1 || o.Window > locality.MaxTime:
		return fmt.Errorf("window: %d: must be in 1..%d", o.Window, locality.MaxTime)
	case o.Spread < 0 || o.Spread > locality.MaxTime:
		return fmt.Errorf("spread: %d: must be in 0..%d", o.Spread, locality.MaxTime)
	}
	return nil
}

// start is the first submission of class WarmUp; -1 if there is none.
func start(jobs []locality.Job) int64 {
	for i := range jobs {
		if jobs[i].Class == locality.WarmUp {
			return jobs[i].Submit
		}
	}
	return -1
}

// newFile is the first number above those of all files.
func newFile(jobs []locality.Job) int64 {
	most := int64(0)
	for i := range jobs {
		most = max(most, jobs[i].File)
	}
	return most + 1
}

// sessions parts jobs by users, and where a user submits nothing for more than Gap, unless a file
// is on both sides. Each session is in the order of the list, and so are they by their first jobs.
func sessions(jobs []locality.Job) [][]locality.Job {
	root := make([]int, len(jobs)) // union-find, the first job being the root
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	join := func(a, b int) {
		a, b = find(a), find(b)
		root[max(a, b)] = min(a, b)
	}
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].Submit, jobs[b].Submit) })
	last, of := map[string]int{}, map[int64]int{}
	for _, i := range order {
		j := &jobs[i]
		if k, ok := last[j.User]; ok && j.Submit-jobs[k].Submit <= Gap {
			join(i, k)
		}
		last[j.User] = i
		if k, ok := of[j.File]; ok && j.File != 0 {
			join(i, k)
		}
		of[j.File] = i
	}
	place := map[int]int{}
	var out [][]locality.Job
	for i := range jobs {
		r := find(i)
		if _, ok := place[r]; !ok {
			place[r] = len(out)
			out = append(out, nil)
		}
		out[place[r]] = append(out[place[r]], jobs[i])
	}
	return out
}

// day is one in the making.
type day struct {
	o     Options
	begin int64 // when the log's simulation begins
	files int64 // the next new number of a file
	jobs  []locality.Job
}

// add puts the session into the day as often as its random source says.
func (d *day) add(session []locality.Job, rng *rand.Rand) {
	copies := int(math.Floor(d.o.Load + rng.Float64()))
	session = thin(session, d.o.Scale, rng.Float64())
	first := int64(math.MaxInt64) // submission of those that the simulation sees coming
	for i := range session {
		if session[i].Class >= locality.WarmUp {
			first = min(first, session[i].Submit)
		}
	}
	for c := range copies {
		shift := int64(0)
		if c > 0 {
			shift = max(rng.Int64N(2*d.o.Spread+1)-d.o.Spread, d.begin-first)
		}
		files := map[int64]int64{}
		for _, j := range session {
			if j.Class >= locality.WarmUp {
				j.Submit += shift
			}
			if c > 0 {
				j.User = fmt.Sprintf("%s.%d", j.User, c+1)
				j.File = d.fileOf(files, j.File)
			}
			d.jobs = append(d.jobs, j)
		}
	}
}

// thin keeps a share of the jobs, evenly over the list, beginning at random.
func thin(session []locality.Job, share, offset float64) []locality.Job {
	var kept []locality.Job
	for i := range session {
		if math.Floor(offset+share*float64(i+1)) > math.Floor(offset+share*float64(i)) {
			kept = append(kept, session[i])
		}
	}
	return kept
}

// fileOf is the number that a copy has for a file.
func (d *day) fileOf(files map[int64]int64, old int64) int64 {
	if old == 0 {
		return 0
	}
	if _, ok := files[old]; !ok {
		files[old] = d.files
		d.files++
	}
	return files[old]
}

// finish orders the jobs, and gives them their classes, numbers and first nodes.
func (d *day) finish(nodes []locality.Node) ([]locality.Job, error) {
	slices.SortStableFunc(d.jobs, func(a, b locality.Job) int {
		if early := cmp.Compare(min(a.Class, locality.WarmUp), min(b.Class, locality.WarmUp)); early != 0 || a.Class < locality.WarmUp {
			return early
		}
		return cmp.Compare(a.Submit, b.Submit)
	})
	free := make([]int, len(nodes))
	for n := range nodes {
		free[n] = nodes[n].Cores
	}
	from, to := d.begin+d.o.From, d.begin+d.o.From+d.o.Window
	evaluated := 0
	for i := range d.jobs {
		j := &d.jobs[i]
		j.ID = int64(i + 1)
		switch {
		case j.Class == locality.Running:
			settle(j, free)
		case j.Class == locality.Queued || j.Submit < from:
			j.Class = min(j.Class, locality.WarmUp)
		case j.Submit < to:
			j.Class = locality.Evaluated
			evaluated++
		default:
			j.Class = locality.Pressure
		}
	}
	if evaluated == 0 {
		return nil, locality.ErrNothingEvaluated
	}
	return d.jobs, nil
}

// settle puts a running job on the first node with enough idle cores, if there is one.
func settle(j *locality.Job, free []int) {
	for n := range free {
		if free[n] >= j.Cores {
			free[n] -= j.Cores
			j.StartNode = n + 1
			return
		}
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package shadow

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// Outcome is what became of a run.
type Outcome string

// The outcomes. Of the first three the starts are compared; the others say why they are not.
const (
	Earlier Outcome = "earlier" // the auction would have, by more than an interval
	// within an interval; or as soon as it fitted, between two cycles
	Same      Outcome = "same"
	Later     Outcome = "later"     // Slurm started it, and the last cycle had put others first
	AtOnce    Outcome = "at_once"   // Slurm started it before any cycle had seen it
	Left      Outcome = "left"      // the auction would have left it to Slurm
	Limited   Outcome = "limited"   // limits, licences or the queue kept it out of the last cycle
	Cancelled Outcome = "cancelled" // it ended before Slurm started it
	Waiting   Outcome = "waiting"   // the auction would have started it, and Slurm has not yet
)

// outcomes are all of them, in the order of reports: in words, and where runs of it are counted.
var outcomes = []struct {
	Outcome
	words string
	of    func(*Tally) *int
}{
	{Earlier, "Earlier with the auction", func(t *Tally) *int { return &t.Earlier }},
	{Same, "At the same time, within an interval", func(t *Tally) *int { return &t.Same }},
	{Later, "Later with the auction, which put others first", func(t *Tally) *int { return &t.Later }},
	{AtOnce, "Started by Slurm before a cycle saw them", func(t *Tally) *int { return &t.AtOnce }},
	{Left, "Left to Slurm", func(t *Tally) *int { return &t.Left }},
	{Limited, "Kept out by limits or the length of the queue", func(t *Tally) *int { return &t.Limited }},
	{Cancelled, "Ended before Slurm started them", func(t *Tally) *int { return &t.Cancelled }},
	{Waiting, "Would have been started, and wait still", func(t *Tally) *int { return &t.Waiting }},
}

// Outcome of a run, and how many seconds earlier the auction would have started it.
func (r *Run) Outcome(interval int64) (o Outcome, seconds int64) {
	switch {
	case r.Slurm == nil && r.End != 0:
		return Cancelled, 0
	case r.Slurm == nil:
		return Waiting, 0
	case r.Would != nil && r.Slurm.Time-r.Would.Time > interval:
		return Earlier, r.Slurm.Time - r.Would.Time
	case r.Would != nil:
		return Same, max(r.Slurm.Time-r.Would.Time, 0)
	case r.Left != "":
		return Left, 0
	}
	switch r.Slurm.Before {
	case "lost", "kept", "reserved", "quota": // older files have reserved and timed-out
		return Later, 0
	case "unseen", "":
		return AtOnce, 0
	case "limits", "behind", "never", "faulty", "late", "timed-out":
		return Limited, 0
	}
	return Same, 0
}

// Tally counts the runs of a group.
type Tally struct {
	Name      string `json:"name"` // of the partition, the user, or the width; "" for all
	Jobs      int    `json:"jobs"`
	Earlier   int    `json:"earlier"`
	Same      int    `json:"same"`
	Later     int    `json:"later"`
	AtOnce    int    `json:"at_once"`
	Left      int    `json:"left"`
	Limited   int    `json:"limited"`
	Cancelled int    `json:"cancelled"`
	Waiting   int    `json:"waiting"`
	// Seconds by which those that would have started earlier would have, in the median of these; 0
	// without any. There is no sum: those that would have started later have no seconds.
	EarlierMedian float64 `json:"earlier_median_s"`
	// How long those waited under Slurm that would have started later. How long they would have waited
	// is not known: longer.
	LaterWaitMedian float64 `json:"later_wait_median_s"`
	// Of all runs that Slurm has started: how long they waited, in seconds.
	WaitMedian float64 `json:"wait_median_s"`
	WaitMean   float64 `json:"wait_mean_s"`

	earlier, later, waits []int64
}

func (t *Tally) add(r *Run, interval int64) {
	o, seconds := r.Outcome(interval)
	t.Jobs++
	for _, x := range outcomes {
		if x.Outcome == o {
			*x.of(t)++
		}
	}
	if o == Earlier {
		t.earlier = append(t.earlier, seconds)
	}
	if r.Slurm != nil {
		t.waits = append(t.waits, max(r.Slurm.Time-max(r.Submit, r.Eligible), 0))
		if o == Later {
			t.later = append(t.later, t.waits[len(t.waits)-1])
		}
	}
}

func (t *Tally) finish() {
	t.EarlierMedian, t.LaterWaitMedian, t.WaitMedian = median(t.earlier), median(t.later), median(t.waits)
	for _, s := range t.waits {
		t.WaitMean += float64(s) / float64(len(t.waits))
	}
	t.earlier, t.later, t.waits = nil, nil, nil
}

// median of seconds, which it sorts; 0 of none.
func median(seconds []int64) float64 {
	n := len(seconds)
	if n == 0 {
		return 0
	}
	slices.Sort(seconds)
	return float64(seconds[(n-1)/2]+seconds[n/2]) / 2
}

// Machine is how the machine was used, averaged over all samples: shares of 1, and GPUs.
type Machine struct {
	Samples       int     `json:"samples"`
	CoresUsed     float64 `json:"cores_used"`       // share of the cores of nodes that are up
	CoresWould    float64 `json:"cores_would_used"` // with what the auction would have started
	GPUsUsed      float64 `json:"gpus_used"`
	GPUsWould     float64 `json:"gpus_would_used"`
	Stranded      float64 `json:"gpus_stranded"` // GPUs that are free on nodes without a free core
	WouldStranded float64 `json:"gpus_would_stranded"`
	QueueMean     float64 `json:"queue_mean"` // jobs
	QueueMax      int64   `json:"queue_max"`
}

// Job is a run in the report.
type Job struct {
	Job       string  `json:"job"` // as squeue names it
	User      string  `json:"user"`
	Partition string  `json:"partition"`
	CPUs      int64   `json:"cpus"`
	Submit    int64   `json:"submit"`
	Outcome   Outcome `json:"outcome"`
	Seconds   int64   `json:"seconds"` // earlier than Slurm
	Would     *Place  `json:"would,omitempty"`
	Slurm     *Place  `json:"slurm,omitempty"`
	Left      string  `json:"left,omitempty"`
	End       int64   `json:"end,omitempty"`
	State     string  `json:"state,omitempty"`
}

// Report compares the auction with Slurm.
type Report struct {
	Version    string  `json:"version"`
	Slurm      string  `json:"slurm"`
	Settings   string  `json:"settings"`
	Interval   int64   `json:"interval_s"`
	From       int64   `json:"from"` // the first and the last second that the file tells of
	To         int64   `json:"to"`
	BadLines   int     `json:"bad_lines"`
	Lost       int64   `json:"lost_jobs"` // lines that there was no room for
	All        Tally   `json:"all"`
	Partitions []Tally `json:"partitions"`
	Users      []Tally `json:"users"`
	Widths     []Tally `json:"widths"` // by CPUs asked for
	LeftWhy    []Count `json:"left_why"`
	Machine    Machine `json:"machine"`
	// Those that would have started earlier, by the most seconds first.
	Earliest []Job `json:"earliest"`
	Jobs     []Job `json:"jobs,omitempty"` // all, if asked for
	// What the figures do not say.
	Caveats []string `json:"caveats"`
}

// Count is how many jobs were left to Slurm for a reason.
type Count struct {
	Why  string `json:"why"`
	Jobs int    `json:"jobs"`
}

// NoSum is why seconds of single jobs are not added up.
const NoSum = "The seconds of single jobs do not add up to what a day with the auction would save."

// Caveats say what is not comparable.
var Caveats = []string{
	"Each cycle looked at Slurm's own queue and machine, not at those that the auction would have made. " +
		"What it would have started stayed in the queue until Slurm started it, and held nothing.",
	"A start that the auction would have made may have been at the cost of another one in this list. " +
		NoSum,
	"A job that Slurm started first counts as Slurm started it. " +
		"By how much the auction would have started it later is not known.",
	"Slurm starts a job as soon as another ends; the auction would have been asked an interval later at most. " +
		"Such starts count as the same.",
	"Jobs that Slurm started before a cycle saw them are not compared; " +
		"Slurm would start most of them with the auction too.",
	"Of jobs with ranges of GPUs or alternative requests Slurm starts the low end, and the first request.",
}

// Most jobs that Earliest has.
const mostEarliest = 20

// widths are classes by CPUs: up to so many.
var widths = []struct {
	most int64
	name string
}{{1, "1"}, {8, "2-8"}, {64, "9-64"}, {512, "65-512"}, {1 << 62, "513 and more"}}

func width(cpus int64) int {
	return slices.IndexFunc(widths, func(w struct {
		most int64
		name string
	}) bool {
		return cpus <= w.most
	})
}

// Compare makes the report. userName has the name of a user's number. It is asked about users with
// many jobs first.
func Compare(l *Log, userName func(uid int64) string, withJobs bool) *Report {
	p := &Report{Version: l.Version, Slurm: l.Slurm, Settings: l.Settings, Interval: max(l.Interval, 1), BadLines: l.Bad,
		Caveats: Caveats, Widths: []Tally{}, LeftWhy: []Count{}, Earliest: []Job{}}
	partitions, users := map[string]*Tally{}, map[int64]*Tally{}
	byWidth := make([]Tally, len(widths))
	why := map[string]int{}
	for _, r := range l.Runs {
		for _, t := range []*Tally{&p.All, group(partitions, r.Partition), group(users, r.User), &byWidth[width(r.CPUs)]} {
			t.add(r, p.Interval)
		}
		if o, _ := r.Outcome(p.Interval); o == Left {
			why[r.Left]++
		}
		p.span(r)
	}
	p.All.finish()
	p.Partitions = tallies(partitions, func(name string) string { return name })
	p.Users = tallies(users, userName)
	for i := range byWidth {
		if byWidth[i].Name = widths[i].name; byWidth[i].Jobs > 0 {
			byWidth[i].finish()
			p.Widths = append(p.Widths, byWidth[i])
		}
	}
	for _, w := range slices.Sorted(maps.Keys(why)) {
		p.LeftWhy = append(p.LeftWhy, Count{w, why[w]})
	}
	slices.SortStableFunc(p.LeftWhy, func(a, b Count) int { return cmp.Compare(b.Jobs, a.Jobs) })
	p.list(l.Runs, userName, withJobs)
	p.machine(&l.Samples)
	return p
}

// list fills in the jobs that are listed one by one.
func (p *Report) list(runs []*Run, userName func(uid int64) string, all bool) {
	var early []*Run
	seconds := func(r *Run) int64 { _, s := r.Outcome(p.Interval); return s }
	for _, r := range runs {
		if o, _ := r.Outcome(p.Interval); o == Earlier {
			early = append(early, r)
		}
	}
	slices.SortStableFunc(early, func(a, b *Run) int { return cmp.Compare(seconds(b), seconds(a)) })
	for _, r := range early[:min(len(early), mostEarliest)] {
		p.Earliest = append(p.Earliest, p.job(r, userName(r.User)))
	}
	if !all {
		return
	}
	p.Jobs = make([]Job, 0, len(runs))
	for _, r := range runs {
		p.Jobs = append(p.Jobs, p.job(r, userName(r.User)))
	}
}

func group[K comparable](of map[K]*Tally, key K) *Tally {
	t := of[key]
	if t == nil {
		t = &Tally{}
		of[key] = t
	}
	return t
}

// tallies has those with the most jobs first, and names them in that order.
func tallies[K cmp.Ordered](of map[K]*Tally, name func(K) string) []Tally {
	keys := slices.SortedFunc(maps.Keys(of), func(a, b K) int {
		return cmp.Or(cmp.Compare(of[b].Jobs, of[a].Jobs), cmp.Compare(a, b))
	})
	out := make([]Tally, 0, len(keys))
	for _, key := range keys {
		t := of[key]
		t.finish()
		t.Name = name(key)
		out = append(out, *t)
	}
	slices.SortStableFunc(out, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (p *Report) job(r *Run, user string) Job {
	o, seconds := r.Outcome(p.Interval)
	return Job{Job: r.Key.String(), User: user, Partition: r.Partition, CPUs: r.CPUs, Submit: r.Submit, Outcome: o,
		Seconds: seconds, Would: r.Would, Slurm: r.Slurm, Left: r.Left, End: r.End, State: r.State}
}

// String is the job as squeue names it: "12", or "12_3" for a task.
func (k Key) String() string {
	name := strconv.FormatInt(k.Job, 10)
	if k.Task >= 0 {
		name += "_" + strconv.FormatInt(k.Task, 10)
	}
	return name
}

func (p *Report) span(r *Run) {
	for _, at := range []*Place{r.Would, r.Slurm, {Time: r.End}} {
		if at != nil && at.Time > 0 {
			p.at(at.Time)
		}
	}
}

func (p *Report) at(time int64) {
	if p.From == 0 || time < p.From {
		p.From = time
	}
	p.To = max(p.To, time)
}

func (p *Report) machine(m *Samples) {
	if m.Count == 0 {
		return
	}
	p.at(m.first)
	p.at(m.Last.Time)
	p.Lost = m.most.Lost
	share := func(part, of int64) float64 { return float64(part) / float64(max(of, 1)) }
	n, all := int64(m.Count), &m.sum
	p.Machine = Machine{Samples: m.Count, QueueMean: share(all.Queue, n), QueueMax: m.most.Queue,
		CoresUsed: share(all.CoresUsed, all.Cores), CoresWould: share(all.CoresUsed+all.WouldCores, all.Cores),
		GPUsUsed: share(all.GPUsUsed, all.GPUs), GPUsWould: share(all.GPUsUsed+all.WouldGPUs, all.GPUs),
		Stranded: share(all.Stranded, n), WouldStranded: share(all.WouldStranded, n)}
}

// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// Plan is all that is done to a cluster from outside. It depends on the seed and the length alone.
type Plan struct {
	Seed   uint64
	Length time.Duration // after it nothing is submitted or broken any more

	Submissions []Submission // in order of time; a submission's place is its number
	Actions     []Action     // in order of time
	Faults      []Fault      // in order of time, one after the other
}

// Form is how a job is submitted.
type Form string

// The forms.
const (
	Batch  Form = "sbatch"
	Srun   Form = "srun"
	Salloc Form = "salloc"
)

// Submission is a job, or an array of jobs, that all do the same.
type Submission struct {
	At     time.Duration // since the beginning
	User   int           // index of one of the users
	Form   Form
	Args   []string // of sbatch, srun or salloc
	Stock  []string // instead of Args where there is no aucsched; nil: Args
	Lines  []string // of the script, before anything is run
	Tasks  int      // of an array, numbered from 1; 0: no array
	Length time.Duration
}

// Verb is what a user does to a job that was submitted.
type Verb string

// The verbs.
const (
	Update  Verb = "update"  // a change that leaves the job able to run
	Spoil   Verb = "spoil"   // one that may make it unable to
	Requeue Verb = "requeue" // it starts again from the beginning
	Cancel  Verb = "cancel"
	Suspend Verb = "suspend" // and resumed Length later
	Hold    Verb = "hold"    // and released Length later
)

// Action is a verb applied to a job.
type Action struct {
	At     time.Duration
	Of     int // the submission's number
	Verb   Verb
	Args   []string // of scontrol update, for Update and Spoil
	Length time.Duration
}

// Kind is a kind of fault.
type Kind string

// The kinds.
const (
	Kill        Kind = "kill"        // slurmctld, with SIGKILL; it is started again Down later
	DoubleKill  Kind = "double kill" // the same once more, Gap after it answered
	Reconfigure Kind = "reconfigure"
	HUP         Kind = "hup"
	Drain       Kind = "drain"     // a node, resumed Down later
	SlowDisk    Kind = "slow disk" // calls on StateSaveLocation take Gap longer, for Down
	FullDisk    Kind = "full disk" // for Down
	BadDisk     Kind = "bad disk"  // calls of one kind on StateSaveLocation fail, for Down
	// slurmctld is killed, a backup takes over, and it is back Down later
	Failover Kind = "failover"
	Takeover Kind = "takeover" // a backup takes over in peace, and slurmctld is back Down later
	Clock    Kind = "clock"    // is ahead by Gap, or behind if that is negative, for Down
)

// Fault is something that an administrator or the machine does to Slurm.
type Fault struct {
	At   time.Duration // not before this, and not before the fault before it is over
	Kind Kind
	Down time.Duration
	Gap  time.Duration
	Node int              // from 1
	Op   slurmtest.FileOp // the calls that fail
}

// Machine is what a plan asks for: the nodes are all alike.
const (
	Nodes    = 8
	Cores    = 8 // of a node
	GPUs     = 2
	MemoryMB = 16000
	Users    = 4
)

// Pace is how much is done in what time.
type Pace struct {
	Jobs   time.Duration // from job to job, on average
	Faults time.Duration // from the end of a fault to the next
	Users  int           // one job in so many has an action
}

// Usual is the pace of a soak, Quick that of a test of a minute.
var (
	Usual = Pace{Jobs: 1500 * time.Millisecond, Faults: 20 * time.Second, Users: 6}
	Quick = Pace{Jobs: 700 * time.Millisecond, Faults: 5 * time.Second, Users: 6}
)

// NewPlan makes a plan.
func NewPlan(seed uint64, length time.Duration, pace Pace) Plan {
	p := Plan{Seed: seed, Length: length}
	p.submit(rand.New(rand.NewPCG(seed, 1)), pace)
	p.act(rand.New(rand.NewPCG(seed, 2)), pace)
	p.break_(rand.New(rand.NewPCG(seed, 3)), pace)
	return p
}

// between is a random time from lo to hi, in steps of a millisecond.
func between(rng *rand.Rand, lo, hi time.Duration) time.Duration {
	return lo + time.Duration(rng.Int64N(int64(hi-lo)/1e6+1))*time.Millisecond
}

// submit plans jobs, now and then several at a time.
func (p *Plan) submit(rng *rand.Rand, pace Pace) {
	for at := time.Duration(0); at < p.Length; {
		n := 1
		if rng.IntN(8) == 0 {
			n = 2 + rng.IntN(10)
		}
		user := rng.IntN(Users)
		for range n {
			s := randomSubmission(rng)
			s.At, s.User = at, user
			p.Submissions = append(p.Submissions, s)
		}
		at += between(rng, 0, 2*pace.Jobs*time.Duration(n))
	}
}

// randomLength is shorter than most downtimes, about as long, or longer than all.
func randomLength(rng *rand.Rand) time.Duration {
	switch rng.IntN(10) {
	case 0, 1, 2, 3, 4:
		return between(rng, time.Second, 4*time.Second)
	case 5, 6, 7:
		return between(rng, 4*time.Second, 12*time.Second)
	default:
		return between(rng, 12*time.Second, 30*time.Second)
	}
}

func randomSubmission(rng *rand.Rand) Submission {
	s := Submission{Form: Batch, Length: randomLength(rng)}
	arg := func(format string, v ...any) { s.Args = append(s.Args, fmt.Sprintf(format, v...)) }
	nodes := 1 + rng.IntN(3)
	switch rng.IntN(14) {
	case 0, 1, 2:
		arg("-n%d", 1+rng.IntN(12))
	case 3:
		arg("-N1")
		arg("-n%d", 1+rng.IntN(Cores))
		arg("--mem=%d", 500*(1+rng.IntN(16)))
	case 4:
		arg("-N%d", nodes)
		arg("--ntasks-per-node=%d", 1+rng.IntN(4))
		arg("--gres=gpu:%d", 1+rng.IntN(GPUs))
	case 5, 6:
		arg("-N%d", nodes)
		arg("-n%d", nodes*2)
		s.Stock = append(slices.Clone(s.Args), "--gres=gpu:1")
		arg("--gres=gpu:1-%d", GPUs)
	case 7, 8:
		s.Tasks = 2 + rng.IntN(6)
		arg("--array=1-%d", s.Tasks)
		arg("-n%d", 1+rng.IntN(3))
	case 9:
		arg("-n%d", 4+rng.IntN(4))
		s.Lines = []string{fmt.Sprintf("#AUCSCHED --alternative --nodes=%d --ntasks-per-node=2", 1+rng.IntN(2))}
	case 10:
		arg("-N1")
		arg("-c%d", 1+rng.IntN(Cores))
	case 11:
		arg("-n%d", 2+rng.IntN(6))
		arg("-w")
		arg("n%04d", 1+rng.IntN(Nodes))
	case 12:
		s.Form = Srun
		arg("-N1")
		arg("-n1")
		arg("-c%d", 1+rng.IntN(3))
	case 13:
		s.Form = Salloc
		arg("-n%d", 1+rng.IntN(4))
	}
	arg("--time=%d", 2+rng.IntN(4))
	if s.Stock != nil {
		s.Stock = append(s.Stock, s.Args[len(s.Args)-1])
	}
	return s
}

// act plans what users do to their batch jobs, mostly at once.
func (p *Plan) act(rng *rand.Rand, pace Pace) {
	for i := range p.Submissions {
		s := &p.Submissions[i]
		if s.Form != Batch || rng.IntN(pace.Users) != 0 {
			continue
		}
		a := Action{At: s.At + between(rng, 100*time.Millisecond, 3*time.Second), Of: i}
		if rng.IntN(4) == 0 { // it has waited long, or runs
			a.At += between(rng, 0, 15*time.Second)
		}
		switch rng.IntN(10) {
		case 0, 1, 2, 3:
			a.Verb, a.Args = Update, randomUpdate(rng)
		case 4, 5:
			a.Verb, a.Args = Spoil, randomSpoiler(rng)
		case 6:
			a.Verb = Requeue
		case 7:
			a.Verb = Cancel
		case 8:
			a.Verb, a.Length = Suspend, between(rng, time.Second, 5*time.Second)
		case 9:
			a.Verb, a.Length = Hold, between(rng, time.Second, 10*time.Second)
		}
		p.Actions = append(p.Actions, a)
	}
	slices.SortStableFunc(p.Actions, func(a, b Action) int { return cmp.Compare(a.At, b.At) })
}

// randomUpdate is a change that the machine can satisfy whatever the job is.
func randomUpdate(rng *rand.Rand) []string {
	return [][]string{
		{"TimeLimit=7"}, {"TimeLimit=60"}, {"Nice=100"}, {"Comment=changed"}, {"ReqNodeList="}, {"Features=all"}, {"MinMemoryNode=700"},
	}[rng.IntN(7)]
}

// randomSpoiler is a change that goes to extremes.
func randomSpoiler(rng *rand.Rand) []string {
	return [][]string{
		{"NumTasks=800000000"}, {"NumCPUs=2000000000"}, {"MinCPUsNode=65000"}, {"NumNodes=2-60000"}, {"NumNodes=60000"},
		{"TresPerNode=gres:gpu:65000"}, {"TresPerNode=gres:gpu:2"}, {"Features=none"}, {"TimeLimit=1000000000"}, {"TimeLimit=UNLIMITED"},
		{"MinMemoryNode=2000000000"}, {"NumTasks=7", "NumNodes=2-3"}, {"ExcNodeList=n0001"},
		{"StartTime=now+1hour"}, {"Features=[all*1&all*2]"},
	}[rng.IntN(15)]
}

// Faults by how often they come. Those of the quiet ones leave slurmctld running.
var (
	quietKinds = []Kind{Reconfigure, Reconfigure, HUP, Drain, Drain, SlowDisk, SlowDisk, FullDisk, BadDisk, Clock}
	allKinds   = slices.Concat([]Kind{Kill, Kill, Kill, Kill, Kill, DoubleKill, DoubleKill, Failover, Takeover}, quietKinds)
)

// break_ plans faults. No fault begins in the last seconds; and no slurmctld is killed in the last
// third, so that one gets old, whose memory can be seen to be flat.
func (p *Plan) break_(rng *rand.Rand, pace Pace) {
	at := between(rng, pace.Faults/2, pace.Faults)
	for at < p.Length-3*time.Second {
		kinds := allKinds
		if at > p.Length*2/3 {
			kinds = quietKinds
		}
		f := randomFault(rng, kinds[rng.IntN(len(kinds))])
		f.At = at
		p.Faults = append(p.Faults, f)
		at += f.Down + between(rng, pace.Faults/4, pace.Faults*7/4)
	}
}

// badOps are the calls that Slurm saves its state with.
var badOps = []slurmtest.FileOp{slurmtest.OpWrite, slurmtest.OpFsync, slurmtest.OpLink, slurmtest.OpUnlink, slurmtest.OpStat}

func randomFault(rng *rand.Rand, kind Kind) Fault {
	f := Fault{Kind: kind}
	switch kind {
	case Kill:
		f.Down = randomDown(rng)
	case DoubleKill:
		f.Down, f.Gap = randomDown(rng), between(rng, 0, 8*time.Second)
	case Failover, Takeover:
		f.Down = between(rng, 0, 8*time.Second)
	case Drain:
		f.Down, f.Node = between(rng, time.Second, 8*time.Second), 1+rng.IntN(Nodes)
	case SlowDisk:
		f.Down, f.Gap = between(rng, time.Second, 10*time.Second), between(rng, 5*time.Millisecond, 300*time.Millisecond)
	case FullDisk:
		f.Down = between(rng, time.Second, 6*time.Second)
	case BadDisk:
		f.Down, f.Op = between(rng, time.Second, 6*time.Second), badOps[rng.IntN(len(badOps))]
	case Clock:
		f.Down, f.Gap = between(rng, time.Second, 10*time.Second), between(rng, -maxShift, maxShift)
	}
	return f
}

// maxShift is less than the shortest time limit beyond the longest job: a clock
// that is set ends no job.
const maxShift = 80 * time.Second

// randomDown is how long a killed slurmctld is away: 0.2 to 15 s, mostly short.
func randomDown(rng *rand.Rand) time.Duration {
	if rng.IntN(3) == 0 {
		return between(rng, 5*time.Second, 15*time.Second)
	}
	return between(rng, 200*time.Millisecond, 5*time.Second)
}

// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/place"
	"github.com/aucsched/aucsched/invasive/queue"
)

// Config says how to simulate. Begin with [NewConfig].
type Config struct {
	Partition invasive.Partition
	// Policy is the iHypervisor's, Repeat how often it makes an offer again that was in vain.
	Policy place.Policy
	Repeat time.Duration
	// Queue is the iScheduler's.
	Queue queue.Options
	// Attempts is the number of offers after which both sides must accept.
	Attempts uint32
	// Report is the time between two status reports.
	Report time.Duration
	// Latency is how long a message takes, Think how long a decision of the iScheduler.
	Latency, Think time.Duration
	// Release is how long a job takes to let go of cores, ResizeCost how long it does no work after
	// each change of its cores.
	Release, ResizeCost time.Duration
}

// NewConfig has the settings that invasive/docs/protocol.md was made with.
func NewConfig(p invasive.Partition) Config {
	return Config{
		Partition: p, Repeat: 10 * time.Second, Queue: queue.DefaultOptions(), Attempts: 3, Report: 30 * time.Second,
		Policy:  place.Policy{Means: []invasive.How{invasive.Shrink, invasive.Suspend}, Horizon: 24 * 60 * 60, ShrinkTime: 1},
		Latency: time.Millisecond, Think: 100 * time.Millisecond, Release: time.Second, ResizeCost: time.Second,
	}
}

// Validate reports the first setting that is out of its range.
func (c *Config) Validate() error {
	for _, d := range [...]struct {
		name string
		d    time.Duration
	}{{"latency", c.Latency}, {"think", c.Think}, {"release", c.Release}, {"resize cost", c.ResizeCost}} {
		if d.d < 0 || d.d > time.Hour {
			return fmt.Errorf("%s %v: must be 0 to 1h", d.name, d.d)
		}
	}
	p := &c.Partition
	if p.Nodes == 0 || p.Sockets == 0 || p.CoresPerSocket == 0 || p.Nodes > invasive.MaxCores ||
		uint64(p.Nodes)*uint64(p.Sockets) > invasive.MaxCores || p.Cores() > invasive.MaxCores {
		return fmt.Errorf("partition of %d nodes of %d sockets of %d cores: must be 1 to %d cores in all",
			p.Nodes, p.Sockets, p.CoresPerSocket, invasive.MaxCores)
	}
	if c.Repeat <= 0 {
		return fmt.Errorf("repeat %v: must be more than 0", c.Repeat)
	}
	if c.Attempts == 0 || c.Attempts > invasive.MaxAttempts {
		return fmt.Errorf("attempts %d: must be 1 to %d", c.Attempts, invasive.MaxAttempts)
	}
	if c.Report < time.Second || c.Report > invasive.MaxTimer {
		return fmt.Errorf("report %v: must be 1s to %v", c.Report, invasive.MaxTimer)
	}
	return nil
}

// A Job is one job of the workload.
type Job struct {
	// Submit is when it comes, Duration how long it runs on Cores.
	Submit, Duration time.Duration
	// Limit is its user's estimate of Duration, at least that.
	Limit time.Duration
	Cores uint32
	// MinNodes and MaxNodes are the nodes that it needs; 0 and 0 if it doesn't matter.
	MinNodes, MaxNodes uint32
	Priority           uint32
	Urgent             bool
	// Kind is what may change of its cores, MinCores to MaxCores are what it can use.
	Kind               invasive.Flex
	MinCores, MaxCores uint32
	// Wishes are what an evolving job asks for, in ascending order of Done.
	Wishes []Wish
	// Serial is f of the speed-up, from 0 to 1.
	Serial float64
}

// A Wish is another number of cores, MinCores to MaxCores, that a job asks for when a share
// of its work is done.
type Wish struct {
	Done  float64
	Cores uint32
}

// Flexibility says how jobs are made malleable, evolving, moldable and urgent.
type Flexibility struct {
	// Malleable and Urgent are the shares of the jobs, from 0 to 1.
	Malleable, Urgent float64
	// Evolving and Moldable are shares of those that are neither, 1 at most together. An evolving
	// job asks for another number of cores when a third of its work is done, and again after two
	// thirds, each number as likely.
	Evolving, Moldable float64
	// Least and Most are the cores that a job that isn't rigid can use, as factors of
	// those that it asks for.
	Least, Most float64
	// Serial is every job's serial fraction.
	Serial float64
	Seed   uint64
}

// DefaultFlexibility is malleability from a quarter to twice the cores asked for, linear speed-up,
// and one urgent job in twenty.
func DefaultFlexibility() Flexibility {
	return Flexibility{Urgent: 0.05, Least: 0.25, Most: 2, Seed: 1}
}

func (f *Flexibility) validate() error {
	for _, s := range [...]struct {
		name string
		v    float64
	}{{"malleable share", f.Malleable}, {"urgent share", f.Urgent}, {"evolving share", f.Evolving}, {"moldable share", f.Moldable},
		{"evolving and moldable share", f.Evolving + f.Moldable}, {"serial fraction", f.Serial}, {"least cores", f.Least}} {
		if !(s.v >= 0 && s.v <= 1) {
			return fmt.Errorf("%s %v: must be 0 to 1", s.name, s.v)
		}
	}
	if !(f.Most >= 1 && f.Most <= 1024) {
		return fmt.Errorf("most cores %v: must be 1 to 1024 times those asked for", f.Most)
	}
	return nil
}

// Apply returns a copy of jobs of which shares are malleable, urgent, and so on, on a
// partition of so many cores.
func (f *Flexibility) Apply(jobs []Job, cores uint64) ([]Job, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(f.Seed, 0x6d616c6c))
	others := rand.New(rand.NewPCG(f.Seed, 0x65766f6c))
	out := make([]Job, len(jobs))
	for i, j := range jobs {
		// two numbers for each job, whatever the shares
		malleable, urgent := r.Float64() < f.Malleable, r.Float64() < f.Urgent
		j.Serial, j.Kind, j.MinCores, j.MaxCores = f.Serial, invasive.Rigid, j.Cores, j.Cores
		// three more, which change none of those
		kind, wishes := others.Float64(), [...]float64{others.Float64(), others.Float64()}
		switch j.Urgent = j.Urgent || urgent; {
		case j.Urgent:
		case malleable:
			j.Kind = invasive.Malleable
		case kind < f.Evolving:
			j.Kind = invasive.Evolving
		case kind < f.Evolving+f.Moldable:
			j.Kind = invasive.Moldable
		}
		if j.Kind != invasive.Rigid {
			j.MinCores = uint32(max(1, math.Ceil(f.Least*float64(j.Cores))))
			j.MinCores = max(j.MinCores, j.MinNodes)
			j.MaxCores = uint32(max(float64(j.Cores), math.Floor(min(f.Most*float64(j.Cores), float64(cores)))))
		}
		if j.Wishes = nil; j.Kind == invasive.Evolving {
			for k, w := range wishes {
				j.Wishes = append(j.Wishes, Wish{float64(k+1) / 3, j.MinCores + uint32(w*float64(j.MaxCores-j.MinCores+1))})
			}
		}
		out[i] = j
	}
	return out, nil
}

// speed is how much work a second a job does.
func speed(serial float64, cores int) float64 {
	if cores == 0 {
		return 0
	}
	return 1 / (serial + (1-serial)/float64(cores))
}

func (j *Job) work() float64 { return j.Duration.Seconds() * speed(j.Serial, int(j.Cores)) }

// job is the Job as the protocol has it.
func (j *Job) job(id invasive.JobID) *invasive.Job {
	limit := j.Limit.Seconds() * speed(j.Serial, int(j.Cores)) / speed(j.Serial, int(j.MinCores))
	return &invasive.Job{
		ID: id, Flex: j.Kind, MinCores: j.MinCores, MaxCores: j.MaxCores, MinNodes: j.MinNodes, MaxNodes: j.MaxNodes,
		Urgent: j.Urgent, Priority: j.Priority, Limit: uint32(min(math.Ceil(limit), invasive.MaxSeconds)),
	}
}

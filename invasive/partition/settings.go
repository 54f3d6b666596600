package partition

import (
	"fmt"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// Settings are the iHypervisor's policy. DefaultSettings has good ones.
type Settings struct {
	// Partition is the one of the Hypervisor's terms.
	Partition invasive.Partition
	// Power bounds what the partition draws.
	Power Power
	// OfferJobs is the most jobs that a mapping may name, from 1.
	OfferJobs uint32
	// Repeat is after how long an offer that led to nothing is made again, though nothing has changed here: new jobs may
	// wait at the iScheduler.
	Repeat time.Duration
	// Shrinking is how long malleable jobs take to let go of cores: the delay of such parts of an offer.
	Shrinking time.Duration
	// Patience is how long a suspended or accepted job waits for its cores before others of its kind, and offers, stand back.
	Patience time.Duration
	// MaxSuspended is how many jobs may be suspended at a time; they keep their memory.
	MaxSuspended uint32
	// Kill allows to kill jobs for an urgent one, if suspending is not enough.
	Kill bool
	// GrowStep is the least growth of a job, in percent of its cores, from 0. Less is given only if
	// the job then has all that it can use.
	GrowStep uint32
	// MaxIdle is the greatest share, in percent, of an offer's free cores that a mapping may leave idle although moldable jobs of
	// it could use them. MaxSpread is the greatest number of nodes that a mapping may use, in percent of
	// the fewest that would do, from 100.
	MaxIdle, MaxSpread uint32
}

// Power is what the partition draws: Node watts for each node of which a core is owned by a job, and Core
// watts for each such core. Cap is the most in all; 0: no limit.
type Power struct{ Node, Core, Cap uint32 }

// DefaultSettings are the recommended settings for a partition.
func DefaultSettings(p invasive.Partition) Settings {
	return Settings{
		Partition: p, OfferJobs: 1000, Repeat: 10 * time.Second, Shrinking: time.Second, Patience: 10 * time.Minute,
		MaxSuspended: 64, GrowStep: 10, MaxIdle: 50, MaxSpread: 200,
	}
}

// Validate reports the first setting that is out of its range.
func (s *Settings) Validate() error {
	p := &s.Partition
	switch {
	case p.Nodes == 0 || p.Sockets == 0 || p.CoresPerSocket == 0:
		return fmt.Errorf("partition %s: %d nodes of %d sockets of %d cores: must each be at least 1", p.Name, p.Nodes, p.Sockets, p.CoresPerSocket)
	case p.Nodes > invasive.MaxCores || uint64(p.Nodes)*uint64(p.Sockets) > invasive.MaxCores || p.Cores() > invasive.MaxCores:
		return fmt.Errorf("partition %s: %d nodes of %d sockets of %d cores: must be at most %d cores in all", p.Name, p.Nodes, p.Sockets, p.CoresPerSocket, invasive.MaxCores)
	case s.OfferJobs == 0 || s.OfferJobs > invasive.MaxJobs:
		return fmt.Errorf("jobs of an offer %d: must be 1 to %d", s.OfferJobs, invasive.MaxJobs)
	case s.Repeat <= 0:
		return fmt.Errorf("repeat %v: must be more than 0", s.Repeat)
	case s.Shrinking < 0 || s.Shrinking > invasive.MaxTimer:
		return fmt.Errorf("shrinking %v: must be 0 to %v", s.Shrinking, invasive.MaxTimer)
	case s.Patience < 0:
		return fmt.Errorf("patience %v: must not be negative", s.Patience)
	case s.MaxSpread < 100:
		return fmt.Errorf("spread %d%%: must be at least 100%%", s.MaxSpread)
	case s.MaxIdle > 100:
		return fmt.Errorf("idle %d%%: must be at most 100%%", s.MaxIdle)
	}
	if w := &s.Power; w.Cap > 0 && uint64(w.Cap) < uint64(w.Node)+uint64(w.Core) {
		return fmt.Errorf("power cap %d W: a node with one core draws %d W", w.Cap, uint64(w.Node)+uint64(w.Core))
	}
	return nil
}

// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive/malleable"
)

// Pauses before a place is asked for again.
const (
	firstPause = 10 * time.Second
	lastPause  = 10 * time.Minute
	// lookPause is how long after its sbatch Slurm is asked whether it still has a place: a
	// slurmctld that is killed soon after it has answered may have forgotten the job.
	lookPause = 30 * time.Second
)

// companions are the jobs of one node each that a lead asks Slurm for. Their numbers in the job
// array are those of their places.
type companions struct {
	name   string   // of the jobs: no others of the user may have it
	args   []string // of sbatch: partition, QOS, cores and what else a node is to give
	script string   // what each runs
	// submit runs sbatch, or scancel, with arguments and a script for its input.
	// It returns what that has printed.
	submit func(ctx context.Context, script string, argv ...string) (string, error)
	// known are the numbers of the job arrays that Slurm knows of, also of those that have just
	// ended.
	known func(ctx context.Context, name string) (map[string]bool, error)
	log   *slog.Logger

	mu     sync.Mutex
	pauses map[int]time.Duration // before places are asked for again
	asked  []int                 // not submitted yet; ascending
	unseen []*array              // submitted, and not all are here yet
	// notBefore is when squeue, which has failed, is run again, and lookAgain the pause after it
	// if it fails then.
	notBefore time.Time
	lookAgain time.Duration
	wake      chan struct{}
}

// An array is what one sbatch has asked for, and when to look whether Slurm still knows of it.
type array struct {
	id     string // Slurm's number
	places []int  // those that are not here yet
	at     time.Time
}

func newCompanions(o *Options, submit func(ctx context.Context, script string, argv ...string) (string, error),
	known func(ctx context.Context, name string) (map[string]bool, error)) *companions {
	return &companions{name: "crew-" + o.Job, args: o.Args, script: o.Companion, submit: submit, known: known, log: o.Log,
		pauses: map[int]time.Duration{}, lookAgain: lookPause, wake: make(chan struct{}, 1)}
}

// run asks for places, those that ask names, until ctx ends, and cancels what still waits then.
// What runs ends with its lead.
func (c *companions) run(ctx context.Context) {
	c.cancel() // of a lead before
	pause := firstPause
	for ctx.Err() == nil {
		places := c.take()
		if len(places) == 0 {
			select {
			case <-ctx.Done():
			case <-c.wake:
			case <-c.lookTime():
				c.look(ctx)
			}
			continue
		}
		said, err := c.submit(ctx, c.script, c.sbatch(places)...)
		if err == nil {
			pause = firstPause
			c.submitted(said, places)
			continue
		}
		if ctx.Err() == nil {
			c.log.Warn("no more nodes are asked for, for now", "why", err, "again_in", pause)
		}
		c.ask(places...)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
	c.withdraw()
}

// ask asks for places now.
func (c *companions) ask(places ...int) {
	c.mu.Lock()
	c.asked = append(c.asked, places...)
	slices.Sort(c.asked)
	c.asked = slices.Compact(c.asked)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// submitted notes what sbatch has taken; it says JOBID, or JOBID;CLUSTER. An array without a number
// can't be looked for: places of one that is only thought to be forgotten would be asked for twice.
func (c *companions) submitted(said string, places []int) {
	id, _, _ := strings.Cut(strings.TrimSpace(said), ";")
	if _, err := strconv.ParseUint(id, 10, 32); err != nil {
		c.log.Warn("sbatch has not said the number of its job array: if Slurm forgets it, nobody notices",
			"places", malleable.FormatList(places), "said", fmt.Sprintf("%.100s", said))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unseen = append(c.unseen, &array{id, places, time.Now().Add(lookPause)})
}

// here notes that a place is there. The others of its array may still be forgotten: a companion can
// begin before slurmctld has saved it.
func (c *companions) here(place int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.unseen {
		a.places = slices.DeleteFunc(a.places, func(p int) bool { return p == place })
	}
	c.unseen = slices.DeleteFunc(c.unseen, func(a *array) bool { return len(a.places) == 0 })
}

// lookTime says when to look for places; never if it is nil.
func (c *companions) lookTime() <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unseen) == 0 {
		return nil
	}
	first := slices.MinFunc(c.unseen, func(a, b *array) int { return a.at.Compare(b.at) })
	return time.After(max(time.Until(first.at), time.Until(c.notBefore)))
}

// look asks again for the places of an array that Slurm does not know: it has forgotten all of it
// or nothing. A place that is cancelled before it has begun leaves no trace there.
func (c *companions) look(ctx context.Context) {
	if !c.due() {
		return // they have come meanwhile
	}
	known, err := c.known(ctx, c.name)
	if err != nil {
		c.lookLater(ctx, err)
		return
	}
	now := time.Now()
	var forgotten []int
	c.mu.Lock()
	c.lookAgain = lookPause
	for _, array := range c.unseen {
		if array.at.After(now) {
			continue
		}
		if !known[array.id] {
			forgotten = append(forgotten, array.places...)
		}
		array.places = nil
	}
	c.unseen = slices.DeleteFunc(c.unseen, func(a *array) bool { return a.places == nil })
	c.mu.Unlock()
	if len(forgotten) > 0 {
		slices.Sort(forgotten)
		c.log.Warn("Slurm has forgotten companions, and is asked again", "places", malleable.FormatList(forgotten))
		c.ask(forgotten...)
	}
}

// lookLater has squeue, which has failed, run again after a pause: a longer one if it fails again
// and again.
func (c *companions) lookLater(ctx context.Context, why error) {
	c.mu.Lock()
	pause := c.lookAgain
	c.notBefore = time.Now().Add(pause)
	c.lookAgain = min(2*pause, lastPause)
	c.mu.Unlock()
	if ctx.Err() == nil {
		c.log.Warn("it is not known whether Slurm has forgotten companions", "why", why, "again_in", pause)
	}
}

func (c *companions) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.unseen, func(a *array) bool { return !a.at.After(time.Now()) })
}

// askAgain asks for a place that has lasted for so long, after a pause: longer ones for one that is
// lost again and again. It does nothing if ctx ends before.
func (c *companions) askAgain(ctx context.Context, place int, lasted time.Duration) {
	c.mu.Lock()
	pause := max(c.pauses[place], firstPause)
	if lasted > lastPause {
		pause = firstPause
	}
	c.pauses[place] = min(2*pause, lastPause)
	c.mu.Unlock()
	go func() {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			c.ask(place)
		}
	}()
}

func (c *companions) take() (places []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	places, c.asked = c.asked, nil
	return places
}

func (c *companions) sbatch(places []int) []string {
	return append([]string{"sbatch", "--parsable", "--nodes=1", "--job-name=" + c.name,
		"--array=" + malleable.FormatList(places), "--export=ALL"}, c.args...)
}

// withdraw asks for no more places: what waits is cancelled.
func (c *companions) withdraw() {
	c.take()
	c.mu.Lock()
	c.unseen = nil
	c.mu.Unlock()
	c.cancel("--state=PENDING")
}

func (c *companions) cancel(args ...string) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	argv := append([]string{"scancel", "--quiet", "--user=" + strconv.Itoa(os.Getuid()), "--name=" + c.name}, args...)
	if _, err := c.submit(ctx, "", argv...); err != nil {
		c.log.Warn("companions may be left", "name", c.name, "why", err)
	}
}

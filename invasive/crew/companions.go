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
)

// Pauses before a place is asked for again.
const (
	firstPause = 10 * time.Second
	lastPause  = 10 * time.Minute
)

// Companions are the jobs of one node each that a lead asks Slurm for. Their numbers in the job
// array are those of their places.
type Companions struct {
	// Name is the jobs' name: no other jobs of the user may have it.
	Name string
	// Args are further arguments of sbatch: partition, QOS, cores and what else a node is to give.
	Args []string
	// Script is what each runs.
	Script string
	// Submit runs sbatch, or scancel, with arguments and a script for its input.
	Submit func(ctx context.Context, script string, argv ...string) error
	Log    *slog.Logger

	mu     sync.Mutex
	pauses map[int]time.Duration
	asked  []int // not submitted yet
	wake   chan struct{}
}

// Run asks for places, those that Ask names, until ctx ends, and cancels what still waits then.
// What runs ends with its lead.
func (c *Companions) Run(ctx context.Context) {
	c.cancel() // of a lead before
	pause := firstPause
	for ctx.Err() == nil {
		places := c.take()
		if len(places) == 0 {
			select {
			case <-ctx.Done():
			case <-c.woken():
			}
			continue
		}
		if err := c.submit(ctx, places); err == nil {
			pause = firstPause
			continue
		} else if ctx.Err() == nil {
			c.Log.Warn("no more nodes are asked for, for now", "why", err, "again_in", pause)
		}
		c.put(places)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
	c.Withdraw()
}

// Ask asks for places now.
func (c *Companions) Ask(places ...int) { c.put(places) }

// AskAgain asks for a place that has lasted for so long, after a pause: longer ones for one that is
// lost again and again. It does nothing if ctx ends before.
func (c *Companions) AskAgain(ctx context.Context, place int, lasted time.Duration) {
	c.mu.Lock()
	if c.pauses == nil {
		c.pauses = map[int]time.Duration{}
	}
	pause := max(c.pauses[place], firstPause)
	c.pauses[place] = min(2*pause, lastPause)
	if lasted > lastPause {
		c.pauses[place] = firstPause
	}
	c.mu.Unlock()
	go func() {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			c.put([]int{place})
		}
	}()
}

func (c *Companions) woken() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wake == nil {
		c.wake = make(chan struct{}, 1)
	}
	return c.wake
}

func (c *Companions) put(places []int) {
	wake := c.woken()
	c.mu.Lock()
	c.asked = append(c.asked, places...)
	slices.Sort(c.asked)
	c.asked = slices.Compact(c.asked)
	c.mu.Unlock()
	select {
	case wake <- struct{}{}:
	default: // it will look anyway
	}
}

func (c *Companions) take() (places []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	places, c.asked = c.asked, nil
	return places
}

func (c *Companions) submit(ctx context.Context, places []int) error {
	var list []string
	for _, p := range places {
		list = append(list, strconv.Itoa(p))
	}
	argv := append([]string{"sbatch", "--parsable", "--quiet", "--nodes=1", "--job-name=" + c.Name,
		"--array=" + strings.Join(list, ","), "--export=ALL"}, c.Args...)
	return c.Submit(ctx, c.Script, argv...)
}

// Withdraw asks for no more places: what waits is cancelled.
func (c *Companions) Withdraw() {
	c.take()
	c.cancel("--state=PENDING")
}

func (c *Companions) cancel(args ...string) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	argv := append([]string{"scancel", "--quiet", "--user=" + strconv.Itoa(os.Getuid()), "--name=" + c.Name}, args...)
	if err := c.Submit(ctx, "", argv...); err != nil {
		c.Log.Warn("companions may be left", "name", c.Name, "why", fmt.Sprint(err))
	}
}

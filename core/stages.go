// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// stages are what a cycle's decisions come from.
type stages struct {
	window       window       // which jobs take part, and what they ask for
	pacing       pacing       // how soon they end
	planning     planning     // in which order they get places
	reservations reservations // which of them must start, and what is kept for others
	bidding      bidding      // what they bid
	model        model        // the program whose solution is the winning bids
	winners      winners      // these
	preemption   preemption   // who is stopped for those who found no place; and claims, first
}

// preemption is the stage that has running jobs stopped for jobs of the window that found no other
// place. It comes last, when all others know what they get. A job takes what starts behind it would
// get, and what is then missing from the cheapest running jobs that will do. What a stop frees is the
// job's. The rest of it is kept off all jobs that may not have the same one stopped.
type preemption struct {
	opts    *AuctionOptions
	s       *Snapshot // the caller's
	classes uint64    // of the jobs that may be stopped now, by some job of the queue
	victims []victim
	byID    map[string]int // scratch

	rest   *place.Residual // what is left to those who may have nobody stopped
	seeker seeker
	ways   []market.Variant // of the job that is looked at
	spot                    // the place that was found last
	known  spot
	least  spot // with the cheapest victims
	tries  int  // searches for a place, in the cycle
	failed map[failure]bool
	rivals []rival // who has what the job could have: victims, the cheapest first, then places kept and starts, the last first
	starts int     // where these begin
	won    []int32 // by job of the window: which of the winners it is, or -1
	wins   []place.Held
	own    place.Held // the place that is kept for the job
	order  []int32
	found  []int32
	best   []int32

	spares []spare // what stops have freed, and nobody has taken
	waits  []Preemption
	moved  bool    // somebody has to go, or gave up his place: others may have room now
	loss   float64 // of what those had who gave up a place or are stopped, in the objective's unit
	memory struct {
		uses nodeset.Uses
		segs []nodeset.Segment
	}
	freed freed
}

// victim is a running job that may be stopped, with all of its parts. loss is in the objective's unit.
type victim struct {
	running int   // its first part in Snapshot.Running
	parts   []int // all of them
	price   int64
	loss    float64
	density float64
	held    []place.Held
	gone    bool
}

// spot is a place, and the variant of a job that it meets.
type spot struct {
	way  int
	segs []nodeset.Segment
}

func (s *spot) copyFrom(o *spot) { s.way, s.segs = o.way, append(s.segs[:0], o.segs...) }

// rival is a victim or one of the winners, by its number, or a job of the window that has a place kept.
type rival struct {
	number int32
	kept   bool  // it is the latter
	price  int64 // or a start's priority
	held   []place.Held
	out    bool // what it has is given to the job
	asked  bool // scratch
}

// spare is what the stop of a victim has freed on one node, or of quotas. Kept from others now it is
// nothing that they could start on.
type spare struct {
	place.Held
	victim int32
	out    bool
}

// equalKey is a request with a time limit.
type equalKey struct {
	spec  place.Spec
	limit int64
}

// failure is a request that found no place, of jobs that may have the same stopped.
type failure struct {
	equalKey
	preempts uint64
}

// freed are the places that earlier cycles had running jobs stopped for. Their jobs are served before
// all others: to these it is as if they ran already.
type freed struct {
	snapshot Snapshot // what the other stages decide on
	rest     place.Residual
	nodes    nodeset.Table
	quota    [1][]int64
	starts   []Decision
	lost     float64 // by stops for these
	index    []int   // by job of that snapshot: its index in the caller's
	open     []claimed
}

// claimed is a claim, and the index of its job.
type claimed struct {
	*Claim
	job int
}

// seeker finds places on what is left.
type seeker struct {
	placer place.Placer
	tried  []nodeset.Segment // scratch
}

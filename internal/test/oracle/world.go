// SPDX-License-Identifier: BSD-3-Clause

// Package oracle is for tests: it judges decisions of small windows by enumerating everything. It has
// its own model of a machine, of requests and of time, and shares no code with what it judges: all is
// counted node by node and GPU by GPU, at each moment. It is slow, and meant to be obviously right.
//
// The rules are those that every decision has to satisfy (rules.go); windows are drawn with a few
// features at a time, so that every pair of them comes (draw.go). What fails and is known to is in
// one table (known_test.go), which only shrinks.
//
// One rule with many windows, from a seed on, and what fails by rule and feature:
//
//	ORACLE_WINDOWS=100000 ORACLE_FROM=1 go test ./internal/test/oracle -run TestRules/4a -v -timeout 0
//	ORACLE_FEATURES=preempt,gang,quota ... only windows with features of this list
//	ORACLE_PRESET=default              ... only that preset
//	ORACLE_KNOWN=no                    ... what is known to fail fails too
//	ORACLE_CYCLES=100000 go test ./internal/test/oracle -run TestCluster -v -timeout 0
//
// A window that fails is made smaller first, and is printed as a file for "aucsched plan".
package oracle

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// Endless is the end of what has no end, and the limit of jobs without one.
const Endless = int64(100 * 365 * 24 * 3600)

// Node is one node of a machine.
type Node struct {
	Up          bool
	Cores, GPUs int
	More        []int64 // of each further resource
	Share       int64   // shares of each GPU; 0: GPUs are given whole only
	Tier        int
}

// Use is how much of one row a part takes: a further resource, on each node, or a quota.
type Use struct{ PerJob, PerNode, PerCore, PerGPU int64 }

// Part is what a job asks for, or one of several parts. Zero fields restrict nothing.
type Part struct {
	Cores, MinNodes, MaxNodes, Tasks int
	MinGPUs, MaxGPUs                 int
	Mixed, Contiguous, Apart         bool
	On                               uint // the nodes that it may use
	More                             []Use
	Counts                           []Use // by quota
	Share                            int64
	Switches, Within, Segment        int
	Blocks                           int // at most; 0: any number
}

// Way is one way to meet a job: parts that start together.
type Way struct {
	Parts     []Part
	AllWithin int
}

// Job is one that waits.
type Job struct {
	ID              string
	Ways            []Way
	Priority, Limit int64
	Waited          int64
	Prefer          uint   // 0: nothing
	Preempts        uint64 // classes
	Reservation     string // its own; "": none
	Price           int64  // and Class, and Exempt for how long it is not stopped: of the job once it runs, in a Cluster
	Class           int
	Exempt          int64
}

// Piece is what a part has of one node. Bin is the shared GPU, 0 if none.
type Piece struct{ Part, Node, Cores, GPUs, Bin int }

// Claim is who has which place from when to when.
type Claim struct {
	ID       string
	From, To int64
	Way      Way
	Pieces   []Piece
	Price    int64
	Class    int
	Exempt   int64 // until when it is not stopped
}

// Reserved is for whose jobs nodes are, from when to when.
type Reserved struct {
	Name     string
	Nodes    uint
	From, To int64
	open     bool // others are let in
}

// may are the nodes on which reservations let a job start in second t.
func (w *World) may(j *Job, t int64) uint {
	on, open := w.all(), j.Reservation == ""
	for _, r := range w.Reserved {
		switch {
		case r.To <= w.Now: // it is over
		case r.Name == j.Reservation:
			open = w.unbooked || r.From <= t && t < r.To
			on &= r.Nodes
		case !w.unbooked && !r.open && t < r.To && r.From < t+j.Limit:
			on &^= r.Nodes
		}
	}
	if !open {
		return 0
	}
	return on
}

// waysAt are a job's ways on the nodes on which it may start in second t.
func (w *World) waysAt(j *Job, t int64) []Way {
	on := w.may(j, t)
	if on == w.all() {
		return j.Ways
	}
	ways := slices.Clone(j.Ways)
	for k := range ways {
		ways[k].Parts = slices.Clone(ways[k].Parts)
		for p := range ways[k].Parts {
			ways[k].Parts[p].On &= on
		}
	}
	return ways
}

// World is a machine and its queue at a moment. Jobs are in queue order.
type World struct {
	Now     int64
	Nodes   []Node
	More    []string
	Quotas  []int64 // their limits
	Levels  [][]int // of each level of switches: the switch of each node; nil: no topology
	Running []Claim
	Jobs    []Job
	Claims  []core.Claim // of the plan before
	// Reserved are the reservations, and unbooked says to see them as always open, and those of others not.
	Reserved []Reserved
	unbooked bool

	Preset        string
	Window, Depth int // 0: the preset's
	Estimates     bool
	Strict        bool           // victims by class first
	Objective     core.Objective // 0: the preset's
	Features      []string
	Seed          uint64

	masks   map[uint]nodeset.Mask // of this machine
	claimOf []int                 // by running job of the Snapshot: of Running
}

func (w *World) all() uint { return 1<<len(w.Nodes) - 1 }

// Of is how much a node that gives so much has to give of the row.
func (u Use) Of(cores, gpus int) int64 {
	return u.PerNode + u.PerCore*int64(cores) + u.PerGPU*int64(gpus)
}

// crowded says on which node of a job that is to be alone others are; "" if none is.
func (w *World) crowded(t int64, claims []Claim) string {
	on := map[int]int{}
	for pass := range 2 {
		for i := range claims {
			for _, p := range claims[i].Pieces {
				if t < claims[i].From || t >= claims[i].To {
					continue
				}
				if pass == 0 {
					on[p.Node]++
				} else if w.exclusive(&claims[i].Way.Parts[p.Part]) && on[p.Node] > 1 {
					return fmt.Sprintf("%s is not alone on n%d", claims[i].ID, p.Node)
				}
			}
		}
	}
	return ""
}

// exclusive reports whether a part is to be alone on its nodes.
func (w *World) exclusive(p *Part) bool {
	r := slices.Index(w.More, "exclusive")
	return r >= 0 && r < len(p.More) && p.More[r].PerNode == wholeNode
}

// counted is what an allocation counts against quota q.
func counted(way *Way, pieces []Piece, q int) (sum int64) {
	for k := range way.Parts {
		if q >= len(way.Parts[k].Counts) {
			continue
		}
		u := way.Parts[k].Counts[q]
		sum += u.PerJob
		for _, p := range pieces {
			if p.Part == k {
				sum += u.Of(p.Cores, p.GPUs)
			}
		}
	}
	return sum
}

// allowed reports whether a part may be on so many nodes. Of cores on each node without a most it
// is for the fewest.
func (p *Part) allowed(nodes int) bool {
	if p.Cores == 0 && p.MaxNodes == 0 {
		return nodes == max(p.MinNodes, 1)
	}
	return nodes >= max(p.MinNodes, 1) && (p.MaxNodes == 0 || nodes <= p.MaxNodes)
}

// each is the range of cores that each node may give.
func (p *Part) each() (low, high int) {
	switch t := p.Tasks; {
	case p.Cores == 0:
		return t, t
	case t == 0:
		return 1, p.Cores
	case p.Cores%t == 0 && p.allowed(p.Cores/t):
		return t, t
	default:
		return 1, t
	}
}

// below reports whether nodes lie below switches as a part demands.
func (w *World) below(p *Part, nodes uint) bool {
	if len(w.Levels) == 0 {
		return true
	}
	leaves := w.switches(1, nodes)
	if p.Switches > 0 && len(leaves) > p.Switches {
		return false
	}
	if p.Within > 0 && len(w.switches(min(p.Within, len(w.Levels)), nodes)) > 1 {
		return false
	}
	for _, n := range leaves {
		if p.Segment > 0 && n%p.Segment != 0 {
			return false
		}
	}
	return true
}

// switches are the switches of a level above nodes, and how many of these each has.
func (w *World) switches(level int, nodes uint) map[int]int {
	of := make(map[int]int)
	for n := range w.Nodes {
		if nodes>>n&1 == 1 {
			of[w.Levels[level-1][n]]++
		}
	}
	return of
}

// contiguous reports whether nodes are consecutive.
func contiguous(nodes uint) bool {
	nodes >>= bits.TrailingZeros(nodes)
	return nodes&(nodes+1) == 0
}

// nodesOf are the nodes of an allocation, or of one part of it.
func nodesOf(pieces []Piece, part int) (nodes uint) {
	for _, p := range pieces {
		if part < 0 || p.Part == part {
			nodes |= 1 << p.Node
		}
	}
	return nodes
}

// Meets reports whether an allocation is what a way asks for, whatever is free.
func (w *World) Meets(way *Way, pieces []Piece) bool {
	if way.AllWithin > 0 && len(w.Levels) > 0 &&
		len(w.switches(min(way.AllWithin, len(w.Levels)), nodesOf(pieces, -1))) > 1 {
		return false
	}
	for k := range way.Parts {
		if !w.meets(&way.Parts[k], k, pieces) {
			return false
		}
		own := nodesOf(pieces, k)
		for o := range way.Parts {
			if o != k && way.Parts[k].Apart && nodesOf(pieces, o)&own != 0 {
				return false
			}
		}
	}
	return true
}

// meets is Meets for one part.
func (w *World) meets(p *Part, k int, pieces []Piece) bool {
	low, high := p.each()
	nodes, cores, gpus := uint(0), 0, -1
	for _, x := range pieces {
		if x.Part != k {
			continue
		}
		if nodes>>x.Node&1 == 1 || x.Cores < low || x.Cores > high ||
			x.GPUs < p.MinGPUs || x.GPUs > max(p.MinGPUs, p.MaxGPUs) ||
			(gpus >= 0 && x.GPUs != gpus && !p.Mixed) || (p.Share > 0) != (x.Bin > 0) {
			return false
		}
		nodes, cores, gpus = nodes|1<<x.Node, cores+x.Cores, x.GPUs
	}
	return (p.Cores == 0 || cores == p.Cores) && w.mayBe(p, nodes)
}

// mayBe reports whether a part may be on these nodes, as far as it is no matter of amounts.
func (w *World) mayBe(p *Part, nodes uint) bool {
	return nodes != 0 && nodes&^p.On == 0 && p.allowed(bits.OnesCount(nodes)) &&
		(!p.Contiguous || contiguous(nodes)) && p.near(nodes) && w.below(p, nodes)
}

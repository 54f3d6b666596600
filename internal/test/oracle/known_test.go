// SPDX-License-Identifier: BSD-3-Clause

package oracle

// violation is something that fails and is known to.
type violation struct {
	rule, feature string // features or presets of windows, all of which it has; "": of any
	why           string
	rare          int // one of so many windows with the feature fails; 0: of some hundreds
}

// known only shrinks. An entry that no longer fails, in so many windows that one would have, has to
// be taken out: the test says so.
var known = []violation{
	{"2", "endless preempt strict", "a place is kept for a job that could run for ever where it is free now: seed 80315220", 1_000_000},
	{"3b", "reserved preempt", "a stop beside a reservation puts off a place that was told: seeds 80010072, 80647978", 500_000},
	{"3b", "quota", "of each quota only the first who waits for it has a place kept: the next one may come first", 0},
	{"3b", "packed", "places are kept by patience, and who has it most changes as work is done: seed 96012370", 10_000},
	{"3b", "endless preempt", "a job that could not stop an endless one may do so later, in the place of one behind it", 20_000},
	{"3b", "default", "each cycle plans anew, and keeps its caps alone", 2000},
	{"3b", "short", "each cycle plans anew, and keeps its caps alone", 2000},
	{"3b", "throughput", "each cycle plans anew, and keeps its caps alone", 2000},
	{"4a", "preempt", "what jobs behind it get is seen one job after the other: seeds 92024964, 92027357, 92029431", 50_000},
	{"4b", "", "each job's victims are the cheapest for it, one job after the other, and not for all together", 0},
	{"4d", "packed", "compact: of nodes that differ two blocks are missed that would do: seed 90031070", 20_000},
	{"4d", "throughput preempt", "who finds nobody to stop is not asked again once jobs behind it start elsewhere: seed 40033806", 100_000},
	{"6", "", "rows whose nodes are down, tiers before a range of GPUs, and gangs below switches", 1000},
	{"7a", "below", "that there are never nodes enough below such switches is not always found", 0},
	{"7b", "below gang", "the search for a place below a switch may end before it finds one: seed 80247921", 1_000_000},
	{"8b", "packed below", "blocks of nodes are looked for from the first node on: seeds 80073983, 80209564", 300_000},

	{"cluster 3b", "endless preempt", "as in windows: a right that cannot be used yet has no place in the timeline", 20_000},
	{"cluster 3b", "quota", "the time is that of the quota, and nodes are not kept for it", 0},
}

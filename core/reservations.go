// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// reservations is the stage that says which jobs must start, and keeps places for some that cannot.
type reservations struct {
	opts      *AuctionOptions
	space     market.Space // what is free, and what the reservations leave of it
	left      []view       // the latter's memory
	guarded   []guard      // by job of the window
	claims    claims
	drafted   []int32           // by job of the window: its bid in the best draft, or -1
	kept      []nodeset.Segment // what the walk gave to jobs that must start
	order     []int32           // of the walk over the window
	ranks     []float64         // by job of the window
	musts     []bool            // by job of the window: it has to start now
	quotas    []bool            // by quota: a job that waits for it has a place kept
	forQuotas int               // how many
	// an endless job has to start, and one behind it found no place, and may have one yet
	lasting, vague bool
	tables         [][]int64 // what is left of them, now and by reservation
}

// guard is what the walk over the queue has found for a job of the window.
type guard struct {
	reserved bool  // a place is kept for it, from second start on
	start    int64 // of that
	quota    int   // one more than that which is in its way, of which alone a part is kept; or 0
}

// reset begins a cycle of the window, in which nothing is reserved.
func (r *reservations) reset(s *Snapshot, w *window) {
	r.space.Now, r.space.Left = s.Nodes, r.space.Left[:0]
	r.space.Quotas = w.quotas.book
	r.claims.reserved = r.claims.reserved[:0]
	r.claims.forget(true)
	r.guarded = append(r.guarded[:0], make([]guard, len(w.jobs))...)
	r.musts = append(r.musts[:0], make([]bool, len(w.jobs))...)
}

// walk goes down the window in r.order, on the draft that is worth most. Jobs that can start there
// have to start. The first that cannot get reservations, as many as the options say, unless they
// find room by themselves. It stops at the last of these: jobs behind it are free to win or lose,
// if they keep off what is reserved. It ends early when stop, which may be nil, says so. It looks
// at the first job in any case: no cycle without time gives away a machine that was drained for it.
// Then the window's variants, r.guarded and r.space say what the auction has to respect. A job with
// several ways starts in the first that can, or else has the earliest place of all reserved.
//
// It is EASY backfilling (Lifka 1995) for the head of the queue. The head starts as early as limits
// allow, whatever comes after it, and every job gets to the head in the end.
func (r *reservations) walk(s *Snapshot, w *window, draft *market.Book, stop func() bool) error {
	r.claims.stop, r.lasting, r.vague = stop, false, false
	r.quotas, r.forQuotas = append(r.quotas[:0], make([]bool, len(s.Quotas))...), 0
	r.kept = r.kept[:0]
	r.markDraft(w, draft)
	first, places := -1, r.opts.Reservations
	for i, j := range r.order {
		if i > 0 && stop != nil && stop() {
			break
		}
		blocked, err := r.serve(s, w, draft, int(j))
		if err != nil {
			return err
		}
		if !blocked {
			continue
		}
		if first < 0 && r.guarded[j].reserved {
			first = int(j)
		}
		if places--; places == 0 {
			break
		}
	}
	r.bind(s, w, first)
	return nil
}

// settled reports whether the jobs that have to start take all free cores, wherever they do.
func (r *reservations) settled(s *Snapshot, w *window) bool {
	if slices.ContainsFunc(w.jobs, (*Job).mayBeCoreless) {
		return false
	}
	cores, _ := s.Nodes.SumFree()
	for i := range r.claims.starts {
		ways := w.variantsOf(r.claims.starts[i].Job)
		if len(ways) > 1 || ways[0].Spec.Parts != nil {
			return false
		}
		cores -= ways[0].Spec.LeastCores()
	}
	return cores == 0
}

// markDraft notes what the jobs bid in the draft that is worth most.
func (r *reservations) markDraft(w *window, draft *market.Book) {
	r.drafted = r.drafted[:0]
	for range w.jobs {
		r.drafted = append(r.drafted, -1)
	}
	for b := range draft.Bids {
		r.drafted[w.jobOf(&draft.Bids[b])] = int32(b)
	}
}

// serve has job j start, or else keeps its earliest place, unless it finds room by itself: then it
// is blocked. Jobs that stay together may lie anywhere if there never is a place otherwise, as with
// nodes down; if there is none even then, it does nothing.
func (r *reservations) serve(s *Snapshot, w *window, draft *market.Book, j int) (blocked bool, err error) {
	limit := w.jobs[j].TimeLimit
	if quota := r.claims.lacking(w.variantsOf(j), limit, s.Now); quota >= 0 {
		r.waitsForQuota(w, j, quota)
		return false, nil
	}
	for _, loose := range [...]bool{false, true} {
		if loose && !r.opts.Compact {
			break
		}
		r.claims.loose = loose
		if segs, k, ok := r.startable(w, draft, j); ok {
			w.variants[k].Fixed, r.musts[j], r.lasting = segs, true, r.lasting || limit >= endless
			return false, r.claims.start(r.claims.claimOf(j, &w.variants[k].Spec, segs, s.Now, limit))
		}
		if r.findsRoom(s, w, j) {
			return true, nil
		}
		if r.reserve(w, j) {
			return true, nil
		}
	}
	return false, nil
}

// reserve keeps the earliest place of job j. It reports false if there is none. If that is so beside an
// endless job that starts now, which may be elsewhere than the walk has it, nobody behind has one.
func (r *reservations) reserve(w *window, j int) bool {
	if r.vague {
		return false
	}
	kept, ok := r.claims.reserve(j, w.variantsOf(j), w.jobs[j].TimeLimit)
	r.guarded[j].reserved, r.guarded[j].start = ok, kept.Start
	r.vague = !ok && r.lasting && (r.claims.loose || !r.opts.Compact)
	return ok
}

// waitsForQuota is for a job that a quota keeps from starting now, wherever it could be. Of each
// quota the first such job has a place kept from when on others will have given back enough.
// Otherwise smaller jobs of the same quota pass it for ever. It is one more than the options say.
func (r *reservations) waitsForQuota(w *window, j, quota int) {
	r.guarded[j].quota = quota + 1
	if !r.quotas[quota] && r.forQuotas < maxQuotaPlaces {
		r.quotas[quota] = r.reserve(w, j)
		r.forQuotas++
	}
}

// findsRoom reports whether no place is kept for job j since it is narrow and has come lately. Jobs
// end before their limits, and what they leave is for a kept place alone until all of that is free.
// Narrow jobs are better off without, as long as they do not wait for ever.
func (r *reservations) findsRoom(s *Snapshot, w *window, j int) bool {
	job, patience := w.jobs[j], r.opts.Patience
	if r.opts.Promise > 0 {
		patience = min(patience, r.opts.Promise)
	}
	shares := w.machine.sharesOf(uint64(place.LeastCores(&job.Request)), uint64(leastGPUs(&job.Request)))
	return max(shares.cores, shares.gpus) < goals[r.opts.Goal].wide && s.Now-job.Since < patience
}

// startable finds a place where job j can start now: the draft's, if nothing that
// was reserved meanwhile is in the way, or another. variant is the one that it meets.
func (r *reservations) startable(w *window, draft *market.Book, j int) (place []nodeset.Segment, variant int, ok bool) {
	from, limit := len(r.kept), w.jobs[j].TimeLimit
	if b := r.drafted[j]; b >= 0 {
		r.kept = append(r.kept, draft.Allocation(int(b))...)
		k := int(draft.Bids[b].Job)
		if segs := r.kept[from:len(r.kept):len(r.kept)]; r.claims.free(&w.variants[k].Spec, segs, limit) {
			return segs, k, true
		}
		r.kept = r.kept[:from]
	}
	kept, k, ok := r.claims.place(r.kept, w.variantsOf(j), limit, r.claims.clock)
	if !ok {
		return nil, 0, false
	}
	r.kept = kept
	return r.kept[from:len(r.kept):len(r.kept)], int(w.variantStart[j]) + k, true
}

// bind tells the variants which reservations they would run into. The first job with a
// reservation is not bound by it; the others with one do not bid this time, so that
// they can't take each other's places.
func (r *reservations) bind(s *Snapshot, w *window, first int) {
	r.left = r.claims.leave(r.left, s.Nodes)
	r.space.Left, r.tables = r.space.Left[:0], append(r.tables[:0], w.quotas.book.Left[0])
	for k := range r.left {
		r.space.Left, r.tables = append(r.space.Left, r.left[k].nodes), append(r.tables, r.left[k].left)
	}
	r.space.Quotas.Left = r.tables
	for k := range w.variants {
		v, j := &w.variants[k], int(w.variants[k].Job)
		v.Crosses = r.crosses(s, w.jobs[j])
		switch {
		case j == first && len(r.claims.reserved) == 1:
			v.Crosses = 0
		case r.guarded[j].reserved:
			v.Spec = place.Spec{} // makes no bid
		}
	}
}

// waive gives up the place that is kept for job j, the only one, as the job starts now after all.
func (r *reservations) waive(w *window, j int) {
	r.claims.drop(j)
	r.guarded[j] = guard{} // should another one take its place
	r.space.Left = r.space.Left[:0]
	for k := range w.variants {
		w.variants[k].Crosses = 0
	}
}

// release frees the place that is kept for job j. It counts still, and holds nothing.
func (r *reservations) release(j int) {
	r.claims.keep(claim{Job: j, Start: r.claims.drop(j).Start})
	r.guarded[j] = guard{}
}

// holds sets h to the place that is kept for job j. It reports false if none is.
func (r *reservations) holds(j int, h *place.Held) bool {
	i := slices.IndexFunc(r.claims.reserved, func(o claim) bool { return o.Job == j })
	if i < 0 {
		return false
	}
	o := &r.claims.reserved[i]
	*h = o.Held
	h.From, h.To = 1+r.before(o.Start), 1+r.before(o.End)
	return true
}

// crosses is how many reservations a job would run into if it started now.
func (r *reservations) crosses(s *Snapshot, job *Job) int { return r.before(s.Now + job.TimeLimit) }

// before is how many reservations begin before a second.
func (r *reservations) before(second int64) int {
	n := 0
	for n < len(r.space.Left) && r.claims.reserved[n].Start < second {
		n++
	}
	return n
}

// inRankOrder brings the jobs of the window into the order in which they get places: queue order,
// or by what AuctionOptions.Patience says, equals as in the queue. It returns their numbers;
// the slice is r.order.
func (r *reservations) inRankOrder(s *Snapshot, w *window) []int32 {
	r.order, r.ranks = r.order[:0], r.ranks[:0]
	for j := range w.jobs {
		r.order = append(r.order, int32(j))
	}
	if r.opts.Patience == 0 {
		return r.order
	}
	last := w.lastFrom(s)
	for _, job := range w.jobs {
		r.ranks = append(r.ranks, reservationRank(job, w.machine, r.opts.Patience, s.Now, last))
	}
	slices.SortStableFunc(r.order, func(i, k int32) int { return cmp.Compare(r.ranks[k], r.ranks[i]) })
	return r.order
}

// reservationRank is that of a job on a reserved place; last is what lastFrom says.
func reservationRank(job *Job, m totals, patience, now int64, last float64) float64 {
	sum := float64(m.share(job)) / (1 << shareBits)
	sum += float64(max(now-job.Since, 0)) / float64(patience)
	if float64(job.TimeLimit) > last {
		sum += lastClaim
	}
	return float64(max(job.Priority, 1)) * sum
}

// lastFrom is the time limit from which on jobs get places first. Otherwise they start when nothing is
// left to run beside them and the machine is idle around them (longest processing time first,
// Graham 1969, where it matters: at the end). It is known when the whole queue is in the window.
func (w *window) lastFrom(s *Snapshot) float64 {
	if w.next < len(s.Pending) {
		return NoTimeLimit + 1
	}
	b := w.waiting
	b.run(s)
	return b.end(w.machine) * lastShare
}

const (
	// lastShare is which part of the time until all is done a job's limit has to exceed for
	// it to be one of those that may be running last. One would do if a machine were ever
	// filled without gaps.
	lastShare = 1.0 / 2
	// lastClaim is what that adds to a claim: as much as asking for all cores and all GPUs.
	lastClaim = 2
)

// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"reflect"
	"slices"
)

// Rule is one of those that every decision has to satisfy.
type Rule struct {
	Name string
	// Means is the rule in words.
	Means string
	// Features are those of windows that it is about; nil: all. Of Must there is one in each.
	Features, Must []string
	// Draw changes a drawn window to one that the rule is about; nil: it stays.
	Draw func(*World)
	// Broken says how a decision breaks the rule; "" if it does not, or nothing can be said.
	Broken func(*World, *Outcome) string
}

// Rules are all of them. Those of explanations are in reasons.go, those of nodes in nodes.go.
var Rules = []Rule{
	{Name: "1", Means: "feasible at every moment, in every row", Broken: feasible},
	{Name: "2", Means: "work-conserving: no job of the queue could start without delaying a kept place", Broken: conserving},
	{Name: "3a", Means: "the place that is told exists, in all rows", Broken: placesExist},
	{Name: "3b", Means: "a told time is kept", Broken: timesKept},
	{Name: "4a", Means: "nobody is stopped for a job that could start on what is idle or a job behind it gets",
		Must: []string{"preempt"}, Broken: idleFirst},
	{Name: "4b", Means: "no fewer victims would do, and none that cost less",
		Must: []string{"preempt"}, Broken: fewestVictims},
	{Name: "4c", Means: "what a stop frees is for the job it was done for",
		Must: []string{"preempt"}, Broken: placeIsKeptFree},
	{Name: "4d", Means: "who may stop somebody, and could start then, does: parts and quotas, too, and with presets",
		Must: []string{"preempt"}, Broken: rightsAreUsed},
	{Name: "5", Means: "the end of a job without an end is no promise", Must: []string{"endless"}, Broken: noEndNoPromise},
	{Name: "6", Means: "the right nodes for a job that is alone", Draw: alone, Features: alonesFeatures, Broken: rightNodes},
	{Name: "7a", Means: "true explanations: give the job what it is said to lack, and it starts", Broken: trueReasons},
	{Name: "7b", Means: "true words of the plan", Broken: trueWords},
	{Name: "8a", Means: "the same input, the same plan", Broken: same},
	{Name: "8b", Means: "the order of the nodes is of no matter to a job that is alone", Draw: alone, Broken: mirrored},
}

// startedClaims are the claims of what starts, in queue order.
func (o *Outcome) startedClaims(is func(job int) bool) (list []Claim) {
	for _, j := range slices.Sorted(maps.Keys(o.Started)) {
		if is(j) {
			list = append(list, o.Started[j])
		}
	}
	return list
}

func anyJob(int) bool { return true }

// waitsForStop are the jobs that start when running ones are gone.
func (o *Outcome) waitsForStop() map[int]bool {
	is := make(map[int]bool)
	for _, s := range o.Stops {
		for _, j := range s.For {
			is[j] = true
		}
	}
	return is
}

// but are what runs but for the stopped ones.
func (w *World) but(stops []Stop) (list []Claim) {
	for i := range w.Running {
		if !slices.ContainsFunc(stops, func(s Stop) bool { return s.Running == i }) {
			list = append(list, w.Running[i])
		}
	}
	return list
}

// now and then are all claims: as long as those run that are stopped, and when they are gone.
func (w *World) now(o *Outcome) []Claim {
	later := o.waitsForStop()
	return slices.Concat(w.Running, o.startedClaims(func(j int) bool { return !later[j] }))
}

func (w *World) then(o *Outcome) []Claim {
	return slices.Concat(w.but(o.Stops), o.startedClaims(anyJob))
}

// keptPlaces are the jobs that have a place kept, as by is, ascending by time. A place that comes
// free when a job without an end ends is none.
func (w *World) keptPlaces(o *Outcome, is func(Wait) bool) (list []kept) {
	for _, x := range o.Waits {
		if x.Kept && x.Expected < w.Now+Endless/2 && is(x) {
			list = append(list, kept{&w.Jobs[x.Job], x.Expected})
		}
	}
	slices.SortStableFunc(list, func(a, b kept) int { return int(a.at - b.at) })
	return list
}

func feasible(w *World, o *Outcome) string {
	for j, c := range o.Started {
		for _, p := range c.Pieces {
			if !w.Nodes[p.Node].Up {
				return fmt.Sprintf("%s starts on n%d, which is down", w.Jobs[j].ID, p.Node)
			}
		}
		if nodesOf(c.Pieces, -1)&^w.may(&w.Jobs[j], w.Now) != 0 {
			return fmt.Sprintf("%s runs into a reservation, or is not within its own: %+v", w.Jobs[j].ID, c.Pieces)
		}
		if !w.Meets(&c.Way, c.Pieces) {
			return fmt.Sprintf("%s does not get what it asks for: %+v", w.Jobs[j].ID, c.Pieces)
		}
	}
	for when, claims := range [][]Claim{w.now(o), w.then(o)} {
		for _, t := range append([]int64{w.Now}, moments(claims)...) {
			if crowded := w.crowded(t, claims); t >= w.Now && crowded != "" {
				return crowded
			}
			if full := w.over(t, claims); t >= w.Now && full != "" {
				return fmt.Sprintf("too much of %s is taken at %d (%d)", full, t-w.Now, when)
			}
		}
	}
	return ""
}

// couldStart reports whether a job can certainly start beside claims without delaying a kept place:
// wherever these are, it has room for all of its limit.
func (w *World) couldStart(job *Job, claims [][]Claim, places []kept) bool {
	return w.couldStartAt(w.Now, job, claims, places)
}

// couldStartAt is couldStart at another time.
func (w *World) couldStartAt(t int64, job *Job, claims [][]Claim, places []kept) bool {
	end := t + job.Limit
	room := w.Room(t, end, claims[0])
	for _, more := range claims[1:] {
		room.least(w.Room(t, end, more))
	}
	whole := *job // on the idle machine nodes are not reserved either
	whole.Ways = w.compact(job.Ways)
	ways := w.waysAt(&whole, t)
	if room.full != "" || !room.fits(ways, &budget{5000}) {
		return false
	}
	places = slices.DeleteFunc(slices.Clone(places), func(k kept) bool {
		return k.job == job || k.at >= end || k.at+k.job.Limit <= t
	})
	b, seen, escapes := budget{20_000}, false, false
	w.joint(claims[len(claims)-1], places, &b, func(all []Claim) bool {
		seen = true
		with := w.Room(t, end, all)
		with.least(room)
		escapes = !with.fits(ways, &b)
		return !escapes
	})
	return seen && !escapes && !b.spent()
}

func conserving(w *World, o *Outcome) string {
	var tried []*Job
	behind := w.behind(o)
	for _, x := range o.Waits {
		job := &w.Jobs[x.Job]
		if behind[x.Job] || slices.ContainsFunc(tried, func(j *Job) bool { return job.asksAs(j) }) {
			continue
		}
		tried = append(tried, job)
		places := w.keptPlaces(o, func(Wait) bool { return true })
		if claims := w.ifStopped(o, nil); w.couldStart(job, claims, places) && !w.endsSooner(job, claims[0]) {
			return fmt.Sprintf("%s waits (%s: %q), and could start", job.ID, x.Why, x.Reason)
		}
	}
	return ""
}

// endsSooner reports whether a preset may have a job with a range of GPUs wait for more of them: with
// these it can end sooner than if it started now with the fewest, by equation 5 of aucsched2.
func (w *World) endsSooner(job *Job, claims []Claim) bool {
	if w.Options().Goal == 0 {
		return false
	}
	for _, way := range job.Ways {
		low, high := way.Parts[0].MinGPUs, way.Parts[0].MaxGPUs
		for k := low + 1; k <= high && len(way.Parts) == 1 && !way.Parts[0].Mixed; k++ {
			more := *job
			part := way.Parts[0]
			part.MinGPUs, more.Limit = k, job.Limit*int64(low)/int64(k)
			more.Ways = []Way{{Parts: []Part{part}}}
			at := w.earliest(&more, w.Now, claims, &budget{20_000})
			if at < math.MaxInt64 && at+more.Limit < w.Now+job.Limit {
				return true
			}
		}
	}
	return false
}

// behind are the jobs that Depth leaves out: behind the window so many have found no place before them
// that ask for different things, or 16 times as many that ask for anything.
func (w *World) behind(o *Outcome) map[int]bool {
	is := make(map[int]bool)
	var failed []*Job
	requests := 0
	for _, x := range o.Waits {
		job, within := &w.Jobs[x.Job], w.Window == 0 || x.Job < w.Window
		switch {
		case within && x.Kept: // others may start where it can't
		case !within && (requests == w.Depth || x.Job-w.Window >= 16*w.Depth):
			is[x.Job] = true
		case !slices.ContainsFunc(failed, job.asksAs):
			if failed = append(failed, job); !within {
				requests++
			}
		}
	}
	return is
}

// asksAs reports whether two jobs ask for the same.
func (j *Job) asksAs(o *Job) bool {
	return j.Limit == o.Limit && j.Reservation == o.Reservation && reflect.DeepEqual(j.Ways, o.Ways)
}

func placesExist(w *World, o *Outcome) string {
	places, b := w.keptPlaces(o, func(Wait) bool { return true }), budget{200_000}
	if w.possible(w.then(o), places, &b) || b.spent() {
		return ""
	}
	var told []string
	for _, k := range places {
		told = append(told, fmt.Sprintf("%s at %d", k.job.ID, k.at-w.Now))
	}
	return fmt.Sprintf("there are no places as told: %v", told)
}

// after is the machine when what a cycle decided is done: jobs started and stopped. Those that wait
// for a stop wait still.
func (w *World) after(o *Outcome) *World {
	later, next := o.waitsForStop(), *w
	next.Running = append(w.but(o.Stops), o.startedClaims(func(j int) bool { return !later[j] })...)
	next.Jobs, next.Claims = nil, o.Claims
	for j := range w.Jobs {
		if _, started := o.Started[j]; !started || later[j] {
			next.Jobs = append(next.Jobs, w.Jobs[j])
		}
	}
	return &next
}

// pass lets time pass until the next running job ends. It reports false if none ever does.
func (w *World) pass() bool {
	next := w.Now + Endless/2
	for _, c := range w.Running {
		next = min(next, c.To)
	}
	for _, r := range w.Reserved {
		for _, t := range []int64{r.From, r.To} {
			if t > w.Now {
				next = min(next, t)
			}
		}
	}
	for _, c := range w.Running {
		if c.Exempt > w.Now {
			next = min(next, c.Exempt)
		}
	}
	if next == w.Now+Endless/2 {
		return false
	}
	w.Running = slices.DeleteFunc(slices.Clone(w.Running), func(c Claim) bool { return c.To <= next })
	w.Jobs = slices.Clone(w.Jobs)
	for j := range w.Jobs {
		w.Jobs[j].Waited += next - w.Now
	}
	w.Now = next
	return true
}

// bends says of presets that jobs may change places within caps.
func (w *World) bends() bool { return w.Preset != "none" }

// timesKept decides again and again as jobs end by their limits and nothing else happens. Who was
// told a time starts by then, and is never told a later one. With a preset a told job may have to
// wait for as long as the last one would if all were served in its order.
func timesKept(w *World, o *Outcome) string {
	h := hearing{told: map[string]int64{}, o: o}
	h.hear(w)
	for range 16 {
		stopped := len(h.o.Stops) > 0
		if w = w.after(h.o); !stopped && !w.pass() {
			return ""
		}
		var err error
		if h.o, err = w.Decide(); err != nil {
			return err.Error()
		}
		if broken := h.hear(w); broken != "" || len(h.o.Waits) == 0 {
			return broken
		}
	}
	return ""
}

// hearing is what jobs have been told, and the latest time that some could be told.
type hearing struct {
	told   map[string]int64
	latest int64
	at     int64 // when that was
	o      *Outcome
}

// exemptUntil reports whether somebody may be stopped who might not in second t.
func (w *World) exemptUntil(t int64) bool {
	return slices.ContainsFunc(w.Running, func(c Claim) bool { return c.Price > 0 && t < c.Exempt && c.Exempt <= w.Now })
}

// hear says what of an outcome contradicts what jobs were told before.
func (h *hearing) hear(w *World) string {
	if w.exemptUntil(h.at) { // for one who comes first
		clear(h.told)
	}
	h.at = w.Now
	if w.bends() {
		h.latest = max(h.latest, w.inOrder())
	}
	for _, x := range h.o.Waits {
		id := w.Jobs[x.Job].ID
		was, before := h.told[id]
		if !before {
			if x.Kept && x.Expected < w.Now+Endless/2 {
				h.told[id] = x.Expected
			}
			continue
		}
		if w.bends() {
			was = max(was, h.latest)
		}
		switch {
		case x.Kept && x.Expected > was:
			return fmt.Sprintf("%s was told %d and is told %d", id, h.told[id], x.Expected)
		case w.Now >= was:
			return fmt.Sprintf("%s was told %d and waits at %d: %q", id, h.told[id], w.Now, x.Reason)
		case x.Kept && !w.bends():
			h.told[id] = x.Expected
		}
	}
	return ""
}

// inOrder is when the last job starts, if all have their earliest places in the order of the queue, or
// that of the preset's patience. Of long queues it is not known.
func (w *World) inOrder() (latest int64) {
	if len(w.Jobs) > 10 {
		return w.Now + Endless
	}
	latest = w.lastOf(w.Jobs)
	if patience := w.Options().Patience; patience > 0 {
		for _, half := range []float64{2, math.Inf(1)} {
			jobs, rank := slices.Clone(w.Jobs), w.ranks(patience, w.work()/half)
			slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(rank(&b), rank(&a)) })
			latest = max(latest, w.lastOf(jobs))
		}
	}
	return latest
}

// ranks are by priority times shares of cores and GPUs and the wait in units of patience, and 2 more if
// the limit is longer than a time.
func (w *World) ranks(patience int64, long float64) func(*Job) float64 {
	cores, gpus := w.sums()
	return func(j *Job) float64 {
		c, g := j.least()
		sum := c/cores + g/gpus + float64(j.Waited)/float64(patience)
		if float64(j.Limit) > long {
			sum += 2
		}
		return sum * float64(j.Priority)
	}
}

// lastOf is when the last of the jobs starts, if all have their earliest places one after the other.
func (w *World) lastOf(jobs []Job) (latest int64) {
	claims := slices.Clone(w.Running)
	for _, one := range jobs {
		one.Ways = w.compact(one.Ways)
		job, b := &one, budget{20_000}
		at := w.earliest(job, w.Now, claims, &b)
		if at == math.MaxInt64 {
			continue
		}
		latest = max(latest, at)
		w.joint(claims, []kept{{job, at}}, &b, func(all []Claim) bool { claims = all; return false })
	}
	return latest
}

// sums are the machine's cores and GPUs.
func (w *World) sums() (cores, gpus float64) {
	for _, n := range w.Nodes {
		cores, gpus = cores+float64(n.Cores), gpus+float64(n.GPUs)
	}
	return max(cores, 1), max(gpus, 1)
}

// least are the cores and GPUs that a job's first way asks for at least.
func (j *Job) least() (cores, gpus float64) {
	for k := range j.Ways[0].Parts {
		p := &j.Ways[0].Parts[k]
		n := max(p.MinNodes, 1)
		cores += float64(max(p.Cores, n*p.Tasks))
		gpus += float64(n * p.MinGPUs)
	}
	return cores, gpus
}

// work is in how many seconds the machine could be done with all that runs and waits.
func (w *World) work() float64 {
	cores, gpus := w.sums()
	var c, g float64
	for i := range w.Running {
		for _, p := range w.Running[i].Pieces {
			c += float64(w.Running[i].To-w.Now) * float64(p.Cores)
			g += float64(w.Running[i].To-w.Now) * float64(p.GPUs)
		}
	}
	for j := range w.Jobs {
		if w.earliest(&w.Jobs[j], w.Now, nil, &budget{20_000}) == math.MaxInt64 {
			continue // it can never run
		}
		least, gpus := w.Jobs[j].least()
		c, g = c+float64(w.Jobs[j].Limit)*least, g+float64(w.Jobs[j].Limit)*gpus
	}
	return max(c/cores, g/gpus)
}

func idleFirst(w *World, o *Outcome) string {
	later := o.waitsForStop()
	for f := range w.Jobs {
		// others have what is over of stops for those before them
		its := func(s Stop) bool { return s.For[0] == f }
		if !slices.ContainsFunc(o.Stops, its) {
			continue
		}
		before := func(j int) bool { return j < f }
		now := slices.Concat(w.Running, o.startedClaims(func(j int) bool { return before(j) && !later[j] }))
		then := slices.Concat(w.but(slices.DeleteFunc(slices.Clone(o.Stops), its)), o.startedClaims(before))
		places := w.keptPlaces(o, func(x Wait) bool { return before(x.Job) })
		if w.couldStart(&w.Jobs[f], [][]Claim{now, then}, places) {
			return fmt.Sprintf("somebody is stopped for %s, which could start without", w.Jobs[f].ID)
		}
	}
	return ""
}

// mayStop reports whether a job may stop a running one.
func (w *World) mayStop(j *Job, c *Claim) bool {
	return c.Price > 0 && j.Preempts>>c.Class&1 == 1 && c.Exempt <= w.Now
}

func fewestVictims(w *World, o *Outcome) string {
	later := o.waitsForStop()
	others := o.startedClaims(func(j int) bool { return !later[j] })
	var need []kept
	for f := range w.Jobs {
		if later[f] {
			need = append(need, kept{&w.Jobs[f], w.Now})
		}
	}
	for _, s := range o.Stops {
		for _, f := range s.For {
			if !w.mayStop(&w.Jobs[f], &w.Running[s.Running]) {
				return fmt.Sprintf("%s may not be stopped for %s", w.Running[s.Running].ID, w.Jobs[f].ID)
			}
		}
	}
	for set := range 1<<len(o.Stops) - 1 {
		var fewer []Stop
		for i, s := range o.Stops {
			if set>>i&1 == 1 {
				fewer = append(fewer, s)
			}
		}
		if w.wouldDo(o, fewer, others, need) {
			return fmt.Sprintf("%d are stopped, and %d of them would do", len(o.Stops), len(fewer))
		}
	}
	if len(need) == 1 && !w.Strict {
		return w.cheaper(o, need[0].job, others)
	}
	return ""
}

// wouldDo reports whether all jobs of need can certainly start if some running ones are stopped. With
// kept places beside several such jobs nothing is said.
func (w *World) wouldDo(o *Outcome, stops []Stop, others []Claim, need []kept) bool {
	places := w.keptPlaces(o, func(Wait) bool { return true })
	if len(need) == 1 {
		return w.couldStart(need[0].job, [][]Claim{slices.Concat(w.but(stops), others)}, places)
	}
	b := budget{50_000}
	return len(places) == 0 && w.canStart(stops, others, need, &b) && !b.spent()
}

// canStart reports whether all jobs of need can start beside others if some running ones are
// stopped: in all, and those that may only stop some of these on what these leave alone.
func (w *World) canStart(stops []Stop, others []Claim, need []kept, b *budget) bool {
	return !w.joint(slices.Concat(w.but(stops), others), need, b, func(all []Claim) bool {
		placed := all[len(all)-len(need):]
		for set := range 1<<len(stops) - 1 {
			var part []Stop
			for i, s := range stops {
				if set>>i&1 == 1 {
					part = append(part, s)
				}
			}
			claims := slices.Concat(w.but(part), others)
			for i, k := range need {
				within := true // it may stop none beyond part
				for x, s := range stops {
					within = within && (set>>x&1 == 1 || !w.mayStop(k.job, &w.Running[s.Running]))
				}
				if within {
					claims = append(claims, placed[i])
				}
			}
			if w.over(w.Now, claims) != "" {
				return true // not so
			}
		}
		return false
	})
}

// price is what is lost with those that are stopped.
func (w *World) price(stops []Stop) (sum int64) {
	for _, s := range stops {
		sum += w.Running[s.Running].Price
	}
	return sum
}

// cheaper says which cheaper victims would have done for the only job that somebody is stopped for.
func (w *World) cheaper(o *Outcome, job *Job, others []Claim) string {
	places := w.keptPlaces(o, func(Wait) bool { return true })
	for set := range 1 << len(w.Running) {
		stops, ok := w.stopsOf(set, job)
		if ok && w.price(stops) < w.price(o.Stops) && w.couldStart(job, [][]Claim{slices.Concat(w.but(stops), others)}, places) {
			return fmt.Sprintf("%s stops for %d what it could for %d", job.ID, w.price(o.Stops), w.price(stops))
		}
	}
	return ""
}

// stopsOf are the running jobs of a set; it reports false if the job may not stop all of them.
func (w *World) stopsOf(set int, job *Job) (stops []Stop, ok bool) {
	for i := range w.Running {
		if set>>i&1 == 0 {
			continue
		}
		if !w.mayStop(job, &w.Running[i]) {
			return nil, false
		}
		stops = append(stops, Stop{Running: i})
	}
	return stops, true
}

func placeIsKeptFree(w *World, o *Outcome) string {
	if len(o.Stops) == 0 {
		return ""
	}
	later, next := o.waitsForStop(), w.after(o)
	second, err := next.Decide()
	if err != nil {
		return err.Error()
	}
	stops := second.waitsForStop()
	for j := range next.Jobs {
		id := next.Jobs[j].ID
		if !later[slices.IndexFunc(w.Jobs, func(x Job) bool { return x.ID == id })] {
			continue
		}
		if _, ok := second.Started[j]; !ok {
			return fmt.Sprintf("%s does not start when those are gone that were stopped for it", id)
		}
		if stops[j] {
			return fmt.Sprintf("more are stopped for %s", id)
		}
	}
	return ""
}

// rightsAreUsed looks at the first job that waits and may stop somebody.
func rightsAreUsed(w *World, o *Outcome) string {
	behind := w.behind(o)
	for _, x := range o.Waits {
		job := &w.Jobs[x.Job]
		if job.Preempts == 0 || behind[x.Job] {
			continue
		}
		places := w.keptPlaces(o, func(Wait) bool { return true })
		for set := 1; set < 1<<len(w.Running); set++ {
			stops, ok := w.stopsOf(set, job)
			if ok && bits.OnesCount(uint(set)) <= 3 && w.couldStart(job, w.ifStopped(o, stops), places) {
				return fmt.Sprintf("%s waits (%s: %q), and could stop %s", job.ID, x.Why, x.Reason, w.Running[stops[0].Running].ID)
			}
		}
		return ""
	}
	return ""
}

// ifStopped is what a job would have to have room beside if it stopped some: when these are gone, and
// in whatever order others go who are stopped for others. Who waits for some of these starts when they
// are gone, and is not to wait for more of them.
func (w *World) ifStopped(o *Outcome, stops []Stop) (claims [][]Claim) {
	for set := range 1 << len(o.Stops) {
		gone := slices.Clone(stops)
		var there []Stop
		for i, s := range o.Stops {
			if set>>i&1 == 1 {
				gone = append(gone, s)
			} else if !slices.ContainsFunc(stops, func(own Stop) bool { return own.Running == s.Running }) {
				there = append(there, s)
			}
		}
		waits := (&Outcome{Stops: there}).waitsForStop()
		claims = append(claims, slices.Concat(w.but(gone), o.startedClaims(func(j int) bool { return !waits[j] })))
	}
	return claims
}

func noEndNoPromise(w *World, o *Outcome) string {
	for _, x := range o.Waits {
		if x.Kept && x.Expected >= w.Now+Endless/2 {
			return fmt.Sprintf("%s has a place kept when a job without an end ends", w.Jobs[x.Job].ID)
		}
	}
	return ""
}

func same(w *World, o *Outcome) string {
	again, err := w.Decide()
	if err != nil {
		return err.Error()
	}
	if !reflect.DeepEqual(o, again) {
		return "decided again it is decided otherwise"
	}
	return ""
}

// mirrored decides with the nodes in the other order.
func mirrored(w *World, o *Outcome) string {
	m := w.mirror()
	other, err := m.Decide()
	if err != nil {
		return err.Error()
	}
	if len(o.Started) != len(other.Started) {
		return fmt.Sprintf("%d start, and %d with the nodes in the other order", len(o.Started), len(other.Started))
	}
	for i := range o.Waits {
		if a, b := &o.Waits[i], &other.Waits[i]; a.Kept != b.Kept || a.Kept && a.Expected != b.Expected {
			return fmt.Sprintf("it is told %d (%v), and %d (%v) with the nodes in the other order", a.Expected, a.Kept, b.Expected, b.Kept)
		}
	}
	return ""
}

// mirror has the nodes in the other order.
func (w *World) mirror() *World {
	m, last := w.clone(), len(w.Nodes)-1
	mask := func(nodes uint) (other uint) {
		for n := range w.Nodes {
			other |= nodes >> n & 1 << (last - n)
		}
		return other
	}
	slices.Reverse(m.Nodes)
	m.Levels = slices.Clone(m.Levels)
	for l := range m.Levels {
		m.Levels[l] = slices.Clone(m.Levels[l])
		slices.Reverse(m.Levels[l])
	}
	for i := range m.Running {
		m.Running[i].Pieces = slices.Clone(m.Running[i].Pieces)
		for k := range m.Running[i].Pieces {
			m.Running[i].Pieces[k].Node = last - m.Running[i].Pieces[k].Node
		}
		slices.SortStableFunc(m.Running[i].Pieces, func(a, b Piece) int { return cmp.Or(a.Part-b.Part, a.Node-b.Node) })
	}
	for i := range m.Reserved {
		m.Reserved[i].Nodes = mask(m.Reserved[i].Nodes)
	}
	for j := range m.Jobs {
		m.Jobs[j].Prefer = mask(m.Jobs[j].Prefer)
		for k := range m.Jobs[j].Ways {
			for p := range m.Jobs[j].Ways[k].Parts {
				m.Jobs[j].Ways[k].Parts[p].On = mask(m.Jobs[j].Ways[k].Parts[p].On)
			}
		}
	}
	return m
}

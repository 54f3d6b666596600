// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/hostlist"
)

// demand is what a job needs of nodes, as far as its record says it.
type demand struct {
	nodes, most   int // 0: any number
	cpus, perNode int
	memory        int // MB on a node
	memoryPerCPU  int
	gres          map[string]int // on each node
	gresInAll     map[string]int // of the job
	features      string
	within        []string // partitions
	required      []string // --nodelist
	without       []string // --exclude
	whole         bool
	reservation   string
	limit         time.Duration // 0: none
}

func parseDemand(f fields) demand {
	d := demand{features: f.text("Features"), within: list(f.text("Partition")), required: expand(f.text("ReqNodeList")),
		without: expand(f.text("ExcNodeList")), reservation: f.text("Reservation"), limit: f.minutes("TimeLimit")}
	if exclusive, ok := f["Exclusive"]; ok { // from 26.05 on, where OverSubscribe is another matter
		d.whole = exclusive == "NODE" || exclusive == "TOPO"
	} else {
		d.whole = f["OverSubscribe"] == "NO" || strings.HasPrefix(f["OverSubscribe"], "EXCLUSIVE")
	}
	d.nodes, _ = parseCount(f.text("NumNodes"))
	d.cpus, _ = parseCount(f.text("NumCPUs"))
	d.perNode = max(f.count("MinCPUsNode"), 1)
	d.memory, d.memoryPerCPU = f.count("MinMemoryNode"), f.count("MinMemoryCPU")
	d.gres, d.gresInAll = parseTres(f.text("TresPerNode")), parseTres(f.text("TresPerJob"))
	return d
}

// setMost takes the most nodes that the job may have, 0 for any number: then a node must have
// its part of the CPUs.
func (d *demand) setMost(nodes int) {
	if d.most = nodes; nodes > 0 {
		d.perNode = max(d.perNode, d.cpus/nodes)
	}
}

// parseTres reads "gres:gpu:a100:2,gres:nic:1" and "gres/gpu:2" as what is asked for, each type by
// itself.
func parseTres(text string) map[string]int {
	all := map[string]int{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimPrefix(strings.TrimPrefix(strings.Replace(part, "=", ":", 1), "gres:"), "gres/")
		words := strings.Split(part, ":")
		n := number(words[len(words)-1])
		switch {
		case part == "":
		case len(words) == 1:
			all[part] = 1
		case n == 0: // gpu:a100
			all[part]++
		default:
			all[strings.Join(words[:len(words)-1], ":")] += n
		}
	}
	return all
}

// What a node is to a job.
type place int

const (
	suits place = iota
	notMeant
	lacks    // it can never be had as it is: no such feature, too small
	down     // it may be, when it is up
	reserved // for others, now
	ahead    // for others, before the job's time limit would be over
	busy
)

// look says what a node is to the job, and in words why.
func (d *demand) look(n *node, m *machine, now time.Time) (place, string) {
	if !overlap(d.within, n.partitions) || slices.Contains(d.without, n.name) ||
		len(d.required) > 0 && !slices.Contains(d.required, n.name) {
		return notMeant, ""
	}
	if !hasFeatures(d.features, n.features) {
		return lacks, "lack the features " + d.features
	}
	if what := d.missing(n.cpus, n.memory, n.gres); what != "" {
		return lacks, "have too few " + what
	}
	if why := n.unusable(); why != "" {
		return down, "are " + why
	}
	if r := m.reserving(n.name, d.reservation, now); r != nil {
		return reserved, "are reserved (" + r.name + ")"
	}
	if d.whole && n.busy > 0 {
		return busy, "are not free as a whole"
	}
	free := maps.Clone(n.gres)
	for k, v := range n.used {
		free[k] -= v
	}
	if what := d.missing(n.cpus-n.busy, n.memory-n.held, free); what != "" {
		return busy, "have too few free " + what
	}
	if slices.Contains(n.states, "COMPLETING") {
		return busy, "are still being cleaned up"
	}
	if r := m.coming(n.name, d.reservation, now, d.limit); r != nil {
		return ahead, fmt.Sprintf("are reserved from %s on (%s), before its time limit is over", clock(r.start), r.name)
	}
	return suits, ""
}

// missing says of what there is too little for the job on a node; "" if it suffices.
func (d *demand) missing(cpus, memory int, gres map[string]int) string {
	switch need := d.memory + d.memoryPerCPU*d.perNode; {
	case cpus < d.perNode:
		return "CPUs"
	case memory < need:
		return "MB of memory"
	}
	for _, kind := range slices.Sorted(maps.Keys(d.gres)) {
		if gres[kind] < d.gres[kind] {
			return kind
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(d.gresInAll)) {
		if gres[kind] < 1 {
			return kind
		}
	}
	return ""
}

// reserving is the reservation that has the node now, and is not the job's own.
func (m *machine) reserving(name, own string, now time.Time) *reservation {
	for i, r := range m.reservations {
		if r.name != own && r.nodes[name] && !r.start.After(now) && r.end.After(now) {
			return &m.reservations[i]
		}
	}
	return nil
}

// coming is the next reservation of the node into which a job that starts now would run.
func (m *machine) coming(name, own string, now time.Time, limit time.Duration) *reservation {
	var next *reservation
	for i, r := range m.reservations {
		if r.name == own || !r.nodes[name] || !r.start.After(now) || limit > 0 && !r.start.Before(now.Add(limit)) {
			continue
		}
		if next == nil || r.start.Before(next.start) {
			next = &m.reservations[i]
		}
	}
	return next
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// hasFeatures evaluates a&b and a|b; what it does not know counts as met.
func hasFeatures(expr string, have []string) bool {
	if expr == "" || strings.ContainsAny(expr, "[]()*") {
		return true
	}
	for alternative := range strings.SplitSeq(expr, "|") {
		all := true
		for f := range strings.FieldsFuncSeq(alternative, func(r rune) bool { return r == '&' || r == ',' }) {
			all = all && slices.Contains(have, f)
		}
		if all {
			return true
		}
	}
	return false
}

// fit is how the nodes are to the job, all together.
type fit struct {
	kind     Kind
	meant    int            // nodes that it may use at all
	suiting  int            // that suit it now
	cpus     int            // free on these
	why      map[string]int // nodes by why they do not
	of       map[place][]string
	first    *reservation // in the way
	holders  []Holder
	gresFree map[string]int
}

func (d *demand) fit(m *machine, now time.Time) *fit {
	f := &fit{why: map[string]int{}, of: map[place][]string{}, gresFree: map[string]int{}}
	for i := range m.nodes {
		n := &m.nodes[i]
		p, why := d.look(n, m, now)
		if p == notMeant {
			continue
		}
		f.meant++
		f.of[p] = append(f.of[p], n.name)
		switch p {
		case suits:
			f.suiting++
			f.cpus += n.cpus - n.busy
			for kind := range d.gresInAll {
				f.gresFree[kind] += n.gres[kind] - n.used[kind]
			}
		case ahead:
			if r := m.coming(n.name, d.reservation, now, d.limit); f.first == nil || r.start.Before(f.first.start) {
				f.first = r
			}
		}
		if why != "" {
			f.why[why]++
		}
	}
	f.kind = f.judge(d)
	f.holders = m.holding(f.of[busy])
	return f
}

// enough says whether so many nodes, with so many more of a kind, would do.
func (f *fit) enough(d *demand, more ...place) bool {
	n := f.suiting
	for _, p := range more {
		n += len(f.of[p])
	}
	return n >= max(d.nodes, 1)
}

func (f *fit) judge(d *demand) Kind {
	switch {
	case f.enough(d) && f.cpus >= d.cpus && f.hasGres(d):
		return Turn
	case f.enough(d, ahead) && len(f.of[ahead]) > 0 && !f.enough(d):
		return ReservedAhead
	case f.enough(d, ahead, busy) && len(f.of[busy]) > 0:
		return Resources
	case f.enough(d, ahead, busy, down, reserved) && !f.enough(d, ahead, busy):
		return NodesDown
	case !f.enough(d, ahead, busy, down, reserved):
		return Impossible
	}
	return Resources
}

func (f *fit) hasGres(d *demand) bool {
	for kind, n := range d.gresInAll {
		if f.gresFree[kind] < n {
			return false
		}
	}
	return true
}

// holding are the jobs on nodes, those that end first first.
func (m *machine) holding(nodes []string) []Holder {
	on := map[string]bool{}
	for _, n := range nodes {
		on[n] = true
	}
	var all []Holder
	for _, h := range m.holders {
		if slices.ContainsFunc(h.names, func(n string) bool { return on[n] }) {
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b Holder) int {
		if a.Until.IsZero() != b.Until.IsZero() {
			return cmp.Compare(boolInt(a.Until.IsZero()), boolInt(b.Until.IsZero()))
		}
		return a.Until.Compare(b.Until)
	})
	return all
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// facts says it in sentences.
func (f *fit) facts(d *demand) []string {
	need := fmt.Sprintf("it needs %s with %s each", cli.Count(max(d.nodes, 1), "node"), d.words())
	if d.cpus > d.perNode*max(d.nodes, 1) {
		need += fmt.Sprintf(", %d CPUs in all", d.cpus)
	}
	facts := []string{fmt.Sprintf("%s; of the %d that it may use %s it now", need, f.meant, agree(f.suiting, "suit"))}
	for _, why := range slices.SortedFunc(maps.Keys(f.why), func(a, b string) int {
		return cmp.Or(f.why[b]-f.why[a], strings.Compare(a, b))
	}) {
		facts = append(facts, agree(f.why[why], why))
	}
	for p, name := range map[place]string{down: "not up", reserved: "reserved"} {
		if len(f.of[p]) > 0 {
			facts = append(facts, name+": "+compress(f.of[p]))
		}
	}
	slices.Sort(facts[1:])
	return facts
}

// words are what a node must have.
func (d *demand) words() string {
	all := []string{cli.Count(d.perNode, "CPU")}
	if d.whole {
		all = []string{"all CPUs"}
	}
	if need := d.memory + d.memoryPerCPU*d.perNode; need > 0 {
		all = append(all, fmt.Sprintf("%d MB", need))
	}
	for _, kind := range slices.Sorted(maps.Keys(d.gres)) {
		all = append(all, fmt.Sprintf("%s:%d", kind, d.gres[kind]))
	}
	for _, kind := range slices.Sorted(maps.Keys(d.gresInAll)) {
		all = append(all, fmt.Sprintf("some of %s:%d", kind, d.gresInAll[kind]))
	}
	return strings.Join(all, ", ")
}

func compress(names []string) string {
	text, err := hostlist.Compress(names)
	if err != nil {
		return strings.Join(names, ",")
	}
	return text
}

// agree is a number of nodes with what they do, for which the verb comes first in the plural.
func agree(n int, does string) string {
	verb, rest, _ := strings.Cut(does+" ", " ")
	if n == 1 {
		verb = cmp.Or(map[string]string{"are": "is", "have": "has"}[verb], verb+"s")
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", n, verb, rest))
}

func clock(t time.Time) string { return t.Format("2006-01-02T15:04:05") }

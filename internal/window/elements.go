package window

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

type nodeJSON struct {
	Name      string `json:"name"`
	Cores     int    `json:"cores"`
	GPUs      int    `json:"gpus"`
	FreeCores *int   `json:"free_cores"`
	FreeGPUs  *int   `json:"free_gpus"`
	State     string `json:"state"`
}

type jobJSON struct {
	ID        string `json:"id"`
	Priority  int64  `json:"priority"`
	TimeLimit *int64 `json:"time_limit_s"`
	Waited    int64  `json:"waited_s"`
	requestJSON
	Alternatives json.RawMessage `json:"alternatives"`
}

// requestJSON is one way to meet a job.
type requestJSON struct {
	Cores        int      `json:"cores"`
	Nodes        intRange `json:"nodes"`
	TasksPerNode int      `json:"tasks_per_node"`
	GPUs         intRange `json:"gpus_per_node"`
	GPUsUniform  *bool    `json:"gpus_uniform"`
	Contiguous   bool     `json:"contiguous"`
}

type runningJSON struct {
	ID    string `json:"id"`
	Nodes string `json:"nodes"`
	Cores int    `json:"cores_per_node"`
	GPUs  int    `json:"gpus_per_node"`
	End   int64  `json:"end_s"`
}

// intRange is N or MIN-MAX, as a JSON number or string; the zero value is absent.
type intRange struct{ low, high int }

// UnmarshalJSON implements json.Unmarshaler.
func (r *intRange) UnmarshalJSON(text []byte) error {
	s := string(text)
	if s == "null" {
		return nil
	}
	if strings.HasPrefix(s, `"`) {
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
	}
	low, high, ranged := strings.Cut(s, "-")
	if !ranged {
		high = low
	}
	a, errA := strconv.ParseUint(low, 10, 31)
	b, errB := strconv.ParseUint(high, 10, 31)
	if errA != nil || errB != nil {
		return fmt.Errorf("%.40q is neither N nor MIN-MAX", s)
	}
	if a > b {
		return fmt.Errorf("%q: the range is empty", s)
	}
	r.low, r.high = int(a), int(b)
	return nil
}

func (p *parser) node(i int, raw json.RawMessage) error {
	var n nodeJSON
	what := fmt.Sprintf("nodes[%d]", i)
	if err := p.element(what, raw, &n); err != nil {
		return err
	}
	if n.Name == "" {
		return p.fail("%s: name: is missing", what)
	}
	what += fmt.Sprintf(" (%.60s)", n.Name)
	names, err := p.expand(n.Name)
	if err != nil {
		return p.fail("%s: name: %v", what, err)
	}
	if len(p.names)+len(names) > nodeset.MaxNodes {
		return p.fail("%s: name: more than %d nodes in all", what, nodeset.MaxNodes)
	}
	up := true
	switch n.State {
	case "", "up":
	case "drained", "down":
		up = false
	default:
		return p.fail("%s: state: %q is not up, drained or down", what, n.State)
	}
	freeCores, freeGPUs := n.Cores, n.GPUs
	if n.FreeCores != nil {
		freeCores = *n.FreeCores
	}
	if n.FreeGPUs != nil {
		freeGPUs = *n.FreeGPUs
	}
	for _, f := range []struct {
		field  string
		v, max int
	}{
		{"cores", n.Cores, bids.MaxCoresPerNode}, {"gpus", n.GPUs, bids.MaxGPUsPerNode},
		{"free_cores", freeCores, n.Cores}, {"free_gpus", freeGPUs, n.GPUs},
	} {
		if f.v < 0 || f.v > f.max {
			return p.fail("%s: %s: %d is not in 0-%d", what, f.field, f.v, f.max)
		}
	}
	for _, name := range names {
		if _, twice := p.index[name]; twice {
			return p.fail("%s: name: node %s is there twice", what, name)
		}
		p.index[name] = len(p.names)
		p.names = append(p.names, name)
		p.total = append(p.total, nodeset.Capacity{Cores: uint16(n.Cores), GPUs: uint8(n.GPUs)})
		p.free = append(p.free, nodeset.Capacity{Cores: uint16(freeCores), GPUs: uint8(freeGPUs)})
		p.freeSet = append(p.freeSet, n.FreeCores != nil || n.FreeGPUs != nil)
		p.up = append(p.up, up)
	}
	return nil
}

// expand is hostlist.Expand for at most as many names as a machine may have nodes.
func (p *parser) expand(expr string) ([]string, error) {
	n, err := hostlist.Count(expr)
	if err != nil {
		return nil, err
	}
	if n > nodeset.MaxNodes {
		return nil, fmt.Errorf("more than %d nodes", nodeset.MaxNodes)
	}
	return hostlist.Expand(expr)
}

func (p *parser) job(i int, raw json.RawMessage) error {
	var j jobJSON
	at := p.at
	what := fmt.Sprintf("jobs[%d]", i)
	if err := p.element(what, raw, &j); err != nil {
		return err
	}
	if j.ID == "" {
		return p.fail("%s: id: is missing", what)
	}
	what += fmt.Sprintf(" (%.60s)", j.ID)
	if p.jobs[j.ID] {
		return p.fail("%s: id: there are two jobs of this id", what)
	}
	p.jobs[j.ID] = true
	r, err := j.request()
	if err != nil {
		return p.fail("%s: %v", what, err)
	}
	if j.Priority < 1 || j.Priority > core.MaxPriority {
		return p.fail("%s: priority: %d is not in 1-%d", what, j.Priority, int64(core.MaxPriority))
	}
	limit := int64(core.NoTimeLimit)
	if j.TimeLimit != nil {
		limit = *j.TimeLimit
	}
	if limit < 1 || limit > core.NoTimeLimit {
		return p.fail("%s: time_limit_s: %d is not in 1-%d", what, limit, int64(core.NoTimeLimit))
	}
	if j.Waited < 0 || j.Waited > core.NoTimeLimit {
		return p.fail("%s: waited_s: %d is not in 0-%d", what, j.Waited, int64(core.NoTimeLimit))
	}
	job := &core.Job{ID: j.ID, Request: r, Priority: j.Priority, TimeLimit: limit, Since: -j.Waited} // the window's time is 0
	if len(j.Alternatives) > 0 {
		p.at = at + int64(bytes.Index(raw, j.Alternatives)) // the text is a copy of that part of raw
		if job.Alternatives, err = p.alternatives(what, j.Alternatives); err != nil {
			return err
		}
	}
	p.queue = append(p.queue, job)
	return nil
}

func (p *parser) runningJob(i int, raw json.RawMessage) error {
	var j runningJSON
	what := fmt.Sprintf("running[%d]", i)
	if err := p.element(what, raw, &j); err != nil {
		return err
	}
	what += fmt.Sprintf(" (%.60s)", j.ID)
	if p.jobs[j.ID] || j.ID == "" {
		return p.fail("%s: id: is missing, or that of another job", what)
	}
	p.jobs[j.ID] = true
	if j.Cores < 1 || j.Cores > bids.MaxCoresPerNode || j.GPUs < 0 || j.GPUs > bids.MaxGPUsPerNode {
		return p.fail("%s: %d cores_per_node and %d gpus_per_node are out of range", what, j.Cores, j.GPUs)
	}
	if j.End < 0 || j.End > core.NoTimeLimit {
		return p.fail("%s: end_s: %d is not in 0-%d", what, j.End, int64(core.NoTimeLimit))
	}
	names, err := p.expand(j.Nodes)
	if err != nil {
		return p.fail("%s: nodes: %v", what, err)
	}
	mask := nodeset.NewMask(len(p.names))
	for _, name := range names {
		n, ok := p.index[name]
		if !ok {
			return p.fail("%s: nodes: there is no node %s", what, name)
		}
		if mask.Has(n) {
			return p.fail("%s: nodes: node %s is there twice", what, name)
		}
		mask.Set(n)
		if !p.freeSet[n] {
			if int(p.free[n].Cores) < j.Cores || int(p.free[n].GPUs) < j.GPUs {
				return p.fail("%s: node %s has %d cores and %d GPUs left for it", what, name, p.free[n].Cores, p.free[n].GPUs)
			}
			p.free[n].Cores -= uint16(j.Cores)
			p.free[n].GPUs -= uint8(j.GPUs)
		}
	}
	var segs []nodeset.Segment
	for n := range p.names {
		if mask.Has(n) {
			segs = nodeset.Append(segs, nodeset.Segment{First: int32(n), Last: int32(n), Cores: uint16(j.Cores), GPUs: uint8(j.GPUs)})
		}
	}
	p.running = append(p.running, core.Running{ID: j.ID, End: j.End, Segs: segs})
	return p.checkHeld(what, segs)
}

// checkHeld makes sure that what running jobs hold is indeed not free, counting all
// of them, so that it can be given back when they end.
func (p *parser) checkHeld(what string, segs []nodeset.Segment) error {
	if p.held == nil {
		p.held = make([]struct{ cores, gpus int }, len(p.names))
	}
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			h := &p.held[n]
			h.cores += int(s.Cores)
			h.gpus += int(s.GPUs)
			cores, gpus := int(p.free[n].Cores)+h.cores, int(p.free[n].GPUs)+h.gpus
			if cores > int(p.total[n].Cores) || gpus > int(p.total[n].GPUs) {
				return p.fail("%s: node %s: what is free and what runs add up to %d cores and %d GPUs, it has %d and %d",
					what, p.names[n], cores, gpus, p.total[n].Cores, p.total[n].GPUs)
			}
		}
	}
	return nil
}

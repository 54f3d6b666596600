// SPDX-License-Identifier: BSD-3-Clause

package program

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/nodeset"
)

// passedOver are the fields of a plan that "aucsched plan" prints besides decisions.
var passedOver = []string{"policy", "objective", "bound", "status", "cycle_ms", "started", "bids", "bid_classes", "rows", "claims"}

// decision is what it says of a job.
type decision struct {
	Job         name            `json:"job"`
	Start       bool            `json:"start"`
	Nodes       string          `json:"nodes"`
	Cores       *format.PerNode `json:"cores_per_node"`
	GPUs        *format.PerNode `json:"gpus_per_node"`
	GPUsOfNodes *format.PerNode `json:"gpus_of_nodes"`
	Alternative int             `json:"alternative"`
	Reason      string          `json:"reason"`
	Expected    *int64          `json:"expected_start_s"`
	BidClass    string          `json:"bid_class"`
	Explanation json.RawMessage `json:"explanation"`
	GPUShare    int64           `json:"gpu_share"`
	SharedGPU   int             `json:"shared_gpu"`
	Components  json.RawMessage `json:"components"`
}

// decisionFields are the names of its fields.
var decisionFields = []string{"job", "start", "nodes", "cores_per_node", "gpus_per_node", "gpus_of_nodes", "alternative",
	"reason", "expected_start_s"}

// name is the id of a job, which a program may write as a number.
type name string

// UnmarshalJSON implements json.Unmarshaler.
func (n *name) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') {
		*n = name(text)
		return nil
	}
	return json.Unmarshal(text, (*string)(n))
}

// parse reads a line.
func parse(line []byte) ([]decision, error) {
	if text := bytes.TrimSpace(line); len(text) == 0 || text[0] != '{' {
		return nil, fmt.Errorf("the answer is no JSON object: %.60q; what is not a plan belongs on standard error", text)
	}
	fields := make(map[string]json.RawMessage)
	if err := strictly(line, &fields); err != nil {
		return nil, fmt.Errorf("the answer: %w", err)
	}
	for field := range fields {
		if field != "decisions" && field != "preempted" && !slices.Contains(passedOver, field) {
			return nil, fmt.Errorf("%.60q is no field of a plan%s", field, input.Hint(field, append([]string{"decisions"}, passedOver...)))
		}
	}
	if p := bytes.TrimSpace(fields["preempted"]); len(p) > 0 && !bytes.Equal(p, []byte("null")) && !bytes.Equal(p, []byte("[]")) {
		return nil, errors.New("preempted: jobs of a simulation are not stopped")
	}
	var all []json.RawMessage
	if text, there := fields["decisions"]; !there {
		return nil, errors.New(`decisions: missing; a plan that starts nothing is {"decisions": []}`)
	} else if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return nil, errors.New("decisions: must be a list")
	}
	out := make([]decision, len(all))
	for i, text := range all {
		if err := strictly(text, &out[i]); err != nil {
			return nil, fmt.Errorf("decisions[%d]: %w", i, err)
		}
	}
	return out, nil
}

var noField = regexp.MustCompile(`^json: unknown field "(.*)"$`)

// strictly decodes one value of which every field is known.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	case errors.As(err, &kind):
		return fmt.Errorf("%s: found a JSON %s", cmp.Or(kind.Field, "it"), kind.Value)
	case err != nil:
		if m := noField.FindStringSubmatch(err.Error()); m != nil {
			return fmt.Errorf("%.60q is no field of a decision%s", m[1], input.Hint(m[1], decisionFields))
		}
		return err
	}
	if d.More() {
		return errors.New("something follows the JSON")
	}
	return nil
}

// take makes p of what the program said of a snapshot. Nodes are as before when it returns.
func (x *Policy) take(s *core.Snapshot, said []decision, p *core.Plan) (err error) {
	p.Decisions, p.Preempted, p.Claims, p.Objective, p.Bound, p.Stats = p.Decisions[:0], p.Preempted[:0], nil, 0, 0, core.Stats{}
	place := make(map[string]int, len(s.Pending))
	for i, job := range s.Pending {
		place[job.ID] = i
	}
	x.selection.Tree = s.Topology
	defer func() {
		for i := range p.Decisions {
			if d := &p.Decisions[i]; d.Start {
				err = cmp.Or(err, s.Nodes.Release(d.Segs, d.Uses...))
			}
		}
		slices.SortFunc(p.Decisions, func(a, b core.Decision) int { return cmp.Compare(a.Job, b.Job) })
	}()
	seen := make(map[int]bool, len(said))
	for i := range said {
		of := fmt.Sprintf("decisions[%d]", i)
		job, waits := place[string(said[i].Job)]
		switch {
		case said[i].Job == "":
			return fmt.Errorf("%s: job: missing", of)
		case !waits:
			return fmt.Errorf("%s: job: no job %.60q waits", of, said[i].Job)
		case seen[job]:
			return fmt.Errorf("%s (job %.60s): the job is there twice", of, said[i].Job)
		}
		seen[job] = true
		d, err := x.decide(s, job, &said[i])
		if err != nil {
			return fmt.Errorf("%s (job %.60s): %w", of, said[i].Job, err)
		}
		p.Decisions = append(p.Decisions, d)
	}
	p.Stats.Jobs = len(p.Decisions)
	return nil
}

// decide is what it says of one job, whose place, if it starts, is taken.
func (x *Policy) decide(s *core.Snapshot, number int, said *decision) (d core.Decision, err error) {
	job := s.Pending[number]
	d.Job, d.Reason = number, said.Reason
	if said.Expected != nil {
		if *said.Expected < 0 || *said.Expected > math.MaxInt64/4 {
			return d, fmt.Errorf("expected_start_s: %d: must be seconds from now", *said.Expected)
		}
		d.Kept, d.Expected = true, s.Now+*said.Expected
	}
	if !said.Start {
		if said.Nodes != "" {
			return d, errors.New(`nodes: of a job that does not start; "start" must be true`)
		}
		d.Reason = cmp.Or(d.Reason, "not started by the program")
		return d, nil
	}
	d.Kept, d.Expected, d.Reason = false, 0, ""
	var r bids.Request
	ok := said.Alternative >= 0
	if ok {
		r, ok = job.Way(said.Alternative)
	}
	if !ok {
		return d, fmt.Errorf("alternative: %d: the job has %d", said.Alternative, len(job.Alternatives))
	}
	d.Alternative, d.Uses = said.Alternative, r.Uses
	if said.Nodes == "" {
		if said.Cores != nil || said.GPUs != nil || said.GPUsOfNodes != nil {
			return d, errors.New("nodes: missing, where cores_per_node or gpus_per_node are given")
		}
		d.Segs, d.Start, err = x.selection.Select(s.Nodes, &r, nil, nil)
		if !d.Start {
			d.Segs, d.Uses, d.Alternative, d.Reason = nil, nil, 0, "no nodes that are free suit it"
		}
		if err != nil || !d.Start {
			return d, err
		}
	} else if d.Segs, err = x.machine.segments(said, &r); err != nil {
		return d, err
	}
	if err := s.Nodes.Allocate(d.Segs, r.Uses...); err != nil {
		return d, fmt.Errorf("nodes: %.200s: %w", said.Nodes, err)
	}
	d.Start = true
	return d, nil
}

// segments are the nodes that a decision names, with what it takes of each.
func (m *machine) segments(said *decision, r *bids.Request) ([]nodeset.Segment, error) {
	n, err := hostlist.Count(said.Nodes)
	if err == nil && n > len(m.names) {
		err = fmt.Errorf("%d nodes: the machine has %d", n, len(m.names))
	}
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	names, err := hostlist.Expand(said.Nodes)
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	cores, err := coresOf(said, r, len(names))
	if err != nil {
		return nil, err
	}
	gpus := &format.PerNode{r.MinGPUs}
	if said.GPUs != nil {
		gpus = said.GPUs
	}
	if said.GPUsOfNodes != nil {
		gpus = said.GPUsOfNodes
	}
	if !gpus.Covers(len(names)) {
		return nil, fmt.Errorf("gpus_per_node: %d numbers for %d nodes", len(*gpus), len(names))
	}
	all := make([]nodeset.Segment, len(names))
	for i, name := range names {
		node, there := m.index[strings.TrimSpace(name)]
		if !there {
			return nil, fmt.Errorf("nodes: %.60q is no node: they are n1 to n%d", name, len(m.names))
		}
		c, g := cores.At(i), gpus.At(i)
		if c < 0 || c > math.MaxUint16 {
			return nil, fmt.Errorf("cores_per_node: %d: must be 0 to %d", c, math.MaxUint16)
		}
		if g < 0 || g > math.MaxUint8 {
			return nil, fmt.Errorf("gpus_per_node: %d: must be 0 to %d", g, math.MaxUint8)
		}
		all[i] = nodeset.Segment{First: int32(node), Last: int32(node), Cores: uint16(c), GPUs: uint8(g)}
	}
	slices.SortFunc(all, func(a, b nodeset.Segment) int { return cmp.Compare(a.First, b.First) })
	segs := all[:0:0]
	for i, s := range all {
		if i > 0 && all[i-1].First == s.First {
			return nil, fmt.Errorf("nodes: %s is there twice", m.names[s.First])
		}
		segs = nodeset.Append(segs, s)
	}
	return segs, nil
}

// coresOf is what each of n nodes gives: where the program does not say it, as many as the others.
func coresOf(said *decision, r *bids.Request, n int) (format.PerNode, error) {
	switch {
	case said.Cores != nil && !said.Cores.Covers(n):
		return nil, fmt.Errorf("cores_per_node: %d numbers for %d nodes", len(*said.Cores), n)
	case said.Cores != nil:
		return *said.Cores, nil
	case r.Cores == 0:
		return format.PerNode{r.TasksPerNode}, nil
	case r.Cores%n != 0:
		return nil, fmt.Errorf("cores_per_node: missing: %d cores on %d nodes are not the same number on each", r.Cores, n)
	}
	return format.PerNode{r.Cores / n}, nil
}

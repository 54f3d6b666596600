// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// requests reads a list of at most so many requests, a field of what; the text begins at p.at.
func (p *parser) requests(what, name string, text json.RawMessage, most int) (list []bids.Request, err error) {
	from, d := p.at, json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, p.fail("%s: %s: is a list of requests", what, name)
	}
	for k := 0; d.More(); k++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, p.fail("%s: %s: %v", what, name, err)
		}
		p.at = from + d.InputOffset() - int64(len(raw))
		if k == most {
			return nil, p.fail("%s: %s: more than %d", what, name, most)
		}
		field, at := fmt.Sprintf("%s[%d]", name, k), p.at
		var j format.Request
		if err := p.element(what+": "+field, raw, &j); err != nil {
			return nil, err
		}
		if name == "components" && len(j.Components) > 0 {
			return nil, p.fail("%s: %s.components: components have none themselves", what, field)
		}
		if name == "components" && j.GPUShare != 0 {
			return nil, p.fail("%s: %s.gpu_share: %d: jobs of several components have whole GPUs only", what, field, j.GPUShare)
		}
		r, err := p.request(what+": "+field, what+": "+field+".", &j, raw, at)
		if err != nil {
			return nil, err
		}
		if j.Eligible != nil {
			p.deferEligible(what+": "+field, *j.Eligible, func(m nodeset.Mask) { list[k].Eligible = m })
		}
		p.deferUses(what+": "+field, &j, func() *bids.Request { return &list[k] })
		p.deferCharges(what+": "+field, j.Charges, func() *bids.Request { return &list[k] })
		list = append(list, r)
	}
	return list, nil
}

// request turns the fields of a job, or of a part of it or an alternative, into what it asks for.
// raw, from which they are, begins at at. Faults of fields begin with prefix.
func (p *parser) request(what, prefix string, j *format.Request, raw []byte, at int64) (r bids.Request, err error) {
	r = bids.Request{Cores: j.Cores, TasksPerNode: j.TasksPerNode, Contiguous: j.Contiguous,
		MinNodes: j.Nodes.Low, MaxNodes: j.Nodes.High, MinGPUs: j.GPUs.Low, MaxGPUs: j.GPUs.High,
		MixedGPUs: j.GPUsUniform != nil && !*j.GPUsUniform,
		Switches:  j.Switches, Within: j.Within, Segment: j.Segment, Apart: j.Apart, AllWithin: j.AllWithin}
	if len(j.Components) > 0 {
		// the text is a copy of that part of raw
		p.at = at + int64(bytes.Index(raw, j.Components))
		if r.Components, err = p.requests(what, "components", j.Components, bids.MaxComponents); err != nil {
			return r, err
		}
		p.at = at
	}
	if f := format.AskGPUShare(&r, j.GPUShare); f != nil {
		return r, p.fail("%s%v", prefix, f)
	}
	if r.Cores == 0 && r.TasksPerNode == 0 { // all that it asks for, perhaps; deferred
		r.Uses = j.Uses.WithGPUShare(j.GPUShare).AnyNumbers()
	}
	if err := place.Validate(&r); err != nil {
		return r, p.fail("%s%v", prefix, err)
	}
	return r, nil
}

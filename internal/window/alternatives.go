// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/window/format"
	"github.com/aucsched/aucsched/nodeset"
)

// alternatives reads the further ways to meet a job; the text begins at p.at.
func (p *parser) alternatives(what string, text json.RawMessage) (list []bids.Request, err error) {
	from, d := p.at, json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, p.fail("%s: alternatives: is a list of requests", what)
	}
	for k := 0; d.More(); k++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, p.fail("%s: alternatives: %v", what, err)
		}
		p.at = from + d.InputOffset() - int64(len(raw))
		if k == core.MaxAlternatives {
			return nil, p.fail("%s: alternatives: more than %d", what, core.MaxAlternatives)
		}
		field := fmt.Sprintf("alternatives[%d]", k)
		var j format.Request
		if err := p.element(what+": "+field, raw, &j); err != nil {
			return nil, err
		}
		r, err := request(&j)
		if err != nil {
			return nil, p.fail("%s: %s.%v", what, field, err)
		}
		if j.Eligible != nil {
			p.deferEligible(what+": "+field, *j.Eligible, func(m nodeset.Mask) { list[k].Eligible = m })
		}
		p.deferUses(what+": "+field, j.Uses, func() *bids.Request { return &list[k] })
		p.deferCharges(what+": "+field, j.Charges, func() *bids.Request { return &list[k] })
		list = append(list, r)
	}
	return list, nil
}

// request turns the fields of a job, or of an alternative, into what it asks for.
func request(j *format.Request) (bids.Request, error) {
	r := bids.Request{Cores: j.Cores, TasksPerNode: j.TasksPerNode, Contiguous: j.Contiguous,
		MinNodes: j.Nodes.Low, MaxNodes: j.Nodes.High, MinGPUs: j.GPUs.Low, MaxGPUs: j.GPUs.High,
		MixedGPUs: j.GPUsUniform != nil && !*j.GPUsUniform,
		Switches:  j.Switches, Within: j.Within, Segment: j.Segment}
	return r, r.Validate()
}

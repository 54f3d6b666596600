// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/nodeset"
)

// counted is what a waiting job counts by name, and the request that it goes to.
type counted struct {
	at      int64
	what    string
	charges format.Uses
	of      func() *bids.Request
}

// quota reads one of the window's quotas.
func (p *parser) quota(i int, raw json.RawMessage) error {
	var q format.Quota
	what := fmt.Sprintf("quotas[%d]", i)
	if err := p.element(what, raw, &q); err != nil {
		return err
	}
	if err := format.CheckQuota(q.Name); err != nil {
		return p.fail("%s: name: %v", what, err)
	}
	if q.Left < 0 || q.Left > bids.MaxRate {
		return p.fail("%s (%.60s): left: %d is not in 0-%d", what, q.Name, q.Left, int64(bids.MaxRate))
	}
	if _, twice := p.quotaAt[q.Name]; twice {
		return p.fail("%s: name: quota %q is there twice", what, q.Name)
	}
	p.quotaAt[q.Name] = len(p.quotas)
	p.quotas = append(p.quotas, core.Quota{Name: q.Name, Left: q.Left})
	return nil
}

// deferCharges notes what a waiting job counts, until all quotas are known. of is its request then.
func (p *parser) deferCharges(what string, c format.Uses, of func() *bids.Request) {
	if len(c) > 0 {
		p.counted = append(p.counted, counted{p.at, what, c, of})
	}
}

// setCharges gives deferred charges numbers.
func (p *parser) setCharges() error {
	for _, c := range p.counted {
		p.at = c.at
		var err error
		if c.of().Charges, err = p.charges(c.what, c.charges); err != nil {
			return err
		}
	}
	return nil
}

// charges is what is counted, by number. All quotas have been read.
func (p *parser) charges(what string, c format.Uses) (nodeset.Uses, error) {
	numbers, unknown := c.Numbered(func(name string) (at int, ok bool) {
		at, ok = p.quotaAt[name]
		return at, ok
	})
	if unknown != "" {
		return nil, p.fail("%s: charges: there is no quota %q%s", what, unknown,
			input.Hint(unknown, slices.Sorted(maps.Keys(p.quotaAt))))
	}
	return numbers, nil
}

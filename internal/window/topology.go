// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/slurm/switches"
	"github.com/aucsched/aucsched/nodeset"
)

// aSwitch reads a switch; the nodes that it names may come later.
func (p *parser) aSwitch(i int, raw json.RawMessage) error {
	var s format.Switch
	if err := p.element(fmt.Sprintf("switches[%d]", i), raw, &s); err != nil {
		return err
	}
	p.switches = append(p.switches, switches.Line{Name: s.Name, Nodes: s.Nodes, Switches: s.Switches})
	p.lines = append(p.lines, located{p.at, raw})
	return nil
}

// topology is that of the window's switches, nil without any.
func (p *parser) topology() (*nodeset.Topology, error) {
	if len(p.switches) == 0 {
		return nil, nil
	}
	t, err := switches.Topology(p.switches, len(p.names), p.find)
	var fault *switches.Fault
	if errors.As(err, &fault) {
		p.at = p.lines[fault.Line].at
		return nil, p.fail("switches[%d] (%.60s): %s: %s", fault.Line, p.switches[fault.Line].Name, fault.Field, fault.Why)
	}
	if err != nil {
		return nil, p.fail("switches: %v", err)
	}
	return t, nil
}

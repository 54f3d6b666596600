// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"io"

	"github.com/aucsched/aucsched/benchmarks/ipsched"
	"github.com/aucsched/aucsched/benchmarks/layout"
	"github.com/aucsched/aucsched/benchmarks/mps"
	"github.com/aucsched/aucsched/benchmarks/policies"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
)

// writeModel writes the model of the policy's last cycle, as the paper has it.
func writeModel(out io.Writer, policy core.Policy) error {
	switch a := policy.(type) {
	case *core.Auction:
		d, ok := a.Determiner().(*layout.Determiner)
		if !ok || d.Window() == nil { // it is not asked where nobody bids
			return mps.Write(out, a.Model(), "window")
		}
		p, err := d.Program()
		if err != nil {
			return err
		}
		return mps.WriteProgram(out, p, "window")
	case *policies.IPSched:
		m, err := ipsched.Direct(a.Problem())
		if err != nil {
			return err
		}
		return mps.WriteProgram(out, m, "window")
	}
	return cli.BadInput(fmt.Errorf("policy %s has no model", policy.Name()))
}

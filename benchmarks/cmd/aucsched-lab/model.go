// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"io"

	"github.com/aucsched/aucsched/benchmarks/ipsched"
	"github.com/aucsched/aucsched/benchmarks/layout"
	"github.com/aucsched/aucsched/benchmarks/mps"
	"github.com/aucsched/aucsched/benchmarks/policies"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/ipmodel"
)

// writeModel writes the model of the policy's last cycle to a file.
func writeModel(path string, policy core.Policy) error {
	out, err := report.CreateOutput(path)
	if err != nil {
		return cli.BadInput(err)
	}
	defer out.Discard()
	return out.Fill(func(w io.Writer) error { return printModel(w, policy) })
}

// printModel writes the model of the policy's last cycle, as the paper has it.
func printModel(out io.Writer, policy core.Policy) error {
	switch a := policy.(type) {
	case *core.Auction:
		model, d := new(ipmodel.Model), a.Determiner
		if w := d.Window(); w != nil { // it is not asked where nobody bids
			model = w.Fixed
		}
		older, ok := d.(*layout.Determiner)
		if !ok || d.Window() == nil {
			return mps.Write(out, model, "window")
		}
		p, err := older.Program()
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

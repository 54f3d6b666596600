// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/locality/page"
	"github.com/aucsched/aucsched/benchmarks/report"
)

// localityPage is the page of --html; nil, of which all methods do nothing, if none is asked for:
// it takes more memory than the simulations.
type localityPage struct {
	*page.Page
	out *report.OutputFile
}

// openLocalityPage begins the file before anything runs.
func openLocalityPage(path, name string, nodes []locality.Node, jobs []locality.Job) (*localityPage, error) {
	if path == "" {
		return nil, nil
	}
	out, err := report.CreateOutput(path)
	if err != nil {
		return nil, fmt.Errorf("--html: %w", err)
	}
	return &localityPage{page.New(name, nodes, jobs), out}, nil
}

// simulate has a simulation tell the page of its jobs.
func (p *localityPage) simulate(c context.Context, nodes []locality.Node, jobs []locality.Job,
	o locality.Options) (*locality.Result, error) {
	if p == nil {
		return locality.Simulate(c, nodes, jobs, o)
	}
	log := new(report.Log)
	o.OnStart = p.Listen(log)
	r, err := locality.Simulate(c, nodes, jobs, o)
	if err == nil {
		p.Add(r, log)
	}
	return r, err
}

func (p *localityPage) write(command string) error {
	if p == nil {
		return nil
	}
	p.Command = command
	if err := p.out.Fill(p.Write); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}

func (p *localityPage) discard() {
	if p != nil {
		p.out.Discard()
	}
}

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/locality"
	"github.com/aucsched/aucsched/report"
)

// localityPage is the page of --html, if it is asked for.
type localityPage struct {
	*report.LocalityPage
	out *outputFile // nil: it is not
}

// open begins the file before anything runs.
func (p *localityPage) open(path string) (err error) {
	if path == "" {
		return nil
	}
	if p.out, err = createOutput(path); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}

// listen gives the simulation a log to tell its jobs to; without a page the log stays empty.
func (p *localityPage) listen(o *locality.Options) *report.Log {
	log := new(report.Log)
	if p.out != nil {
		o.OnStart = p.Listen(log)
	}
	return log
}

func (p *localityPage) write() error {
	if p.out == nil {
		return nil
	}
	if err := fill(p.out, p.Write); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}

func (p *localityPage) discard() {
	if p.out != nil {
		p.out.discard()
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/report"
)

// reports are the files of a simulation, begun before it runs.
type reports struct {
	html *report.OutputFile
	plot *report.OutputFile
	jobs [][]*report.OutputFile // by variant and seed
}

// open begins the files that are asked for.
func (f *Flags) open(s *study) (r *reports, err error) {
	r = new(reports)
	if f.HTML != "" {
		if r.html, err = report.CreateOutput(f.HTML); err != nil {
			return nil, fmt.Errorf("--html: %w", err)
		}
	}
	if f.plot.path != "" {
		if r.plot, err = report.CreateOutput(f.plot.path); err != nil {
			r.discard()
			return nil, fmt.Errorf("--plot: %w", err)
		}
	}
	if f.jobs == "" {
		return r, nil
	}
	for _, v := range s.variants {
		var files []*report.OutputFile
		for _, seed := range s.seeds {
			o, err := report.CreateOutput(s.path(f.jobs, v, seed))
			if err != nil {
				r.jobs = append(r.jobs, files)
				r.discard()
				return nil, fmt.Errorf("--jobs-csv: %w", err)
			}
			files = append(files, o)
		}
		r.jobs = append(r.jobs, files)
	}
	return r, nil
}

// path is the path of a run's file: before the suffix stands the policy, if there are several, and
// the seed likewise.
func (s *study) path(path string, v *variant, seed uint64) string {
	suffix := filepath.Ext(path)
	path = strings.TrimSuffix(path, suffix)
	if len(s.variants) > 1 {
		path += "." + v.fileName()
	}
	if len(s.seeds) > 1 {
		path += fmt.Sprintf(".%d", seed)
	}
	return path + suffix
}

// keeps tells which runs need a log: page and plot are of the first seed.
func (r *reports) keeps() func(variant, seed int) bool {
	return func(_, seed int) bool { return r.jobs != nil || (r.html != nil || r.plot != nil) && seed == 0 }
}

func (r *reports) discard() {
	for _, files := range r.jobs {
		for _, o := range files {
			o.Discard()
		}
	}
	r.html.Discard()
	r.plot.Discard()
}

// write fills the files and puts them in their places. The page comes with
// everything but its runs.
func (r *reports) write(p *report.Page, s *study, runs [][]*ran) error {
	for i, files := range r.jobs {
		for k, o := range files {
			x := runs[i][k]
			err := o.Fill(func(out io.Writer) error {
				return report.WriteJobsCSV(out, x.work, &report.Run{Result: x.Result, Log: x.log})
			})
			if err != nil {
				return fmt.Errorf("--jobs-csv: %w", err)
			}
		}
	}
	if r.html == nil && r.plot == nil {
		return nil
	}
	for i, v := range s.variants {
		x := runs[i][0]
		p.Runs = append(p.Runs, report.Run{Result: x.Result, Bound: x.bound, Log: x.log,
			Settings: replay.PolicySettings(&v.from, v.policy, v.flags)})
	}
	if r.plot != nil {
		if err := r.plot.Fill(func(w io.Writer) error { return s.flags.plot.write(w, p, s, runs) }); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	if r.html != nil {
		if err := r.html.Fill(p.Write); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
	}
	return nil
}

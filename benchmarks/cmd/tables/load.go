// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/aucsched/aucsched/benchmarks/emulation/load"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// loadOptions are those of the command.
type loadOptions struct {
	quick bool
	dir   string
	seed  uint64
}

// loadFigures are those of the page.
type loadFigures struct {
	Machine, Slurm string
	Options        load.Options
	All            []*load.Figures // a size's after another, its rivals in their order
	Rivals         []load.Rival
}

// loads measures and writes the page.
func loads(ctx context.Context, lo loadOptions, errs io.Writer) (string, error) {
	o := load.Options{Seed: lo.seed, Warm: 24 * time.Second, Window: 40 * time.Second, Asks: 100, Log: errs}
	sizes, rivals := load.Sizes(), load.Rivals()
	if lo.quick {
		o.Warm, o.Window, o.Asks = 6*time.Second, 10*time.Second, 20
		sizes, rivals = []load.Size{{Nodes: 100, Jobs: 200}}, rivals[:3]
	}
	f := loadFigures{Rivals: rivals}
	err := f.measure(o, lo.dir, func(o *load.Options) (err error) {
		f.All, err = load.Run(ctx, o, sizes, rivals)
		return err
	})
	if err != nil {
		return "", err
	}
	return f.page()
}

// measure calls run with options that are complete, and with a directory, its own unless one is
// named.
func (f *loadFigures) measure(o load.Options, dir string, run func(*load.Options) error) (err error) {
	v, err := slurmtest.Version()
	if err != nil {
		return err
	}
	if o.Tools, err = built("emulation", v, "vslurmd", "sh scripts/emulation.sh"); err != nil {
		return err
	}
	if o.Plugins, err = built("slurm", v, "sched_backfill.so", "make slurm-plugins"); err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "load"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if o.Dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	f.Machine, f.Slurm, f.Options = machine(), v, o
	return run(&o)
}

// built is the directory build/KIND/VERSION, absolute, which must have a file.
func built(kind, version, file, how string) (string, error) {
	dir, err := filepath.Abs(filepath.Join("build", kind, version))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		return "", fmt.Errorf("%w: %s makes it", err, how)
	}
	return dir, nil
}

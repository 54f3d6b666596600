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
	"github.com/aucsched/aucsched/internal/slurmtest"
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
func loads(ctx context.Context, lo loadOptions, errs io.Writer) (text string, err error) {
	v, err := slurmtest.Version()
	if err != nil {
		return "", err
	}
	o := load.Options{Dir: lo.dir, Seed: lo.seed, Warm: 24 * time.Second, Window: 40 * time.Second, Asks: 100, Log: errs}
	sizes, rivals := load.Sizes(), load.Rivals()
	if lo.quick {
		o.Warm, o.Window, o.Asks = 6*time.Second, 10*time.Second, 20
		sizes, rivals = []load.Size{{Nodes: 100, Jobs: 200}}, rivals[:3]
	}
	if o.Tools, err = built("emulation", v, "vslurmd", "sh scripts/emulation.sh"); err != nil {
		return "", err
	}
	if o.Plugins, err = built("slurm", v, "sched_backfill.so", "make slurm-plugins"); err != nil {
		return "", err
	}
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "load"); err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	} else if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return "", err
	}
	f := loadFigures{Machine: machine(), Slurm: v, Options: o, Rivals: rivals}
	if f.All, err = load.Run(ctx, &o, sizes, rivals); err != nil {
		return "", err
	}
	return f.page()
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

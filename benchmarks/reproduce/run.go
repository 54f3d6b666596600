// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Runner runs cells in this process.
type Runner struct {
	Program *Program
	Store   *Store
	Jobs    int // cells at a time, at least 1
	// Say, if set, is told in words what is unusual.
	Say func(string)
	// Done, if set, is called by one goroutine at a time as cells are done, with
	// their number so far, those of earlier runs included.
	Done func(n int)
}

// Results are those of cells, by key.
type Results map[string]*Stored

// Run returns the results of all cells. It runs only those that the store lacks, or
// whose file is damaged, and stores each as it ends. When ctx ends, or a cell fails,
// the cells that have ended stay in the store.
func (r *Runner) Run(ctx context.Context, cells []Prepared) (Results, error) {
	if r.Jobs < 1 {
		return nil, fmt.Errorf("%d cells at a time: must be at least 1", r.Jobs)
	}
	results, missing := r.stored(cells)
	done := len(results)
	var mu sync.Mutex
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(r.Jobs)
	for i := range missing {
		group.Go(func() error {
			if groupCtx.Err() != nil {
				return groupCtx.Err()
			}
			s, err := r.cell(groupCtx, &missing[i])
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			results[missing[i].Key] = s
			done++
			r.done(done)
			return nil
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %d of %d runs are done and kept in %s; the same command does the rest",
			context.Cause(ctx), done, len(cells), r.Store.dir)
	}
	return results, err
}

// stored are the results that are there, and the cells of those that are not.
func (r *Runner) stored(cells []Prepared) (results Results, missing []Prepared) {
	results = make(Results)
	for i := range cells {
		s, err := r.Store.Load(&cells[i])
		if err == nil {
			results[cells[i].Key] = s
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) && r.Say != nil {
			r.Say(fmt.Sprintf("%v: the cell is run again", err))
		}
		missing = append(missing, cells[i])
	}
	r.done(len(results))
	return results, missing
}

func (r *Runner) done(n int) {
	if r.Done != nil {
		r.Done(n)
	}
}

func (r *Runner) cell(ctx context.Context, c *Prepared) (*Stored, error) {
	result, notes, err := r.Program.Run(ctx, c.AllArgs())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.String(), err)
	}
	return r.Store.Save(c, r.Program.Version, *result, notes)
}

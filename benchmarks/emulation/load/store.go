// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Run measures all rivals on all sizes, the rivals of a size one after the other. Queues
// and figures are kept in o.Dir, and those that are there already are not made again: what was
// interrupted goes on.
func Run(ctx context.Context, o *Options, sizes []Size, rivals []Rival) ([]*Figures, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	states, err := prepareAll(ctx, o, sizes)
	if err != nil {
		return nil, err
	}
	var out []*Figures
	for i, s := range sizes {
		for k := range rivals {
			file := filepath.Join(o.Dir, fmt.Sprintf("figures-%d-%d-%d-%d.json", s.Nodes, s.Jobs, o.Seed, k))
			f, err := recall(file, s, rivals[k])
			if f == nil && err == nil {
				if f, err = Measure(ctx, o, s, rivals[k], states[i]); err == nil {
					err = remember(file, f)
				}
			}
			if err != nil {
				return nil, fmt.Errorf("%d nodes, %d jobs, %s: %w", s.Nodes, s.Jobs, rivals[k].Name, err)
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// prepareAll prepares the queues of all sizes, those of a machine together.
func prepareAll(ctx context.Context, o *Options, sizes []Size) ([]string, error) {
	states := make([]string, len(sizes))
	for _, s := range sizes {
		var lengths, at []int
		for i, other := range sizes {
			if other.Nodes == s.Nodes {
				at = append(at, i)
			}
		}
		slices.SortFunc(at, func(a, b int) int { return cmp.Compare(sizes[a].Jobs, sizes[b].Jobs) })
		for _, i := range at {
			lengths = append(lengths, sizes[i].Jobs)
		}
		if states[at[0]] != "" {
			continue
		}
		some, err := Prepare(ctx, o, s.Nodes, lengths)
		if err != nil {
			return nil, fmt.Errorf("%d nodes: %w", s.Nodes, err)
		}
		for i, k := range at {
			states[k] = some[i]
		}
	}
	return states, nil
}

// recall reads figures that were kept; nil if there are none.
func recall(file string, s Size, r Rival) (*Figures, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var f Figures
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if f.Size != s || f.Rival != r || !slices.IsSorted(f.Squeue.Sorted) || !slices.IsSorted(f.Sbatch.Sorted) {
		return nil, fmt.Errorf("%s: is of another measurement; remove it", file)
	}
	return &f, nil
}

func remember(file string, f *Figures) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file+".new", text, 0o644), os.Rename(file+".new", file))
}

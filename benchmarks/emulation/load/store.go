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
			f, err := o.figures(ctx, s, k, rivals[k], states[i])
			if err != nil {
				return nil, fmt.Errorf("%d nodes, %d jobs, %s: %w", s.Nodes, s.Jobs, rivals[k].Name, err)
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// figures are those of rival k, measured or kept.
func (o *Options) figures(ctx context.Context, s Size, k int, r Rival, state string) (*Figures, error) {
	return kept(o.file("figures", s, k),
		func(f *Figures) bool {
			return f.Size == s && f.Rival == r && slices.IsSorted(f.Squeue.Sorted) && slices.IsSorted(f.Sbatch.Sorted)
		},
		func() (*Figures, error) {
			f, err := Measure(ctx, o, s, r, state)
			if err == nil && f.TimedOut > 0 {
				err = fmt.Errorf("%d jobs came to their limits", f.TimedOut)
			}
			return f, err
		})
}

// file is where something of rival k is kept.
func (o *Options) file(kind string, s Size, k int) string {
	return filepath.Join(o.Dir, fmt.Sprintf("%s-%d-%d-%d-%d.json", kind, s.Nodes, s.Jobs, o.Seed, k))
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

// kept reads what is in a file, or makes it and writes it there.
func kept[T any](file string, fits func(*T) bool, make func() (*T, error)) (*T, error) {
	x, err := recall(file, fits)
	if x != nil || err != nil {
		return x, err
	}
	if x, err = make(); err != nil {
		return nil, err
	}
	return x, remember(file, x)
}

// recall reads what was kept; nil if there is nothing.
func recall[T any](file string, fits func(*T) bool) (*T, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var x T
	if err := json.Unmarshal(text, &x); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if !fits(&x) {
		return nil, fmt.Errorf("%s: is of another measurement; remove it", file)
	}
	return &x, nil
}

func remember(file string, x any) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file+".new", text, 0o644), os.Rename(file+".new", file))
}

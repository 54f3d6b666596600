// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/benchmarks/highs"
	"github.com/aucsched/aucsched/benchmarks/mpsread"
	"github.com/aucsched/aucsched/benchmarks/peers"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// nativeLimits are the deadlines of the anytime profile, and peerLimit the others'.
var nativeLimits = []time.Duration{10 * time.Millisecond, 30 * time.Millisecond,
	100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second}

const (
	peerLimit = 5 * time.Second
	at100ms   = 2 // in nativeLimits
	at1s      = 4
)

// solverRow is one window.
type solverRow struct {
	Window *peers.Window
	Busy   string // "empty", "half-busy", "90% busy"
	Known  int64  // the worth of a solution that came with it, or 0
	Best   int64  // the most that anything in the table is worth
	Native []peers.Answer
	Peers  []peers.Answer // as solverFigures.Peers
}

type solverFigures struct {
	Fresh   int // windows that were made
	Machine string
	Peers   []string
	Missing []string // why other peers are not here
	Rows    []solverRow
}

// solvers measures and writes the page.
func solvers(ctx context.Context, fresh int, seed uint64, dir string, errs io.Writer) (string, error) {
	if fresh < 0 || fresh > 10_000 {
		return "", fmt.Errorf("-fresh: %d: must be 0 to 10000", fresh)
	}
	windows, err := freshWindows(fresh, seed)
	if err != nil {
		return "", err
	}
	if dir != "" {
		shared, err := sharedWindows(dir)
		if err != nil {
			return "", err
		}
		windows = append(shared, windows...)
	}
	if len(windows) == 0 {
		return "", errors.New("-fresh 0 without -instances: no windows")
	}
	f, err := measureSolvers(ctx, windows, errs)
	if err != nil {
		return "", err
	}
	f.Fresh = fresh
	return f.page()
}

// measureSolvers has all solvers solve all windows, one after the other.
func measureSolvers(ctx context.Context, windows []solverRow, errs io.Writer) (*solverFigures, error) {
	f := &solverFigures{Machine: machine(), Rows: windows}
	all, err := f.findPeers()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tables-solver")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	own := peers.Library{Solver: native.New()}
	for i := range f.Rows {
		r := &f.Rows[i]
		fmt.Fprintf(errs, "solving %d of %d: %s\n", i+1, len(f.Rows), r.Window.Name)
		if err := r.Window.Write(dir); err != nil {
			return nil, err
		}
		for _, limit := range nativeLimits {
			a, err := own.Solve(ctx, r.Window, limit)
			if err != nil {
				return nil, err
			}
			r.Native = append(r.Native, a)
			r.Best = max(r.Best, a.Worth)
		}
		for _, p := range all {
			a, err := p.Solve(ctx, r.Window, peerLimit)
			if err != nil {
				return nil, err
			}
			r.Peers = append(r.Peers, a)
			r.Best = max(r.Best, a.Worth)
		}
		r.Best = max(r.Best, r.Known)
		if err := os.Remove(r.Window.Path); err != nil {
			return nil, err
		}
	}
	return f, f.checkBounds()
}

func (f *solverFigures) findPeers() ([]peers.Peer, error) {
	var all []peers.Peer
	if highs.Built {
		all = append(all, peers.Library{Solver: highs.New(highs.Options{})})
	} else {
		f.Missing = append(f.Missing, "HiGHS is not built in (make sets the build tag)")
	}
	for _, find := range []func() (peers.Peer, error){peers.Cbc, peers.Glpk} {
		p, err := find()
		if missing := (*peers.ErrMissing)(nil); errors.As(err, &missing) {
			f.Missing = append(f.Missing, missing.What)
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	for _, p := range all {
		f.Peers = append(f.Peers, p.Name())
	}
	return all, nil
}

// checkBounds looks for a bound of ours that lies below what something is worth. In
// the files costs have 20 bits, which is allowed for.
func (f *solverFigures) checkBounds() error {
	for _, r := range f.Rows {
		for i, a := range r.Native {
			if a.Bound < float64(r.Best)*(1-1e-5) {
				return fmt.Errorf("%s: the native bound at %v is %.0f, but %d can be had", r.Window.Name, nativeLimits[i], a.Bound, r.Best)
			}
		}
	}
	return nil
}

// freshWindows makes n windows of all kinds.
func freshWindows(n int, seed uint64) ([]solverRow, error) {
	var rows []solverRow
	r := rand.New(rand.NewPCG(seed, 0))
	busy := []struct {
		share float64
		name  string
	}{{0.9, "90% busy"}, {0.5, "half-busy"}, {0, "empty"}}
	for i := range n {
		b := busy[i%len(busy)]
		x := benchmarks.Instance{
			Nodes: pick(r, 128, 256, 1024, 1408, 10_000), Jobs: pick(r, 50, 200, 500), Bids: pick(r, 5, 15, 60), Busy: b.share,
			Priority:  pick(r, benchmarks.Basic, benchmarks.Multifactor, benchmarks.MultifactorSize),
			GPURanges: pick(r, false, true), Combined: pick(r, false, true),
			Seed: r.Uint64N(1 << 20),
		}
		m, err := x.Model(false)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", x, err)
		}
		rows = append(rows, solverRow{Window: &peers.Window{Name: x.String(), Model: m}, Busy: b.name})
	}
	return rows, nil
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// sharedWindows reads the MPS files of a directory. NAME.sol beside NAME.mps.gz names
// the columns of a solution that is known.
func sharedWindows(dir string) ([]solverRow, error) {
	var rows []solverRow
	files, err := filepath.Glob(filepath.Join(dir, "*.mps*"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("-instances %s: no MPS files there", dir)
	}
	for _, path := range files {
		r, err := sharedWindow(path)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func sharedWindow(path string) (r solverRow, err error) {
	f, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer f.Close()
	p, err := mpsread.Read(f, path)
	if err != nil {
		return r, err
	}
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".mps")
	r = solverRow{Window: &peers.Window{Name: name, Model: p.Model}, Busy: "half-busy"}
	switch {
	case strings.Contains(name, "steady"):
		r.Busy = "90% busy"
	case strings.Contains(name, "empty"):
		r.Busy = "empty"
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), name+".sol"))
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.Known, err = knownWorth(p.Model, string(text))
	if err != nil {
		err = fmt.Errorf("%s.sol: %w", name, err)
	}
	return r, err
}

// knownWorth adds up the columns named in text, one or more a line, # begins a comment. Columns
// that the model does without are worth nothing.
func knownWorth(m *ipmodel.Model, text string) (int64, error) {
	index := map[string]int32{}
	for i, n := range m.ColName {
		index[n] = int32(i)
	}
	var chosen []int32
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		for _, name := range strings.Fields(line) {
			if i, ok := index[name]; ok {
				chosen = append(chosen, i)
			}
		}
	}
	return m.Check(chosen)
}

// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
)

// fake is a program whose results depend on the arguments alone.
type fake struct {
	runs  atomic.Int64
	pause time.Duration
	after func(run int64) error // called before a run ends
}

func (f *fake) program() *Program {
	return &Program{Version: "fake", Settings: fakeSettings, Run: f.run}
}

func fakeSettings(args []string) ([]string, error) {
	for _, a := range args {
		if strings.HasSuffix(a, "=unknown") {
			return nil, fmt.Errorf("%s is unknown", a)
		}
	}
	return args, nil
}

func (f *fake) run(ctx context.Context, args []string) (*sim.Result, json.RawMessage, error) {
	n := f.runs.Add(1)
	select {
	case <-time.After(f.pause):
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if f.after != nil {
		if err := f.after(n); err != nil {
			return nil, nil, err
		}
	}
	r := fakeResult(args)
	r.CycleMsP50, r.CycleMsMax = float64(n), float64(2*n) // differ from run to run
	return r, nil, nil
}

func fakeResult(args []string) *sim.Result {
	h := fnv.New64a()
	fmt.Fprint(h, args)
	x := float64(h.Sum64()%1000) / 1000
	return &sim.Result{
		Policy: "fake", Jobs: 100, Runtime: int64(14400 + 3600*x), TheoreticalRuntime: 14400,
		CPUUtilization: 1 / (1 + x/4), GPUUtilization: x,
		WaitMean: 3600 * (1 + x), WaitStd: 3000, SlowdownMean: 20 + x, FragmentationMean: 1 + x,
		SpreadMean: 2 - x, PackingFactorMean: 1 + x/10,
	}
}

// testCells are n cells of a made-up table.
func testCells(t *testing.T, p *Program, n int) []Prepared {
	t.Helper()
	var table Table
	for i := range n {
		table.Rows = append(table.Rows, Row{Workload: "W", Method: fmt.Sprint(i), Args: []string{fmt.Sprintf("--x=%d", i)}})
	}
	cells, err := Cells(p, []Table{table}, []uint64{1})
	require.NoError(t, err)
	require.Len(t, cells, n)
	return cells
}

func testStore(t *testing.T) *Store {
	t.Helper()
	s, err := OpenStore(filepath.Join(t.TempDir(), "results"))
	require.NoError(t, err)
	return s
}

// readAll are the names and contents of a store's files.
func readAll(t *testing.T, s *Store) map[string]string {
	t.Helper()
	files := make(map[string]string)
	entries, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(text)
	}
	return files
}

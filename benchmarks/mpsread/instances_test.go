// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/stretchr/testify/require"
)

// sharedInstances are the auction windows in MPS beside the checkout, if they are there.
func sharedInstances(t testing.TB) []string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		files, err := filepath.Glob(filepath.Join(dir, "..", "shared", "instances", "*.mps.gz"))
		require.NoError(t, err)
		if len(files) > 0 {
			return files
		}
	}
	t.Skip("no shared/instances beside the checkout")
	return nil
}

func readFile(t testing.TB, file string) *File {
	t.Helper()
	in, err := os.Open(file)
	require.NoError(t, err)
	defer in.Close()
	p, err := Read(in, filepath.Base(file))
	require.NoError(t, err)
	return p
}

// firstFit takes each group's first column that still fits.
func firstFit(m *ipmodel.Model) []int32 {
	var chosen []int32
	for g := range m.Groups() {
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			if _, err := m.Check(append(chosen, i)); err == nil {
				chosen = append(chosen, i)
				break
			}
		}
	}
	return chosen
}

// TestInstancesAgainstTheChecker compares objectives with the instances' own
// checker, a Python program that reads the file anew in fractions.
func TestInstancesAgainstTheChecker(t *testing.T) {
	race.Slow(t)
	files := sharedInstances(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to run the instances' checker")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".mps.gz"), func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			p := readFile(t, file)
			t.Logf("read in %v: %d columns, %d groups, %d rows, %d entries, exact: %t", time.Since(start),
				len(p.Model.Value), p.Model.Groups(), len(p.Model.Cap), len(p.Model.Row), p.Exact)
			require.NoError(t, p.Model.Validate())
			best := strings.TrimSuffix(file, ".mps.gz") + ".sol"
			chosen := firstFit(p.Model)
			if text, err := os.ReadFile(best); err == nil {
				chosen = nil
				for _, name := range strings.Fields(string(text)) {
					i := slices.Index(p.Model.ColName, name)
					require.GreaterOrEqual(t, i, 0, name)
					chosen = append(chosen, int32(i))
				}
				slices.Sort(chosen)
			}
			worth, err := p.Model.Check(chosen)
			require.NoError(t, err)
			solution := filepath.Join(t.TempDir(), "solution")
			require.NoError(t, os.WriteFile(solution, []byte(strings.Join(p.Names(chosen), "\n")), 0o600))
			out, err := exec.Command(python, filepath.Join(filepath.Dir(file), "check.py"), file, solution).Output()
			require.NoError(t, err, string(out))
			var verdict struct {
				Feasible             bool
				Objective, Maximised string
			}
			require.NoError(t, json.Unmarshal(out, &verdict))
			require.True(t, verdict.Feasible)
			want, ok := new(big.Rat).SetString(verdict.Objective)
			require.True(t, ok, verdict.Objective)
			require.Equal(t, want.RatString(), p.ExactObjective(chosen).RatString())
			require.LessOrEqual(t, p.Bound(worth), p.Objective(chosen), "a bound of a minimum lies below")
			require.InEpsilon(t, p.Objective(chosen), p.Bound(worth), 1e-12)
			if p.Exact {
				require.Equal(t, -p.Objective(chosen), p.Model.Objective(worth))
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, file := range sharedInstances(b) {
		b.Run(strings.TrimSuffix(filepath.Base(file), ".mps.gz"), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				readFile(b, file)
			}
		})
	}
}

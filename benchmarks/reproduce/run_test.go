// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// childStore names the store of a child that TestKilledRunGoesOn kills.
const childStore = "AUCSCHED_TEST_STORE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childStore); dir != "" {
		f := fake{pause: 50 * time.Millisecond}
		cells, err := Cells(f.program(), []Table{killTable()}, []uint64{1, 2})
		if err == nil {
			r := Runner{Program: f.program(), Store: &Store{dir}, Jobs: 2}
			_, err = r.Run(context.Background(), cells)
		}
		if err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func killTable() Table {
	tables, err := Select(Selection{Tables: []string{"ipsched-5"}})
	if err != nil {
		panic(err)
	}
	return tables[0]
}

// A run that is killed in the middle leaves whole results, and the next run does the
// rest and no more.
func TestKilledRunGoesOn(t *testing.T) {
	store := testStore(t)
	var f fake
	cells, err := Cells(f.program(), []Table{killTable()}, []uint64{1, 2})
	require.NoError(t, err)

	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childStore+"="+store.dir)
	require.NoError(t, child.Start())
	require.Eventually(t, func() bool { return store.count(cells) >= 3 }, 60*time.Second, 5*time.Millisecond)
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait(), "ended before it was killed")

	done := store.count(cells)
	require.Less(t, done, len(cells))
	r := Runner{Program: f.program(), Store: store, Jobs: 2, Say: func(s string) { t.Error("unexpected: ", s) }}
	results, err := r.Run(t.Context(), cells)
	require.NoError(t, err)
	require.Len(t, results, len(cells))
	require.EqualValues(t, len(cells)-done, f.runs.Load())

	_, err = r.Run(t.Context(), cells)
	require.NoError(t, err)
	require.EqualValues(t, len(cells)-done, f.runs.Load(), "all were there")
}

func TestInterruptedRunSaysHowFarItCame(t *testing.T) {
	store := testStore(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	f := fake{after: func(n int64) error {
		if n == 4 {
			cancel(errors.New("interrupted"))
			return ctx.Err()
		}
		return nil
	}}
	cells := testCells(t, f.program(), 10)
	r := Runner{Program: f.program(), Store: store, Jobs: 1}
	_, err := r.Run(ctx, cells)
	require.ErrorContains(t, err, "interrupted: 3 of 10 runs are done and kept in")
	require.Len(t, readAll(t, store), 3, "and nothing else is left behind")

	f.after = nil
	var seen []int
	r.Done = func(n int) { seen = append(seen, n) }
	_, err = r.Run(t.Context(), cells)
	require.NoError(t, err)
	require.EqualValues(t, 4+7, f.runs.Load())
	require.Equal(t, []int{3, 4, 5, 6, 7, 8, 9, 10}, seen)
}

func TestFailedCellStopsTheRun(t *testing.T) {
	boom := errors.New("boom")
	f := fake{after: func(n int64) error {
		if n == 3 {
			return boom
		}
		return nil
	}}
	r := Runner{Program: f.program(), Store: testStore(t), Jobs: 1}
	_, err := r.Run(t.Context(), testCells(t, f.program(), 50))
	require.ErrorIs(t, err, boom)
	require.ErrorContains(t, err, "aucsched simulate --x=2 --seed=1")
	require.EqualValues(t, 3, f.runs.Load())
}

func TestSameSeedsSameFiles(t *testing.T) {
	var want map[string]string
	for _, jobs := range []int{1, 3, 8} {
		var f fake
		store := testStore(t)
		r := Runner{Program: f.program(), Store: store, Jobs: jobs}
		_, err := r.Run(t.Context(), testCells(t, f.program(), 20))
		require.NoError(t, err)
		if want == nil {
			want = readAll(t, store)
		}
		require.Equal(t, want, readAll(t, store))
	}
}

// Whatever is done to a result file, it is not believed, and this is said.
func TestDamagedResultIsRunAgain(t *testing.T) {
	for _, c := range []struct {
		name, want string
		damage     func(text []byte, other []byte) []byte
	}{
		{"cut", "unexpected EOF", func(text, _ []byte) []byte { return text[:len(text)/2] }},
		{"empty", "EOF", func(_, _ []byte) []byte { return nil }},
		{"a figure changed", "checksum", func(text, _ []byte) []byte {
			return bytes.Replace(text, []byte(`"jobs": 100`), []byte(`"jobs": 101`), 1)
		}},
		{"another cell's", "not this cell's", func(_, other []byte) []byte { return other }},
		{"another program's", "unknown field",
			func(text, _ []byte) []byte { return bytes.Replace(text, []byte(`"seed"`), []byte(`"sead"`), 1) }},
		{"no JSON", "invalid character", func(_, _ []byte) []byte { return []byte("mean\n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := testStore(t)
			var f fake
			var said []string
			r := Runner{Program: f.program(), Store: store, Jobs: 2, Say: func(s string) { said = append(said, s) }}
			cells := testCells(t, f.program(), 3)
			_, err := r.Run(t.Context(), cells)
			require.NoError(t, err)
			before := readAll(t, store)
			require.Empty(t, said)

			path := store.path(cells[1].Key)
			damaged := c.damage([]byte(before[filepath.Base(path)]), []byte(before[cells[0].Key+".json"]))
			require.NotEqual(t, before[filepath.Base(path)], string(damaged))
			require.NoError(t, os.WriteFile(path, damaged, 0o644))
			_, err = r.Run(t.Context(), cells)
			require.NoError(t, err)
			require.EqualValues(t, 4, f.runs.Load())
			require.Len(t, said, 1)
			require.Contains(t, said[0], path)
			require.Contains(t, said[0], c.want)
			require.True(t, strings.HasSuffix(said[0], "the cell is run again"), said[0])
			require.Equal(t, before, readAll(t, store))
		})
	}
}

func TestNoJobsAtATimeIsAnError(t *testing.T) {
	var f fake
	r := Runner{Program: f.program(), Store: testStore(t)}
	_, err := r.Run(t.Context(), testCells(t, f.program(), 1))
	require.ErrorContains(t, err, "at least 1")
}

func TestStoreNeedsAWritableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err := OpenStore(dir)
		require.ErrorContains(t, err, "not a directory")
	}
	require.ErrorContains(t, TryFile(filepath.Join(file, "page.md")), "not a directory")
	require.ErrorContains(t, TryFile(t.TempDir()), "not a regular file")
	require.NoError(t, TryFile(file))
}

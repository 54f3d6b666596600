// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRemember(t *testing.T) {
	size, rival := Size{10, 20}, Rivals()[2]
	file := filepath.Join(t.TempDir(), "f.json")
	fits := func(f *Figures) bool { return f.Size == size && f.Rival == rival }
	f, err := recall(file, fits)
	require.NoError(t, err)
	require.Nil(t, f)
	made := &Figures{Size: size, Rival: rival, Window: time.Second, Auction: &Auction{Cycles: 3, Lock: Times{N: 2, Mean: 5, Max: 7}},
		Squeue: Latencies{Sorted: []time.Duration{1, 2}, Failed: 1}, CPU: 0.25}
	require.NoError(t, remember(file, made))
	f, err = recall(file, fits)
	require.NoError(t, err)
	require.Equal(t, made, f)
	_, err = recall(file, func(*Figures) bool { return false })
	require.ErrorContains(t, err, "another measurement")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	_, err = recall(file, fits)
	require.ErrorContains(t, err, "f.json")
}

// What is kept is not measured again, nor are queues made that are there.
func TestRunGoesOn(t *testing.T) {
	o := &Options{Dir: t.TempDir(), Tools: "none", Plugins: "none", Seed: 4, Window: time.Second, Asks: 1, Log: io.Discard}
	sizes, rivals := []Size{{10, 30}, {10, 20}}, Rivals()[:1]
	for i, name := range []string{"10-30-4", "10-20-4"} {
		require.NoError(t, os.Mkdir(filepath.Join(o.Dir, "queue-"+name), 0o755))
		require.NoError(t, remember(filepath.Join(o.Dir, "figures-"+name+"-0.json"),
			&Figures{Size: sizes[i], Rival: rivals[0], Started: i}))
	}
	all, err := Run(context.Background(), o, sizes, rivals)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, 1, all[1].Started)
	o.Asks = 0
	_, err = Run(context.Background(), o, sizes, rivals)
	require.ErrorContains(t, err, "asks 0")
}

func TestCopyState(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	job := filepath.Join("hash.1", "job.1", "script")
	require.NoError(t, os.MkdirAll(filepath.Join(from, filepath.Dir(job)), 0o755))
	for name, text := range map[string]string{"job_state": "jobs", "slurmctld.pid": "7", job: "sleep"} {
		require.NoError(t, os.WriteFile(filepath.Join(from, name), []byte(text), 0o600))
	}
	require.NoError(t, keepState(from, to))
	require.NoError(t, os.WriteFile(filepath.Join(from, "job_state"), []byte("others"), 0o600))
	text, err := os.ReadFile(filepath.Join(to, "job_state"))
	require.NoError(t, err)
	require.Equal(t, "jobs", string(text), "a copy")
	text, err = os.ReadFile(filepath.Join(to, job))
	require.NoError(t, err)
	require.Equal(t, "sleep", string(text))
	require.NoFileExists(t, filepath.Join(to, "slurmctld.pid"))
}

func TestLengths(t *testing.T) {
	for _, bad := range [][]int{nil, {0}, {5, 3}} {
		_, err := Prepare(context.Background(), &Options{Log: io.Discard}, 10, bad)
		require.ErrorContains(t, err, "ascending")
	}
}

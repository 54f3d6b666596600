// SPDX-License-Identifier: BSD-3-Clause

//go:build unix

package shadow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/engine"
)

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func size(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}

func oneJob(id int64) []Line { return []Line{{Job: id, User: 1000, Partition: "p"}} }

// A line is as readers of all versions know it, and is read back.
func TestWrittenLines(t *testing.T) {
	to := File{Path: filepath.Join(t.TempDir(), "lines"), Limit: 1 << 20, Mode: 0o644, Time: 1000, Interval: 3, Version: "1", Slurm: "22.05.8"}
	task := int64(3)
	run := Line{Job: 7, Task: &task, Restarts: 1, User: 5, Partition: "a\"\\\n<b>", Submit: 10, Eligible: 11, CPUs: 4, Nodes: 2,
		Would: &At{Time: 12, Nodes: "n[1-2]", CPUs: 4, GPUs: 2, Class: "A", Victims: 1},
		Slurm: &At{Time: 20, Nodes: "n3", CPUs: 4, GPUs: 2, Before: "fit"}, End: 30, State: "COMPLETED"}
	var w Writer
	require.NoError(t, w.Write(to, []Line{run}, &Sample{Time: 1000, Queue: 2, Cores: 8}))
	to.Time = 1059
	require.NoError(t, w.Write(to, nil, &Sample{Time: 1059}), "too soon after the last")
	require.Equal(t, `{"shadow":1,"time":1000,"interval_s":3,"version":"1","slurm":"22.05.8"}
{"sample":1000,"queue":2,"running":0,"cores":8,"cores_used":0,"gpus":0,"gpus_used":0,"gpus_stranded":0,"would_cores":0,"would_gpus":0,`+
		`"would_stranded":0,"lost":0}
{"job":7,"task":3,"restarts":1,"user":5,"submit":10,"eligible":11,"cpus":4,"nodes":2,"partition":"a\"\\\n<b>",`+
		`"would":{"time":12,"cpus":4,"gpus":2,"nodes":"n[1-2]","class":"A","victims":1},`+
		`"slurm":{"time":20,"cpus":4,"gpus":2,"nodes":"n3","before":"fit"},"end":30,"state":"COMPLETED"}
`, content(t, to.Path))
	w.Close()
	log, err := ReadFiles(to.Path)
	require.NoError(t, err)
	require.Zero(t, log.Bad, "%v", log.FirstBad)
	require.Equal(t, 1, log.Samples.Count)
	require.Equal(t, &Run{Key: Key{7, 3, 1}, User: 5, Partition: run.Partition, Submit: 10, Eligible: 11, CPUs: 4, Nodes: 2,
		Would: &Place{Time: 12, CPUs: 4, GPUs: 2, Nodes: "n[1-2]", Class: "A", Victims: 1},
		Slurm: &Place{Time: 20, CPUs: 4, GPUs: 2, Nodes: "n3", Before: "fit"}, End: 30, State: "COMPLETED"}, log.Runs[0])
}

// Half a line of a killed slurmctld, permissions, and a directory that comes later.
func TestWrittenFile(t *testing.T) {
	dir := t.TempDir()
	to := File{Path: filepath.Join(dir, "later", "shadow"), Limit: 1 << 20, Mode: 0o644, Time: 1000, Interval: 3}
	var w Writer
	require.ErrorIs(t, w.Write(to, oneJob(1), nil), os.ErrNotExist)
	require.NoError(t, os.Mkdir(filepath.Dir(to.Path), 0o700))
	require.NoError(t, os.WriteFile(to.Path, []byte(`{"job":9,`), 0o600))
	to.Time = 1001
	require.ErrorIs(t, w.Write(to, nil, nil), os.ErrNotExist, "not before it is to be tried again")
	to.Time = 1011
	require.NoError(t, w.Write(to, nil, nil))
	require.Contains(t, content(t, to.Path), "{\"job\":9,\n{\"shadow\":1,")
	require.Equal(t, 1, strings.Count(content(t, to.Path), `"job":1,`))
	for _, mode := range []os.FileMode{0o644, 0o600} {
		to.Mode = mode
		require.NoError(t, w.Write(to, nil, nil))
		st, err := os.Stat(to.Path)
		require.NoError(t, err)
		require.Equal(t, mode, st.Mode().Perm())
	}
	require.NoError(t, os.Remove(to.Path))
	require.NoError(t, w.Write(to, oneJob(2), nil))
	require.Contains(t, content(t, to.Path), `"job":2,`, "a new file in place of one that was removed")
	w.Close()
	// Neither a link of somebody's nor a file with two names is written to, nor a device.
	victim := filepath.Join(dir, "victim")
	for _, make := range []func() error{
		func() error { return os.Symlink(victim, to.Path) },
		func() error { return os.WriteFile(victim, nil, 0o600) },
		func() error { return os.Remove(to.Path) },
		func() error { return os.Link(victim, to.Path) },
	} {
		_ = os.Remove(to.Path)
		if make() != nil {
			continue
		}
		_ = (&Writer{}).Write(to, oneJob(3), nil)
		require.Zero(t, size(victim))
	}
	to.Path = os.DevNull
	require.Error(t, (&Writer{}).Write(to, oneJob(3), nil))
}

// The oldest goes, and the limit stays; so it does of what can't be written.
func TestWrittenLimit(t *testing.T) {
	to := File{Path: filepath.Join(t.TempDir(), "shadow"), Limit: 64 << 10, Mode: 0o644, Interval: 3}
	old, most := to.Path+".old", int64(0)
	var w Writer
	for id := int64(1); id < 3000; id++ {
		to.Time = 1000 + id
		require.NoError(t, w.Write(to, oneJob(id), nil))
		most = max(most, size(to.Path)+size(old))
	}
	require.True(t, most > to.Limit/2 && most <= to.Limit+4096, "%d", most)
	require.Contains(t, content(t, to.Path), `"job":2999,`)
	require.NotContains(t, content(t, to.Path)+content(t, old), `"job":2,`)
	require.NoError(t, os.Remove(to.Path))
	require.NoError(t, os.Mkdir(to.Path, 0o700))
	for id := int64(1); id < 3000; id++ {
		to.Time = 10000 + id
		require.Error(t, w.Write(to, oneJob(id), nil))
	}
	require.NoError(t, os.Remove(to.Path))
	to.Time = 20000
	require.NoError(t, w.Write(to, nil, &Sample{Time: 20000}))
	text := content(t, to.Path)
	require.Contains(t, text, `"job":1,`)
	require.NotContains(t, text, `"job":2999,`)
	require.Regexp(t, `"lost":[1-9]`, text)
	require.LessOrEqual(t, size(to.Path), to.Limit/2+4096)
}

func TestMeasure(t *testing.T) {
	in := &engine.Input{Now: 5, Running: make([]engine.Running, 2), Nodes: []engine.Node{
		{Cores: 8, FreeCores: 2, GPUs: 4, FreeGPUs: 3, Up: 1}, {Cores: 8, GPUs: 2, FreeGPUs: 2, Up: 1},
		{Cores: 8, FreeCores: 8, GPUs: 2, FreeGPUs: 2, Up: 1}, {Cores: 8, FreeCores: 0, GPUs: 2, FreeGPUs: 2},
	}}
	want := Sample{Time: 5, Running: 2, Cores: 24, CoresUsed: 14, GPUs: 8, GPUsUsed: 1, Stranded: 2, WouldStranded: 2}
	require.Equal(t, want, Measure(in, nil))
	out := &engine.Output{
		Decisions: []engine.Decision{{Why: engine.Starts, Segments: 1}, {Why: engine.WaitsFit},
			{Why: engine.Starts, FirstSegment: 1, Segments: 1, Victims: 1}},
		Segments: []engine.Segment{{First: 0, Last: 0, Cores: 2, GPUs: 1}, {First: 2, Last: 2, Cores: 8}},
	}
	want.WouldCores, want.WouldGPUs, want.WouldStranded = 2, 1, 4
	require.Equal(t, want, Measure(in, out))
}

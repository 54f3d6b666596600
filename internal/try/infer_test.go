// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/race"
)

// placed has the rows start when, and run where, a simulated Slurm has them.
func placed(t *testing.T, rows []row) *Past {
	t.Helper()
	p := past(t, rows, Options{Weeks: 1})
	byID := map[string]*row{}
	for i := range rows {
		byID[rows[i].id] = &rows[i]
	}
	onEnd := func(rec sim.Record) {
		var names []string
		for _, seg := range rec.Segs {
			for n := seg.First; n <= seg.Last; n++ {
				names = append(names, p.Machine.Names[n])
			}
		}
		list, err := hostlist.Compress(names)
		require.NoError(t, err)
		r := byID[rec.Job.ID]
		r.start, r.list = rec.Start+p.Start-monday, list
	}
	_, err := p.Replay(t.Context(), p.Slurm(), Setting{Interval: 1, Seed: 3, onEnd: onEnd})
	require.NoError(t, err)
	return past(t, rows, Options{Weeks: 1})
}

// Of a busy site the accounts alone give the machine that slurm.conf describes, and the simulated Slurm
// on it does as that of the site.
func TestInfers(t *testing.T) {
	race.Slow(t)
	rows := drawn(6, 300)
	want := placed(t, rows)
	sacct, _ := write(t, smallConf, rows)
	p, err := Read(sacct, "", Options{Weeks: 1})
	require.NoError(t, err)
	require.Equal(t, want.Machine.Names, p.Machine.Names)
	for n, c := range want.Machine.Nodes {
		require.Equal(t, c.GPUs, p.Machine.Nodes[n].GPUs)
		require.LessOrEqual(t, p.Machine.Nodes[n].Cores, c.Cores)
		require.True(t, c.GPUs > 0 || p.Machine.Nodes[n].Cores == c.Cores, "they were full")
	}
	require.Equal(t, want.Machine.Types, p.Machine.Types)
	require.Equal(t, want.Machine.GPUs, p.Machine.GPUs)
	require.Len(t, p.Machine.Partitions, 3)
	for _, x := range p.Machine.Partitions {
		for _, y := range want.Machine.Partitions {
			if x.Name == y.Name {
				require.Equal(t, y.Nodes, x.Nodes, x.Name)
			}
		}
	}
	for n, mib := range p.Machine.Memory {
		require.LessOrEqual(t, mib, want.Machine.Memory[n])
		require.Greater(t, mib, want.Machine.Memory[n]/2)
	}
	report := p.NewReport([]*Replay{p.What(), replay(t, p, p.Slurm()), replay(t, p, Preset("none"))}, 1)
	require.Equal(t, Agrees, report.Judged, report.Verdict())
	text, page := texts(t, report)
	for _, want := range []string{"There is no slurm.conf.", "c[1-4]: 16 CPUs", "4 GPUs a100; partitions: gpu", "were in use at once"} {
		require.Contains(t, text, want)
		require.Contains(t, page, want)
	}
}

// What can't be inferred is refused in words, or left out and counted.
func TestInfersNot(t *testing.T) {
	one := func(list string, cpus int) row {
		return row{id: "1", partition: "p", user: "u", cpus: cpus, nodes: 1, run: 60, limit: 5, mem: "1M", list: list}
	}
	read := func(without string, rows ...row) (*Past, error) {
		for i := range rows {
			rows[i].id = fmt.Sprint(i + 1)
		}
		sacct, _ := write(t, "", rows)
		rename(t, sacct, []string{without})
		return Read(sacct, "", Options{Weeks: 1})
	}
	for _, c := range []struct {
		without, want string
		row           row
	}{
		{"NodeList", "no job says on which nodes it ran (column NodeList)", one("n1", 1)},
		{"", "no job says on which nodes", one("None assigned", 1)},
		{"", "no job says on which nodes", one("n[1-", 1)},
		{"", "no job says on which nodes", one("n[1-9999999]", 1)},
		{"", "node n1: jobs used 70000 CPUs, 1 MiB and 0 GPUs of it at once", one("n1", 70000)},
	} {
		_, err := read(c.without, c.row)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "jobs.txt: ")
		require.ErrorContains(t, err, "--conf slurm.conf")
	}
	p, err := read("Partition", one("n1", 1), one("n[2-", 1), one("n10,n9", 4))
	require.NoError(t, err)
	require.Equal(t, []string{"n1", "n9", "n10"}, p.Machine.Names)
	require.Contains(t, fmt.Sprint(p.Adjusted), "NodeList")
	require.Equal(t, "all", p.Machine.Partitions[0].Name)
	p, err = read("ReqTRES", one("n1", 1))
	require.NoError(t, err)
	require.Empty(t, p.Missing, "AllocTRES has it as well")
}

// No rows make it fail but with an error that names the file.
func FuzzInfer(f *testing.F) {
	head := "JobID|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocTRES|Partition|NodeList|State\n"
	f.Add(head + "1|2026-01-05T00:00:00|2026-01-05T00:00:00|60|5|4|cpu=4,mem=1G,gres/gpu:a=2|p|n[1-2]|COMPLETED\n")
	f.Add(head + "1|2026-01-05T00:00:00|Unknown|||4||p,q|None assigned|CANCELLED by 0\n1|x\n\xff|")
	f.Add(head + "1|0|0|1099511627776|5|9999999999|cpu=1E9|p|n[0001-1000]|OUT_OF_MEMORY\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := t.TempDir() + "/jobs.txt"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		p, err := Read(path, "", Options{Weeks: 1})
		if err != nil {
			require.True(t, strings.Contains(err.Error(), path) || strings.Contains(err.Error(), ErrNoJob.Error()), err)
			return
		}
		require.Len(t, p.Machine.Nodes, len(p.Machine.Names))
		require.Len(t, p.replayed(), len(p.Jobs))
	})
}

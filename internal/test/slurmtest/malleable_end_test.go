// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// requireDone checks that every job has done its work, and that Slurm's last word on it is that it
// completed.
func (d *malleableDay) requireDone() {
	d.t.Helper()
	ended, err := d.Ended()
	require.NoError(d.t, err)
	last := map[uint32]Ended{}
	for _, e := range ended {
		last[e.ID] = e
	}
	purged, ran, tasks := d.purged(), 0, 0
	for i := range d.jobs {
		j := &d.jobs[i]
		what := fmt.Sprintf("%s %d, job %d", j.kind, i, d.ids[i])
		if purged[d.ids[i]] && last[d.ids[i]].State == "FAILED" { // with any scheduler
			d.t.Logf("%s: slurmd took its script for a leftover", what)
			continue
		}
		if state := last[d.ids[i]].State; state != "COMPLETED" {
			require.Equal(d.t, "COMPLETED", state, "%s\n%s\n%s", what, d.text(i, "out"), said(d.Cluster, d.ids[i]))
		}
		want := 1
		switch {
		case j.tasks > 0:
			want = j.tasks
		case j.steps:
			want = j.nodes * j.slots
		}
		ran += d.requireAnswers(i, what, want)
		tasks += want
		if j.kind == aBag {
			d.requireRecord(i, what)
		}
	}
	d.t.Logf("%d tasks ran to their end %d times", tasks, ran)
}

func (d *malleableDay) text(i int, kind string) string {
	text, _ := os.ReadFile(d.file(i, kind))
	return string(text)
}

// requireAnswers checks what each task has computed, and counts how often they did.
func (d *malleableDay) requireAnswers(i int, what string, want int) (ran int) {
	d.t.Helper()
	first := 0
	if d.jobs[i].tasks > 0 {
		first = 1
	}
	seen := map[int]bool{}
	for line := range strings.Lines(d.text(i, "log")) {
		var task, found int
		_, err := fmt.Sscan(line, &task, &found)
		require.NoError(d.t, err, "%s: %q", what, line)
		require.True(d.t, task >= first && task < first+want, "%s: %q", what, line)
		require.Equal(d.t, task*task+i, found, "%s: %q", what, line)
		seen[task] = true
		ran++
	}
	require.Len(d.t, seen, want, "%s: tasks with an answer", what)
	return ran
}

// requireRecord checks that each task of a bag has one line in its record.
func (d *malleableDay) requireRecord(i int, what string) {
	d.t.Helper()
	lines := strings.Split(strings.TrimSpace(d.text(i, "done")), "\n")[1:]
	var want []string
	for n := range d.jobs[i].tasks {
		want = append(want, fmt.Sprint(n+1, " 0"))
	}
	slices.Sort(want)
	slices.Sort(lines)
	require.Equal(d.t, want, lines, what)
}

// requireNothingLeft checks that no process is left of any job.
func (d *malleableDay) requireNothingLeft() {
	d.t.Helper()
	var left []process
	err := d.poll(d.t.Context(), 20*time.Second, "all processes to end", func() (bool, error) {
		left = d.processes(d.cgroups)
		return len(left) == 0, nil
	})
	require.NoError(d.t, err, "%+v", left)
	if d.cgroups {
		dirs, _ := filepath.Glob("/sys/fs/cgroup/freezer/slurm_n*/uid_*/job_*")
		require.Empty(d.t, dirs)
	}
}

// account is a row of sacct.
type accountRow struct {
	id, name, state string
	nodes           []string
	cpus            int // of each node
	start, end      time.Time
}

func (d *malleableDay) accounts() []accountRow {
	out, err := d.Run(d.t.Context(), "sacct", "-a", "-X", "-D", "-n", "-P", "-S", "now-2hours",
		"-o", "JobIDRaw,JobName,State,NNodes,AllocCPUS,NodeList,Start,End")
	require.NoError(d.t, err)
	var rows []accountRow
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		require.Len(d.t, f, 8, line)
		state, _, _ := strings.Cut(f[2], " ")
		r := accountRow{id: f[0], name: f[1], state: state}
		nodes, _ := strconv.Atoi(f[3])
		cpus, _ := strconv.Atoi(f[4])
		r.start, _ = time.ParseInLocation("2006-01-02T15:04:05", f[6], time.Local)
		r.end, _ = time.ParseInLocation("2006-01-02T15:04:05", f[7], time.Local)
		if nodes > 0 && cpus > 0 && !r.start.IsZero() && f[5] != "None assigned" { // it ran
			r.cpus = cpus / nodes
			r.nodes, err = expandNodes(f[5])
			require.NoError(d.t, err)
		}
		rows = append(rows, r)
	}
	return rows
}

// requireAccounts checks that the accounts have every job once as completed, none that runs still,
// and at no second more CPUs of a node than it has.
func (d *malleableDay) requireAccounts() {
	d.t.Helper()
	var rows []accountRow
	var open []string
	err := d.poll(d.t.Context(), 60*time.Second, "the accounts", func() (bool, error) {
		rows, open = d.accounts(), nil
		for _, r := range rows {
			if r.state == "RUNNING" || r.state == "PENDING" || r.state == "COMPLETING" {
				open = append(open, fmt.Sprint(r.id, " ", r.name, " ", r.state))
			}
		}
		return len(open) == 0, nil
	})
	require.NoError(d.t, err, "%v", open)
	last, completed := map[string]string{}, map[string]int{}
	states := map[string]int{}
	for _, r := range rows {
		last[r.id] = r.state
		states[r.state]++
		if r.state == "COMPLETED" {
			completed[r.id]++
		}
	}
	purged := d.purged()
	for i, id := range d.ids {
		if !purged[id] {
			require.Equal(d.t, "COMPLETED", last[fmt.Sprint(id)], "%s %d, job %d", d.jobs[i].kind, i, id)
			require.Equal(d.t, 1, completed[fmt.Sprint(id)], "%s %d, job %d", d.jobs[i].kind, i, id)
		}
	}
	d.t.Logf("the accounts have %d rows: %v", len(rows), states)
	require.Empty(d.t, overbooked(rows, 2))
}

// overbooked says where rows have more than so many CPUs of a node at a second.
func overbooked(rows []accountRow, most int) (found []string) {
	type change struct {
		at   time.Time
		cpus int
		id   string
	}
	byNode := map[string][]change{}
	for _, r := range rows {
		for _, n := range r.nodes {
			byNode[n] = append(byNode[n], change{r.start, r.cpus, r.id}, change{r.end, -r.cpus, r.id})
		}
	}
	for n, changes := range byNode {
		slices.SortFunc(changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.cpus, b.cpus)) })
		held := 0
		for _, c := range changes {
			if held += c.cpus; held > most {
				found = append(found, fmt.Sprintf("%s has %d CPUs booked at %v, with job %s", n, held, c.at.Format(time.TimeOnly), c.id))
			}
		}
	}
	return found
}

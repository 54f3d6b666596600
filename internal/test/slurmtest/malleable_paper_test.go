// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// agreeing are views of a crew of two places, whose companion shares its node with another job.
func agreeing() views {
	lead, companion, other := where{27, "n0001"}, where{31, "n0003"}, where{40, "n0003"}
	job := func(w where, name string, cpus ...int) Job {
		return Job{ID: w.job, Name: name, State: "RUNNING", NodeList: w.node, NumNodes: 1, Nodes: []NodeShare{{Node: w.node, CPUs: cpus}}}
	}
	return views{
		ledgers: []ledger{{lead: 27, places: []ledgerPlace{{0, lead, false, []int{1, 2}}, {5, companion, false, []int{3}}}}},
		jobs:    []Job{job(lead, "bag", 0, 1), job(companion, "crew-27", 1), job(other, "rigid", 0)},
		cpus:    map[string][2]int{"n0001": {2, 2}, "n0003": {2, 2}},
		processes: []process{
			{where: lead, pid: 10, task: 1, says: lead}, {where: lead, pid: 11, task: 2, says: lead},
			{where: companion, pid: 12, task: 3, says: companion}, {where: other, pid: 13},
		},
		cores: map[where][]int{lead: {0, 1}, companion: {1}, other: {0}},
	}
}

// Whatever one view has and another has not is found.
func TestViewsAreCompared(t *testing.T) {
	v := agreeing()
	require.Empty(t, v.faults())
	require.Empty(t, v.differences())
	for want, change := range map[string]func(*views){
		"crew 27 has place 5 of job 31 on n0003, and slurmctld has no such job there": func(v *views) { v.jobs[1].State = "PREEMPTED" },
		"crew 27 has place 5 of job 31, which is crew-9":                              func(v *views) { v.jobs[1].Name = "crew-9" },
		"crews 28 and 27 both have job 31": func(v *views) {
			v.ledgers = append(v.ledgers, ledger{lead: 28, places: []ledgerPlace{{1, where{31, "n0003"}, false, nil}}})
		},
		"slurmctld runs companion 31 (crew-27) on n0003, and no crew has it": func(v *views) {
			v.ledgers[0].places = v.ledgers[0].places[:1]
		},
		"slurmctld has CPUs of n0003 allocated, and jobs that hold others": func(v *views) { v.cpus["n0003"] = [2]int{1, 2} },
		"the kernel runs job 40 on n0003, and slurmctld does not":          func(v *views) { v.jobs = v.jobs[:2] },
		"the kernel runs job 31 on n0004, and slurmctld does not":          func(v *views) { v.processes[2].node = "n0004" },
		"process 13 of job 40 on n0003 comes from no slurmstepd":           func(v *views) { v.processes[3].orphan = true },
		"the kernel lets jobs 31 and 40 use core 1 of n0003":               func(v *views) { v.cores[where{40, "n0003"}] = []int{1} },
		"the kernel lets job 31 use cores [0 1] of n0003, and slurmctld has [1]": func(v *views) {
			v.cores[where{31, "n0003"}] = []int{0, 1}
		},
		"a crew has task 3 run as job 31 on n0003, and the kernel does not": func(v *views) { v.processes[2].task = 0 },
		"the kernel runs task 3 as job 31 on n0003, and no crew does":       func(v *views) { v.ledgers[0].places[1].tasks = nil },
		"process 12 is of job 31 on n0003, and was told that it is of job 31 on n0009": func(v *views) {
			v.processes[2].says.node = "n0009"
		},
	} {
		v := agreeing()
		change(&v)
		require.Contains(t, slices.Collect(maps.Keys(v.differences())), want)
	}
	for want, change := range map[string]func(*views){
		"slurmctld has job 40 twice":                     func(v *views) { v.jobs = append(v.jobs, v.jobs[2]) },
		"slurmctld has 3 of 2 CPUs of n0003 allocated":   func(v *views) { v.cpus["n0003"] = [2]int{3, 2} },
		"crew 27 has task 2 run on two places":           func(v *views) { v.ledgers[0].places[1].tasks = []int{2} },
		"crew 27 has place 0, or job 27 on n0001, twice": func(v *views) { v.ledgers[0].places[1] = v.ledgers[0].places[0] },
		"crew 27 has place 6, or job 31 on n0003, twice": func(v *views) {
			v.ledgers[0].places = append(v.ledgers[0].places, ledgerPlace{6, where{31, "n0003"}, true, nil})
		},
	} {
		v := agreeing()
		change(&v)
		require.Contains(t, v.faults(), want)
	}
}

// A difference counts when it has lasted, without a break.
func TestDifferencesHaveToLast(t *testing.T) {
	p := &probe{since: map[string]*lasting{}, longest: map[string]time.Duration{}}
	now := time.Now()
	take := func(what ...string) {
		now = now.Add(time.Second)
		found := map[string]bool{}
		for _, text := range what {
			found[text] = true
		}
		p.compare(now, found)
	}
	for second := range 40 {
		if second%10 == 9 {
			take("b")
		} else {
			take("a", "b")
		}
		if second < 12 {
			require.Empty(t, p.found)
		}
	}
	require.NotEmpty(t, p.found)
	for _, text := range p.found {
		require.Regexp(t, ": b$", text)
	}
}

func TestLedgerIsRead(t *testing.T) {
	l, err := parseLedger("f", "# job 27 at 2026-11-27T11:00:00Z: PLACE NODE JOB STATE TASKS\n0 n0001 27 here 2,11\n4 n0003 31 leaving -\n")
	require.NoError(t, err)
	require.Equal(t, ledger{"f", 27, []ledgerPlace{{0, where{27, "n0001"}, false, []int{2, 11}}, {4, where{31, "n0003"}, true, nil}}}, l)
	for _, bad := range []string{"", "x\n", "# job x at\n", "# job 1 at x\n1 2\n", "# job 1 at x\na n1 2 here -\n"} {
		_, err := parseLedger("f", bad)
		require.Error(t, err, "%q", bad)
	}
}

// Accounts that have more of a node than it has are found, and those that
// follow each other are not.
func TestOverbooked(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	row := func(id string, cpus, start, end int) accountRow {
		return accountRow{id: id, nodes: []string{"n0001"}, cpus: cpus, start: at(start), end: at(end)}
	}
	rows := []accountRow{row("1", 2, 0, 10), row("2", 1, 10, 20), row("3", 1, 12, 15), row("4", 1, 15, 18)}
	require.Empty(t, overbooked(rows, 2))
	require.Len(t, overbooked(append(rows, row("5", 1, 14, 16)), 2), 2)
}

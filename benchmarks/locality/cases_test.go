// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// task is a job of a case that can be followed on paper. It runs as long as its wall time allows,
// unless for says less. Links carry 1 GB a second, so that a file of 50 GB loads in 50 s.
type task struct {
	id, submit, wall int64
	cores            int
	file             int64
	gb               float64
	runs             int64 // duration; 0: more than wall
	on               int   // runs from the beginning, on this node from 1 on
}

// machine makes nodes with so many cores.
func machine(cores ...int) []Node {
	nodes := make([]Node, len(cores))
	for i, c := range cores {
		nodes[i] = Node{ID: i, Memory: 100, Bandwidth: 1, Cores: c}
	}
	return nodes
}

// beginAtZero adds a node, and a job that has it to itself from 0 on, so that the
// simulation begins then.
func beginAtZero(nodes []Node) ([]Node, []Job) {
	most := 0
	for _, n := range nodes {
		most = max(most, n.Cores)
	}
	last := Node{ID: 99, Memory: 100, Bandwidth: 1, Cores: most + 1}
	return append(slices.Clone(nodes), last), []Job{{Class: WarmUp, Cores: last.Cores, Duration: 1e6, WallTime: 1e6}}
}

// outcome simulates a case and gives, for each job in the order of start,
// "id@start node" and how its file came.
func outcome(t *testing.T, nodes []Node, tasks []task, policy string, mode Mode) string {
	t.Helper()
	nodes, jobs := beginAtZero(nodes)
	for _, x := range tasks {
		j := Job{ID: x.id, Submit: x.submit, WallTime: x.wall, Duration: x.runs,
			Cores: x.cores, File: x.file, FileSize: x.gb, Class: Evaluated}
		if x.runs == 0 {
			j.Duration = x.wall
		}
		if x.on > 0 {
			j.Class, j.StartNode = Running, x.on
		}
		jobs = append(jobs, j)
	}
	var out []string
	_, err := Simulate(context.Background(), nodes, jobs, Options{Policy: policy, Mode: mode, OnStart: func(s Start) {
		if jobs[s.Job].Class == WarmUp {
			return
		}
		text := fmt.Sprintf("%d@%d n%d", jobs[s.Job].ID, s.At, s.Node)
		switch {
		case s.Transfer > 0:
			text += fmt.Sprintf(" loads %d", s.Transfer)
		case s.LoadWait > 0:
			text += fmt.Sprintf(" waits %d", s.LoadWait)
		case s.Reused && jobs[s.Job].File != 0:
			text += " reuses"
		}
		out = append(out, text)
	}})
	require.NoError(t, err)
	return strings.Join(out, ", ")
}

// Section 4.1: the three scenarios of when a file is available.
func TestFileAvailability(t *testing.T) {
	for name, c := range map[string]struct {
		tasks []task
		want  string
	}{
		"1: in memory, a user runs": {[]task{{id: 1, wall: 100, cores: 1, file: 1, gb: 10},
			{id: 2, submit: 20, wall: 50, cores: 1, file: 1, gb: 10}},
			"1@0 n0 loads 10, 2@20 n0 reuses"},
		"1: in memory, its last user has ended": {[]task{{id: 1, wall: 20, cores: 1, file: 1, gb: 10},
			{id: 2, submit: 90, wall: 50, cores: 1, file: 1, gb: 10}},
			"1@0 n0 loads 10, 2@90 n0 reuses"},
		"2: never there": {[]task{{id: 1, wall: 50, cores: 1, file: 1, gb: 10}, {id: 2, submit: 1, wall: 50, cores: 1, file: 2, gb: 30}},
			"1@0 n0 loads 10, 2@1 n0 loads 30"},
		"2: evicted by a start in between": {[]task{{id: 1, wall: 20, cores: 1, file: 1, gb: 10},
			{id: 2, submit: 30, wall: 10, cores: 1}, {id: 3, submit: 90, wall: 50, cores: 1, file: 1, gb: 10}},
			"1@0 n0 loads 10, 2@30 n0, 3@90 n0 loads 10"},
		"kept: the start in between was before the last user's end": {[]task{{id: 1,
			wall: 60, cores: 1, file: 1, gb: 10}, {id: 2, submit: 30, wall: 10, cores: 1},
			{id: 3, submit: 90, wall: 50, cores: 1, file: 1, gb: 10}},
			"1@0 n0 loads 10, 2@30 n0, 3@90 n0 reuses"},
		"kept: two starts in the same second do not evict each other's files": {[]task{
			{id: 1, wall: 20, cores: 1, file: 1, gb: 10}, {id: 2, wall: 20, cores: 1, file: 2, gb: 10},
			{id: 3, submit: 50, wall: 20, cores: 1, file: 2, gb: 10}, {id: 4, submit: 50, wall: 20, cores: 1, file: 1, gb: 10}},
			"1@0 n0 loads 10, 2@0 n0 loads 10, 3@50 n0 reuses, 4@50 n0 reuses"},
		"3: on its way": {[]task{{id: 1, wall: 100, cores: 1, file: 1, gb: 10}, {id: 2, submit: 4, wall: 50, cores: 1, file: 1, gb: 10}},
			"1@0 n0 loads 10, 2@4 n0 waits 6"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, outcome(t, machine(2), c.tasks, "fcfs", Paper))
		})
	}
}

// Algorithms 1 to 5 and line 3' of section 4.3.
func TestAlgorithms(t *testing.T) {
	// Node 0 runs a job with file 1 until 100, node 1 is idle.
	withFile := func(gb float64) []task {
		return []task{{id: 1, wall: 100, cores: 1, file: 1, gb: gb, on: 1}, {id: 2, submit: 60, wall: 10, cores: 1, file: 1, gb: gb}}
	}
	busy := func(nodes int) []task {
		var out []task
		for i := range nodes {
			out = append(out, task{id: int64(i + 1), wall: 200, cores: 1, file: 1, gb: 20, on: i + 1})
		}
		return append(out, task{id: 9, submit: 60, wall: 10, cores: 1, file: 1, gb: 20})
	}
	for name, c := range map[string]struct {
		nodes  []Node
		tasks  []task
		policy string
		want   string
	}{
		"FCFS takes the first of the earliest nodes": {machine(1, 1, 1),
			[]task{{id: 1, wall: 50, cores: 1, on: 1}, {id: 2, wall: 9, cores: 1}}, "fcfs", "1@0 n0, 2@0 n1"},
		"FCFS minds no files": {machine(1, 1), withFile(90), "fcfs", "1@0 n0 loads 90, 2@60 n1 loads 90"},
		"FCFS lets no job pass that would delay one": {machine(2),
			[]task{{id: 1, wall: 50, cores: 1, on: 1}, {id: 2, wall: 50, cores: 2}, {id: 3, wall: 50, cores: 1}},
			"fcfs", "1@0 n0, 2@50 n0, 3@100 n0"},
		"EFT waits 40 s to save 90":         {machine(1, 1), withFile(90), "eft", "1@0 n0 loads 90, 2@100 n0 reuses"},
		"EFT does not wait 40 s to save 30": {machine(1, 1), withFile(30), "eft", "1@0 n0 loads 30, 2@60 n1 loads 30"},
		"LEA waits 40 s to save 30":         {machine(1, 1), withFile(30), "lea", "1@0 n0 loads 30, 2@100 n0 reuses"},
		"LEA waits up to 500 times the load": {machine(1, 1),
			[]task{{id: 1, wall: 559, cores: 1, file: 1, gb: 1, on: 1},
				{id: 2, submit: 60, wall: 10, cores: 1, file: 1, gb: 1}}, "lea",
			"1@0 n0 loads 1, 2@559 n0 reuses"},
		"LEA does not wait longer": {machine(1, 1),
			[]task{{id: 1, wall: 561, cores: 1, file: 1, gb: 1, on: 1},
				{id: 2, submit: 60, wall: 10, cores: 1, file: 1, gb: 1}}, "lea",
			"1@0 n0 loads 1, 2@60 n1 loads 1"},
		"LEA spares the node with more in memory": {machine(2, 2),
			[]task{{id: 1, wall: 50, cores: 1, file: 1, gb: 10, on: 1},
				{id: 2, submit: 60, wall: 10, cores: 1, file: 2, gb: 10}}, "lea",
			"1@0 n0 loads 10, 2@60 n1 loads 10"},
		"LEO does not wait 40 s to save 30 while a node is free": {machine(1, 1), withFile(30), "leo", "1@0 n0 loads 30, 2@60 n1 loads 30"},
		"LEO waits for the file when none is free": {machine(1, 1),
			append([]task{{id: 3, wall: 80, cores: 1, on: 2}}, withFile(30)...), "leo",
			"1@0 n0 loads 30, 3@0 n1, 2@100 n0 reuses"},
		"LEM with 3 of 5 nodes busy is EFT": {machine(1, 1, 1, 1), busy(2),
			"lem", "2@0 n1 loads 20, 1@0 n0 loads 20, 9@60 n2 loads 20"},
		"LEM with 4 of 5 nodes busy is LEA": {machine(1, 1, 1, 1), busy(3),
			"lem", "3@0 n2 loads 20, 2@0 n1 loads 20, 1@0 n0 loads 20, 9@200 n0 reuses"},
		"backfilling fills a gap that is long enough": {machine(2),
			[]task{{id: 1, wall: 50, cores: 1, on: 1}, {id: 2, wall: 50, cores: 2}, {id: 3, wall: 50, cores: 1}},
			"fcfs-bf", "1@0 n0, 3@0 n0, 2@50 n0"},
		"backfilling delays no reservation": {machine(2),
			[]task{{id: 1, wall: 50, cores: 1, on: 1}, {id: 2, wall: 50, cores: 2}, {id: 3, wall: 51, cores: 1}},
			"fcfs-bf", "1@0 n0, 2@50 n0, 3@100 n0"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, outcome(t, c.nodes, c.tasks, c.policy, Paper))
		})
	}
}

// What the programme does and the text does not: D1 to D8 of benchmarks/locality/README.md.
func TestDepartures(t *testing.T) {
	renamed := machine(2)
	renamed[0].ID = 5
	hole := []task{{id: 1, wall: 50, cores: 1, on: 1}, {id: 2, wall: 50, cores: 2}, {id: 3, wall: 50, cores: 1}}
	for name, c := range map[string]struct {
		nodes            []Node
		tasks            []task
		policy           string
		reference, paper string
	}{
		"D1: reuse one after the other needs the same second": {machine(1),
			[]task{{id: 1, wall: 20, cores: 1, file: 1, gb: 10}, {id: 2, submit: 21, wall: 50, cores: 1, file: 1, gb: 10}}, "eft-bf",
			"1@0 n0 loads 10, 2@21 n0 loads 10", "1@0 n0 loads 10, 2@21 n0 reuses"},
		"D1: and the same second does": {machine(1),
			[]task{{id: 1, wall: 20, cores: 1, file: 1, gb: 10}, {id: 2, submit: 20, wall: 50, cores: 1, file: 1, gb: 10}}, "eft",
			"1@0 n0 loads 10, 2@20 n0 reuses", "1@0 n0 loads 10, 2@20 n0 reuses"},
		"D2: a submission forgets which files are planned": {machine(1, 1),
			[]task{{id: 1, wall: 100, cores: 1, file: 1, gb: 50, on: 1},
				{id: 2, submit: 1, wall: 60, cores: 1, file: 1, gb: 50},
				{id: 3, submit: 2, wall: 60, cores: 1, file: 1, gb: 50}}, "lea",
			"1@0 n0 loads 50, 3@2 n1 loads 50, 2@62 n1 reuses", "1@0 n0 loads 50, 2@100 n0 reuses, 3@160 n0 reuses"},
		"D3: the end of a job leaves its reservation if nobody waits": {machine(1),
			[]task{{id: 1, wall: 100, cores: 1, runs: 10}, {id: 2, submit: 20, wall: 5, cores: 1},
				{id: 3, submit: 150, wall: 5, cores: 1}}, "fcfs",
			"1@0 n0, 3@150 n0, 2@155 n0", "1@0 n0, 2@20 n0, 3@150 n0"},
		// an idle core, or the programme would plan nothing
		"D4: a partial load counts from now": {machine(3, 2, 1),
			[]task{{id: 1, wall: 200, cores: 1, file: 1, gb: 100, on: 1},
				{id: 2, wall: 60, cores: 2, on: 1}, {id: 3, wall: 50, cores: 2, on: 2},
				{id: 4, submit: 1, wall: 300, cores: 2, file: 1, gb: 100}}, "eft",
			"3@0 n1, 2@0 n0, 1@0 n0 loads 100, 4@50 n1 loads 100", "3@0 n1, 2@0 n0, 1@0 n0 loads 100, 4@60 n0 waits 40"},
		"D5: files in use do not count as evicted": {machine(2, 2),
			[]task{{id: 1, wall: 100, cores: 1, file: 1, gb: 10, on: 1}, {id: 2, submit: 1, wall: 100, cores: 1, file: 2, gb: 10}}, "lea",
			"1@0 n0 loads 10, 2@1 n0 loads 10", "1@0 n0 loads 10, 2@1 n1 loads 10"},
		"D6: after a free node, LEO weighs the others like it": {machine(1, 2),
			[]task{{id: 1, wall: 200, cores: 1, file: 1, gb: 50, on: 2},
				{id: 2, wall: 48, cores: 1, on: 2}, {id: 3, submit: 45, wall: 100, cores: 1, file: 1, gb: 50}}, "leo",
			"2@0 n1, 1@0 n1 loads 50, 3@48 n1 waits 2", "2@0 n1, 1@0 n1 loads 50, 3@45 n0 loads 50"},
		"D7: the biggest hole stays 0 unless a job is placed on the node of that id": {renamed, hole, "fcfs-bf",
			"1@0 n0, 2@50 n0, 3@100 n0", "1@0 n0, 3@0 n0, 2@50 n0"},
		"D7: which is 0 at first": {machine(2), hole, "fcfs-bf",
			"1@0 n0, 3@0 n0, 2@50 n0", "1@0 n0, 3@0 n0, 2@50 n0"},
		"D8: gaps that begin later are not seen": {machine(2, 1),
			[]task{{id: 1, wall: 10, cores: 1, file: 1, gb: 30, on: 1},
				{id: 2, wall: 20, cores: 1, file: 1, gb: 30, on: 1}, {id: 3, wall: 100, cores: 2},
				{id: 4, wall: 10, cores: 1, file: 1, gb: 30}}, "eft-bf",
			"2@0 n0 loads 30, 1@0 n0 waits 30, 4@0 n1 loads 30, 3@20 n0", "2@0 n0 loads 30, 1@0 n0 waits 30, 4@10 n0 waits 20, 3@20 n0"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.reference, outcome(t, c.nodes, c.tasks, c.policy, Reference), "reference")
			require.Equal(t, c.paper, outcome(t, c.nodes, c.tasks, c.policy, Paper), "paper")
		})
	}
}

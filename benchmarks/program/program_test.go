// SPDX-License-Identifier: BSD-3-Clause

package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

// mode is the variable that has the test's binary be the program.
const mode = "AUCSCHED_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if how := os.Getenv(mode); how != "" {
		os.Exit(behave(how))
	}
	os.Exit(m.Run())
}

const nothing = `{"decisions": []}`

// behave is the program: it answers each line as how says.
func behave(how string) int {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		switch {
		case how == "dies" && n == 2:
			fmt.Fprintln(os.Stderr, "Traceback\nValueError: no idea")
			return 7
		case how == "ends" && n == 2:
			return 0
		case how == "hangs" && n == 2:
			fmt.Fprintln(os.Stderr, "thinking")
			time.Sleep(time.Minute)
		case how == "closes" && n == 2:
			_ = os.Stdout.Close()
			time.Sleep(time.Minute)
		case how == "chats":
			fmt.Println("Hello")
		case how == "twice":
			fmt.Println(nothing + "\n" + nothing)
			continue
		case how == "floods":
			for {
				if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
					return 1
				}
			}
		case how == "moans":
			fmt.Fprint(os.Stderr, strings.Repeat("oh dear\n", 1<<14))
		case how == "seed":
			fmt.Printf(`{"decisions": [{"job": "1", "reason": "seed %s"}]}`+"\n", os.Getenv("AUCSCHED_SEED"))
			continue
		}
		fmt.Println(nothing)
	}
	return 0
}

// snapshot is a machine of 4 nodes of 8 cores and 2 GPUs, of which the last is full, and some jobs.
func snapshot(t testing.TB) *core.Snapshot {
	t.Helper()
	nodes := make([]nodeset.Capacity, 4)
	for i := range nodes {
		nodes[i] = nodeset.Capacity{Cores: 8, GPUs: 2}
	}
	table, err := nodeset.New(nodes)
	require.NoError(t, err)
	memory, err := table.AddResource("memory", []int64{100, 100, 100, 100})
	require.NoError(t, err)
	full := []nodeset.Segment{{First: 3, Last: 3, Cores: 8, GPUs: 2}}
	require.NoError(t, table.Allocate(full))
	job := func(id string, r bids.Request) *core.Job {
		return &core.Job{ID: id, Priority: 10, TimeLimit: 100, Since: 50, Request: r}
	}
	s := &core.Snapshot{Now: 120, Nodes: table, Running: []core.Running{{ID: "R", End: 200, Segs: full}}, Pending: []*core.Job{
		job("1", bids.Request{Cores: 8, MinNodes: 2, MinGPUs: 1, MaxGPUs: 2}),
		job("2", bids.Request{MinNodes: 1, TasksPerNode: 8, Uses: nodeset.Uses{{Row: memory, PerNode: 60}}}),
		job("3", bids.Request{Cores: 5, MinNodes: 2}),
		job("4", bids.Request{Cores: 40}),
		job("5", bids.Request{Cores: 1, Eligible: nodeset.Mask{0b10}}),
	}}
	s.Pending[3].Alternatives = []bids.Request{{Cores: 2, Contiguous: true}}
	require.NoError(t, s.Validate())
	return s
}

// policy is the program behaving so.
func policy(t *testing.T, how string, change func(*Options)) *Policy {
	t.Helper()
	t.Setenv(mode, how)
	o := Defaults()
	if change != nil {
		change(&o)
	}
	p, err := New("exec:test", []string{os.Args[0]}, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// What a program does wrong is said, with the cycle; and it does not decide again.
func TestBadPrograms(t *testing.T) {
	for how, want := range map[string]string{
		"dies":   `cycle 2: the program ended before it answered (exit status 7): its last words: ValueError: no idea`,
		"ends":   `cycle 2: the program ended before it answered (exit status 0)`,
		"hangs":  `cycle 2: the program gave no answer within 300ms (does it flush its output?): its last words: thinking`,
		"closes": `cycle 2: the program ended before it answered (it had closed its input or output)`,
		"chats":  `cycle 1: the answer is no JSON object: "Hello"; what is not a plan belongs on standard error`,
		"twice":  `cycle 2: the program wrote more than one line for the last cycle: "{\"decisions\": []}\n"`,
		"floods": `cycle 1: the program's answer is longer than 65536 bytes`,
	} {
		t.Run(how, func(t *testing.T) {
			p := policy(t, how, func(o *Options) {
				o.MaxAnswer = 1 << 16
				if how == "hangs" {
					o.Timeout = 300 * time.Millisecond
				}
			})
			s, plan := snapshot(t), new(core.Plan)
			var err error
			for range 3 {
				if err = p.Decide(context.Background(), s, core.Limits{}, plan); err != nil {
					break
				}
				time.Sleep(20 * time.Millisecond) // that what is too much has come
			}
			require.EqualError(t, err, want)
			require.Equal(t, err, p.Decide(context.Background(), s, core.Limits{}, plan))
		})
	}
}

// A program that answers goes on, however much it says on standard error, of which little is kept.
func TestGoodPrograms(t *testing.T) {
	var words bytes.Buffer
	p := policy(t, "moans", func(o *Options) { o.Stderr = &words })
	s, plan := snapshot(t), new(core.Plan)
	for range 3 {
		require.NoError(t, p.Decide(context.Background(), s, core.Limits{}, plan))
		require.Empty(t, plan.Decisions)
	}
	kept := p.process.words
	require.NoError(t, p.Close())
	require.LessOrEqual(t, len(kept.kept), maxTail)
	require.Equal(t, 3*8*1<<14, words.Len())

	p = policy(t, "seed", func(o *Options) { o.Seed = 9 })
	require.NoError(t, p.Decide(context.Background(), s, core.Limits{}, plan))
	require.Equal(t, "seed 9", plan.Decisions[0].Reason)
}

func TestNoSuchProgram(t *testing.T) {
	_, err := New("exec:x", []string{"./no-such-program"}, Defaults())
	require.ErrorContains(t, err, "./no-such-program: no such file")
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("mine.py", nil, 0o600))
	_, err = New("exec:x", []string{"mine.py"}, Defaults())
	require.ErrorContains(t, err, `did you mean "./mine.py"?`)
	_, err = New("exec:x", []string{"./mine.py"}, Defaults())
	require.ErrorContains(t, err, "permission denied; chmod +x ./mine.py")
	_, err = New("exec:x", nil, Defaults())
	require.ErrorContains(t, err, "no program is named")
}

// Who is interrupted does not wait for the program.
func TestInterrupted(t *testing.T) {
	p := policy(t, "hangs", nil)
	s, plan := snapshot(t), new(core.Plan)
	require.NoError(t, p.Decide(context.Background(), s, core.Limits{}, plan))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Decide(ctx, s, core.Limits{}, plan), context.DeadlineExceeded)
}

// The window is one that "aucsched plan" reads, and says the same there.
func TestWindow(t *testing.T) {
	s := snapshot(t)
	text, err := json.Marshal(newMachine(4).window(s))
	require.NoError(t, err)
	w, err := window.Read(bytes.NewReader(text), "window")
	require.NoError(t, err, string(text))
	require.Equal(t, []string{"n1", "n2", "n3", "n4"}, w.Names)
	for n := range 4 {
		require.Equal(t, s.Nodes.Total(n), w.Snapshot.Nodes.Total(n))
		require.Equal(t, s.Nodes.Free(n), w.Snapshot.Nodes.Free(n))
	}
	require.Len(t, w.Snapshot.Pending, len(s.Pending))
	for i, job := range w.Snapshot.Pending {
		want := s.Pending[i]
		require.Equal(t, []any{want.ID, want.Priority, want.TimeLimit, want.Cores, want.TasksPerNode, want.MinGPUs},
			[]any{job.ID, job.Priority, job.TimeLimit, job.Cores, job.TasksPerNode, job.MinGPUs})
		require.Equal(t, s.Now-want.Since, w.Snapshot.Now-job.Since)
		require.Equal(t, want.Uses, job.Uses)
		require.Len(t, job.Alternatives, len(want.Alternatives))
	}
	var plain struct {
		Nodes, Jobs []map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &plain))
	for _, job := range plain.Jobs {
		for _, field := range []string{"id", "priority", "cores", "nodes", "tasks_per_node", "gpus_per_node", "time_limit_s", "waited_s"} {
			require.Contains(t, job, field, "it is always there")
		}
	}
	for _, node := range plain.Nodes {
		for _, field := range []string{"name", "cores", "gpus", "free_cores", "free_gpus"} {
			require.Contains(t, node, field)
		}
	}
	require.Equal(t, s.Running[0].End-s.Now, w.Snapshot.Running[0].End-w.Snapshot.Now)
}

// What a program may say of jobs, and what becomes of it.
func TestAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		`{"decisions": [], "policy": "mine", "objective": 3}`:                                                      "",
		`{"decisions": [{"job": "1", "start": true, "nodes": "n[1-2]", "cores_per_node": 4, "gpus_per_node": 2}]}`: "1 [{0 1 4 2}]",
		`{"decisions": [{"job": 1, "start": true, "nodes": "n2,n1", "cores_per_node": [3,5]}]}`:                    "1 [{0 0 5 1} {1 1 3 1}]",
		`{"decisions": [{"job": "3", "start": true, "nodes": "n1,n3", "cores_per_node": [1,4]}]}`:                  "3 [{0 0 1 0} {2 2 4 0}]",
		`{"decisions": [{"job": "2", "start": true, "nodes": "n3"}]}`:                                              "2 [{2 2 8 0}]",
		`{"decisions": [{"job": "5", "start": true}]}`:                                                             "5 [{1 1 1 0}]",
		`{"decisions": [{"job": "4", "start": true, "alternative": 1, "nodes": "n2"}]}`:                            "4/1 [{1 1 2 0}]",
		`{"decisions": [{"job": "4", "start": true}]}`:                                                             "4: no nodes that are free suit it",
		`{"decisions": [{"job": "4", "reason": "later", "expected_start_s": 80}]}`:                                 "4: later at 200",
		`{"decisions": [{"job": "5", "start": true}, {"job": "2", "start": true, "nodes": "n1"}]}`:                 "2 [{0 0 8 0}]; 5 [{1 1 1 0}]",
	} {
		s := snapshot(t)
		p, plan := &Policy{machine: newMachine(4)}, new(core.Plan)
		said, err := parse([]byte(answer))
		require.NoError(t, err, answer)
		require.NoError(t, p.take(s, said, plan), answer)
		require.NoError(t, core.Verify(s, plan), answer)
		var got []string
		for _, d := range plan.Decisions {
			text := s.Pending[d.Job].ID
			if d.Alternative > 0 {
				text += fmt.Sprintf("/%d", d.Alternative)
			}
			if d.Start {
				text += fmt.Sprint(" ", d.Segs)
			} else {
				text += ": " + d.Reason
			}
			if d.Kept {
				text += fmt.Sprint(" at ", d.Expected)
			}
			got = append(got, text)
		}
		require.Equal(t, want, strings.Join(got, "; "), answer)
		require.Equal(t, snapshot(t).Nodes, s.Nodes, "the nodes are as before")
	}
}

// An error names the decision, its job and the field.
func TestWrongAnswers(t *testing.T) {
	one := func(decision string) string { return `{"decisions": [{"job": "5", "start": true}, ` + decision + `]}` }
	for answer, want := range map[string]string{
		``:                                     `the answer is no JSON object`,
		`[]`:                                   `the answer is no JSON object: "[]"`,
		`{"decisions": [`:                      `the answer: the JSON ends too early`,
		`{"decisions": []} {}`:                 `the answer: something follows the JSON`,
		`{}`:                                   `decisions: missing`,
		`{"decisions": null}`:                  `decisions: must be a list`,
		`{"decision": []}`:                     `"decision" is no field of a plan; did you mean "decisions"?`,
		`{"decisions": [], "preempted": [{}]}`: `preempted: jobs of a simulation are not stopped`,
		one(`{"job": "2", "strat": true}`):     `decisions[1]: "strat" is no field of a decision; did you mean "start"?`,
		one(`{"job": "2", "start": "yes"}`):    `decisions[1]: start: found a JSON string`,
		one(`{"start": true}`):                 `decisions[1]: job: missing`,
		one(`{"job": "R", "start": true}`):     `decisions[1]: job: no job "R" waits`,
		one(`{"job": "5", "start": true}`):     `decisions[1] (job 5): the job is there twice`,
		one(`{"job": "2", "nodes": "n1"}`):     `decisions[1] (job 2): nodes: of a job that does not start`,
		one(`{"job": "2", "alternative": 1, "start": true}`):                                           `decisions[1] (job 2): alternative: 1: the job has 0`,
		one(`{"job": "2", "start": true, "nodes": "m1"}`):                                              `decisions[1] (job 2): nodes: "m1" is no node: they are n1 to n4`,
		one(`{"job": "2", "start": true, "nodes": "n[1-"}`):                                            `decisions[1] (job 2): nodes: `,
		one(`{"job": "2", "start": true, "nodes": "n[1-9]"}`):                                          `decisions[1] (job 2): nodes: 9 nodes: the machine has 4`,
		one(`{"job": "3", "start": true, "nodes": "n1,n1", "cores_per_node": [1,4]}`):                  `decisions[1] (job 3): nodes: n1 is there twice`,
		one(`{"job": "3", "start": true, "nodes": "n1,n3"}`):                                           `decisions[1] (job 3): cores_per_node: missing: 5 cores on 2 nodes`,
		one(`{"job": "3", "start": true, "nodes": "n1", "cores_per_node": [1,4]}`):                     `decisions[1] (job 3): cores_per_node: 2 numbers for 1 nodes`,
		one(`{"job": "3", "start": true, "nodes": "n1,n3", "cores_per_node": [-1,6]}`):                 `decisions[1] (job 3): cores_per_node: -1: must be`,
		one(`{"job": "3", "start": true, "nodes": "n1,n3", "cores_per_node": "two"}`):                  `decisions[1]: "\"two\"" is neither`,
		one(`{"job": "3", "start": true, "nodes": "n1", "gpus_per_node": 256, "cores_per_node": 5}`):   `decisions[1] (job 3): gpus_per_node: 256: must be`,
		one(`{"job": "3", "start": true, "nodes": "n1", "gpus_per_node": [1,2], "cores_per_node": 5}`): `decisions[1] (job 3): gpus_per_node: 2 numbers for 1 nodes`,
		one(`{"job": "3", "start": true, "cores_per_node": 5}`):                                        `decisions[1] (job 3): nodes: missing`,
		one(`{"job": "2", "start": true, "nodes": "n4"}`):                                              `decisions[1] (job 2): nodes: n4: `,
		one(`{"job": "2", "start": true, "nodes": "n2"}`):                                              `decisions[1] (job 2): nodes: n2: node 1`,
		one(`{"job": "2", "expected_start_s": -1}`):                                                    `decisions[1] (job 2): expected_start_s: -1: must be`,
	} {
		s := snapshot(t)
		p, plan := &Policy{machine: newMachine(4)}, new(core.Plan)
		said, err := parse([]byte(answer))
		if err == nil {
			err = p.take(s, said, plan)
		}
		require.ErrorContains(t, err, want, answer)
		require.Equal(t, snapshot(t).Nodes, s.Nodes, "the nodes are as before")
	}
}

// What is not what the job asks for is the verifier's to find.
func TestVerifierHasTheLastWord(t *testing.T) {
	for answer, want := range map[string]string{
		`{"decisions": [{"job": "3", "start": true, "nodes": "n1", "cores_per_node": 5}]}`:        "job 3: ",
		`{"decisions": [{"job": "5", "start": true, "nodes": "n1"}]}`:                             "job 5: ",
		`{"decisions": [{"job": "1", "start": true, "nodes": "n[1-2]", "gpus_per_node": [1,2]}]}`: "job 1: ",
	} {
		s := snapshot(t)
		p, plan := &Policy{machine: newMachine(4)}, new(core.Plan)
		said, err := parse([]byte(answer))
		require.NoError(t, err)
		require.NoError(t, p.take(s, said, plan))
		require.ErrorContains(t, core.Verify(s, plan), want)
	}
}

// Whatever a program writes, nothing panics, nodes are as before, and what is taken is allocatable.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(nothing))
	f.Add([]byte(`{"decisions": [{"job": "1", "start": true, "nodes": "n[1-2]", "cores_per_node": 4, "gpus_per_node": 2}]}`))
	f.Add([]byte(`{"decisions": [{"job": 1, "start": true, "nodes": "n2,n1", "cores_per_node": [3,5]}, {"job": "5", "start": true}]}`))
	f.Add([]byte(`{"decisions": [{"job": "4", "alternative": 1, "start": true}, {"job": "2", "expected_start_s": 7}]}`))
	before := snapshot(f).Nodes
	f.Fuzz(func(t *testing.T, line []byte) {
		s := snapshot(t)
		p, plan := &Policy{machine: newMachine(4)}, new(core.Plan)
		said, err := parse(line)
		if err == nil {
			err = p.take(s, said, plan)
		}
		require.Equal(t, before, s.Nodes)
		if err == nil {
			_, err := plan.Apply(s.Nodes)
			require.NoError(t, err)
		}
	})
}

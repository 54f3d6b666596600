// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package ischeduler

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/queue"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func nobody(dir string) link.Endpoint {
	return link.Endpoint{Network: "unix", Address: filepath.Join(dir, "nobody", "socket"), Users: euid()}
}

func states(t *testing.T, c Client) map[uint64]string {
	t.Helper()
	list, err := c.List(context.Background())
	require.NoError(t, err)
	m := make(map[uint64]string)
	for _, j := range list {
		m[j.ID] = j.State
	}
	return m
}

func TestJobsRun(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	c, stop := start(t, filepath.Join(dir, "s"), 100, hypervisor(t, dir))
	want := make(map[uint64]string)
	for i := range 6 {
		spec := &Spec{Args: []string{"true"}, MinCores: 1, MaxCores: uint32(1 + i), Urgent: i == 3}
		id, err := c.Submit(ctx, spec)
		require.NoError(t, err)
		assert.Equal(t, uint64(i+1), id)
		want[id] = "done"
	}
	require.Eventually(t, func() bool { return assert.ObjectsAreEqual(want, states(t, c)) }, patience, 5*time.Millisecond)
	list, err := c.List(ctx)
	require.NoError(t, err)
	assert.Equal(t, int32(7), list[0].Exit)
	assert.Equal(t, []any{"rigid", "moldable"}, []any{list[0].Kind, list[1].Kind})

	// One that doesn't fit into the partition waits, and may be taken back.
	id, err := c.Submit(ctx, &Spec{Args: []string{"true"}, MinCores: 5})
	require.NoError(t, err)
	assert.Equal(t, "waiting", states(t, c)[id])
	require.NoError(t, c.Cancel(ctx, id))
	assert.Equal(t, "cancelled", states(t, c)[id])
	assert.ErrorContains(t, c.Cancel(ctx, id), "there is none")
	st, err := c.Status(ctx)
	require.NoError(t, err)
	assert.Equal(t, []any{true, "p", uint64(4), 0}, []any{st.Connected, st.Partition, st.Cores, st.Jobs})
	stop()
	assert.ErrorContains(t, c.Cancel(ctx, 1), "no iScheduler")
}

// Jobs, their times, and the numbers that were given survive the iScheduler.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	home := filepath.Join(dir, "s")
	c, stop := start(t, home, 2, nobody(dir))
	for range 2 {
		_, err := c.Submit(ctx, &Spec{Args: []string{"true"}, Deadline: 100})
		require.NoError(t, err)
	}
	_, err := c.Submit(ctx, &Spec{Args: []string{"true"}})
	assert.EqualError(t, err, "jobs[0]: the queue is full: it has 2 jobs, the most that it takes")
	assert.ErrorContains(t, c.Cancel(ctx, 1), "no connection to the iHypervisor")
	before, err := c.List(ctx)
	require.NoError(t, err)
	assert.Equal(t, []any{"waiting", 100 * time.Second}, []any{before[0].State, before[0].Deadline.Sub(before[0].Since)})

	_, err = Open(Config{Dir: home, Limit: 1, Queue: queue.DefaultOptions()})
	assert.ErrorIs(t, err, link.ErrInUse)
	stop()

	c, _ = start(t, home, 1, hypervisor(t, dir))
	require.Eventually(t, func() bool { return states(t, c)[1] == "done" && states(t, c)[2] == "done" }, patience, 5*time.Millisecond)
	after, err := c.List(ctx)
	require.NoError(t, err)
	assert.Equal(t, before[0].Since, after[0].Since)
	id, err := c.Submit(ctx, &Spec{Args: []string{"true"}})
	require.NoError(t, err)
	assert.Equal(t, uint64(idBlock+1), id, "a number is never given twice, whatever was given of its block")
}

// What isn't a request gets an error, and takes nothing else with it.
func TestBadRequests(t *testing.T) {
	dir := t.TempDir()
	c, _ := start(t, filepath.Join(dir, "s"), 2, nobody(dir))
	tests := []struct{ line, err string }{
		{`{"op":"dance"}`, `op "dance": must be submit, cancel, list or status`},
		{`{"op":"submit","jobs":[{"args":[]}]}`, "jobs[0]: args: a job needs a command"},
		{`[]`, "cannot unmarshal array"},
		{`{"op":`, "unexpected end of JSON input"},
		{strings.Repeat("x", maxLine+1), "the request has more than 262144 bytes"},
	}
	for _, test := range tests {
		conn, err := control(c.Dir).Dial(context.Background())
		require.NoError(t, err)
		go func() { _, _ = conn.Write([]byte(test.line + "\n")) }()
		line, err := bufio.NewReader(conn).ReadBytes('\n')
		require.NoError(t, err)
		var a answer
		require.NoError(t, json.Unmarshal(line, &a))
		assert.Contains(t, a.Error, test.err)
		require.NoError(t, conn.Close())
	}
	assert.Empty(t, states(t, c))
}

func TestSpecs(t *testing.T) {
	tests := []struct{ text, err string }{
		{`{"args":["a"]}`, ""},
		{"[{\"args\":[\"a\"]},\n{\"args\":[\"b\"],\"kind\":\"malleable\",\"min_cores\":2,\"max_cores\":4}]", ""},
		{`[]`, ""},
		{"{\"args\":[\"a\"],\n\"cores\":2}", `jobs.json:2: unknown field "cores"`},
		{"[{\"args\":[\"a\"]},\n{\"args\":[\"a\"],\"min_cores\":-1}]",
			"jobs.json:2: cannot unmarshal number -1 into Go struct field Spec.min_cores of type uint32"},
		{"\n{\"args\":[\"a\"],\"kind\":\"soft\"}",
			`jobs.json:2: the job that ends here: kind: "soft": must be rigid, moldable, evolving or malleable`},
		{`{"args":["a"],"kind":"rigid","min_cores":2,"max_cores":3}`, "max_cores: 3: must be min_cores, 2, for a rigid job"},
		{`{"args":["a"],"min_cores":4,"max_cores":3}`, "max_cores: 3: must be at least min_cores, 4"},
		{`{"args":["a"],"limit_s":4294967295}`, "limit_s: 4294967295: is out of its range"},
		{`{"args":["a"],"deadline_s":4294967295}`, "deadline_s: 4294967295: must be at most"},
		{`{"args":["a"]} x`, "jobs.json:1: something follows the jobs"},
		{`[{"args":["a"]}`, "jobs.json:1: EOF"},
		{`{`, "jobs.json:1: unexpected EOF"},
	}
	for _, test := range tests {
		specs, err := ReadSpecs(strings.NewReader(test.text), "jobs.json")
		if test.err == "" {
			assert.NoError(t, err)
			assert.Equal(t, strings.Count(test.text, "args"), len(specs))
		} else {
			assert.ErrorContains(t, err, test.err)
		}
	}
}

func FuzzSpecs(f *testing.F) {
	f.Add(`[{"args":["a"],"kind":"malleable","min_cores":2,"max_cores":4}]`)
	f.Add(`{"args":["a"],"env":["A=b","AUCSCHED_SUBMITTED=1","AUCSCHED_DEADLINE=1"],"deadline_s":5}`)
	f.Fuzz(func(t *testing.T, text string) {
		specs, err := ReadSpecs(strings.NewReader(text), "x")
		if err != nil {
			require.Empty(t, specs)
			require.True(t, strings.HasPrefix(err.Error(), "x:"), err.Error())
		}
		for i := range specs {
			j, err := specs[i].job(5, time.Unix(100, 0))
			require.NoError(t, err)
			require.NoError(t, j.Check())
			require.Equal(t, 100*time.Second, timeOf(j, submittedVar))
		}
	})
}

func TestIDs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids")
	var last invasive.JobID
	for range 3 {
		s, err := openIDs(path, 0)
		require.NoError(t, err)
		for range idBlock + 1 {
			id, err := s.take()
			require.NoError(t, err)
			require.Greater(t, id, last)
			last = id
		}
	}
	s, err := openIDs(path, 1e6)
	require.NoError(t, err)
	id, err := s.take()
	require.NoError(t, err)
	assert.Equal(t, invasive.JobID(1e6+1), id)
	require.NoError(t, os.WriteFile(path, []byte("-1\n"), 0o600))
	_, err = openIDs(path, 0)
	assert.ErrorContains(t, err, `ids:1: "-1\n" is no ID`)
}

// A mapping that is too long for a message is cut.
func TestFit(t *testing.T) {
	job := &invasive.Job{ID: 1, MinCores: 1, MaxCores: 1, Args: []string{strings.Repeat("x", 1000)}}
	m := []invasive.Mapping{{Job: job, Parts: []invasive.Part{{Cores: 1}}}, {Job: job, Parts: []invasive.Part{{Cores: 1}}}}
	assert.Len(t, fit(m, 3000), 2)
	assert.Len(t, fit(m, 1500), 1)
	assert.Empty(t, fit(m, 500))
}

// Cores that malleable jobs let go of are mapped like free ones, also if the iHypervisor gives
// them longer than --soon.
func TestShrinkTimeBeyondSoon(t *testing.T) {
	dir := t.TempDir()
	late := 4 * queue.DefaultOptions().Soon
	c, _ := start(t, filepath.Join(dir, "s"), 10, lateHypervisor(t, dir, late))
	id, err := c.Submit(context.Background(), &Spec{Args: []string{"job"}, MinCores: 4})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return states(t, c)[id] == "done" }, patience, 5*time.Millisecond)
}

// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
)

// panicking is a worker's output with a bug of ours behind it.
type panicking struct{ io.Reader }

func (p panicking) Read([]byte) (int, error) { panic("boom") }
func (panicking) Close() error               { return nil }

// A panic on one of the goroutines of a solve is an error of that solve and no more.
func TestPanicsOfGoroutinesAreErrors(t *testing.T) {
	p := &process{out: panicking{}, frames: make(chan frame), quit: make(chan struct{})}
	go p.read(1)
	_, open := <-p.frames
	require.False(t, open)
	require.EqualError(t, p.err, "panic: boom")

	_, in, err := os.Pipe()
	require.NoError(t, err)
	p = &process{in: in, sent: make(chan struct{})}
	go p.send(request{}) // without a model
	<-p.sent
	require.ErrorContains(t, *p.broken.Load(), "panic: ")
}

// A program without HiGHS can use a worker that has it: here one that is a shell script.
func TestClientNeedsNoHiGHS(t *testing.T) {
	var answer bytes.Buffer
	answer.WriteString(answerMagic)
	for _, f := range []frame{
		{kind: kindSolution, chosen: []int32{1}}, {kind: kindBound, bound: 8},
		{kind: kindEnd, end: endFrame{Verdict: verdictStopped, Work: 3}},
	} {
		require.NoError(t, writeFrame(&answer, f))
	}
	path := filepath.Join(t.TempDir(), "answer")
	require.NoError(t, os.WriteFile(path, answer.Bytes(), 0o600))
	s := New(Options{Command: []string{"/bin/sh", "-c", `cat "$0"`, path}})
	m := &ipmodel.Model{
		Value: []int64{5, 7}, GroupStart: []int32{0, 1, 2},
		ColStart: []int32{0, 1, 2}, Row: []int32{0, 0}, Coef: []int32{1, 1}, Cap: []int64{1},
	}
	var r ipmodel.Result
	require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{Deadline: time.Now().Add(10 * time.Second)}, &r))
	require.Equal(t, ipmodel.Result{Status: ipmodel.Feasible, Chosen: []int32{1}, Value: 7, Bound: 8, Work: 3}, r)
	require.NoError(t, s.Fault())
	s.Wait()
}

// Faults of the worker are told, also where there is an answer all the same.
func TestFault(t *testing.T) {
	m := &ipmodel.Model{
		Value: []int64{5, 7}, GroupStart: []int32{0, 1, 2},
		ColStart: []int32{0, 1, 2}, Row: []int32{0, 0}, Coef: []int32{1, 1}, Cap: []int64{1},
	}
	for script, want := range map[string]string{
		"echo no luck >&2; exit 3":                               "ended before its answer: EOF",
		"sleep 30":                                               "had to be killed at the deadline",
		"printf AUCHANS1; sleep 30":                              "had to be killed at the deadline",
		"echo nonsense; echo nonsense; sleep 30":                 "answered nonsense",
		`printf 'AUCHANS1S\010\0\0\0\0\0\0\0\1\0\0\0'; sleep 30`: "answered nonsense: a choice that is not feasible",
		`printf 'AUCHANS1B\010\0\0\0\1\0\0\0\0\0\0\0'; sleep 30`: "answered nonsense: a bound below what is known",
	} {
		s := New(Options{Command: []string{"/bin/sh", "-c", script}})
		var r ipmodel.Result
		o := ipmodel.Options{Deadline: time.Now().Add(300 * time.Millisecond), Start: []int32{0}}
		require.NoError(t, s.Solve(context.Background(), m, o, &r))
		require.ErrorContains(t, s.Fault(), want, script)
		require.Equal(t, []int32{0}, r.Chosen)
		require.Equal(t, ipmodel.Feasible, r.Status)
		require.NoError(t, s.Solve(context.Background(), &ipmodel.Model{}, ipmodel.Options{}, &r))
		require.NoError(t, s.Fault(), "it is the last solve's")
		began := time.Now()
		s.Wait()
		require.Less(t, time.Since(began), 20*time.Second, "its child sleeps for 30")
	}
}

// The last words of a worker are awaited for as long as there may be some and there is
// time, and no longer.
func TestLastWords(t *testing.T) {
	over := make(chan time.Time, 1)
	over <- time.Time{}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		expired chan time.Time
		says    func(*opening, io.Writer)
	}{
		"some":                 {context.Background(), nil, func(_ *opening, w io.Writer) { io.WriteString(w, "why\nwhere") }},
		"none":                 {context.Background(), nil, func(_ *opening, w io.Writer) { w.(io.Closer).Close() }},
		"no time":              {context.Background(), over, func(*opening, io.Writer) {}},
		"nobody wants to know": {done, nil, func(*opening, io.Writer) {}},
	} {
		from, to := io.Pipe()
		o := newOpening()
		go o.copy(from)
		go c.says(o, to)
		began := time.Now()
		o.wait(c.ctx, c.expired)
		require.Less(t, time.Since(began), lastWords, name)
		require.Equal(t, map[bool]string{true: ": why"}[name == "some"], o.note())
		to.Close()
	}
}

// Variables of the worker's environment are the caller's to set, but for the bound on its memory.
func TestEnvironment(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "/theirs")
	for want, o := range map[string]Options{
		"LD_LIBRARY_PATH=/theirs":                                                   {},
		"LD_LIBRARY_PATH=/theirs A=1":                                               {Env: []string{"A=1"}},
		"LD_LIBRARY_PATH=/theirs LD_LIBRARY_PATH=/ours":                             {Env: []string{"LD_LIBRARY_PATH=/ours"}},
		"LD_LIBRARY_PATH=/theirs " + memoryVariable + "=0 " + memoryVariable + "=7": {Env: []string{memoryVariable + "=0"}, Memory: 7},
	} {
		require.Equal(t, want, strings.Join(o.environ(), " "), "the last one of a name counts")
	}
}

// What a worker has started itself goes with it.
func TestKillTakesTheGroup(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc to look for processes in")
	}
	m := &ipmodel.Model{
		Value: []int64{5, 7}, GroupStart: []int32{0, 1, 2},
		ColStart: []int32{0, 1, 2}, Row: []int32{0, 0}, Coef: []int32{1, 1}, Cap: []int64{1},
	}
	file := filepath.Join(t.TempDir(), "pid")
	s := New(Options{Command: []string{"/bin/sh", "-c", `sleep 30 & echo $! >"$0"; wait`, file}})
	var r ipmodel.Result
	require.NoError(t, s.Solve(context.Background(), m,
		ipmodel.Options{Deadline: time.Now().Add(300 * time.Millisecond), Start: []int32{0}}, &r))
	s.Wait()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(text)), "stat"))
		return err != nil || strings.Contains(string(stat), ") Z ") // gone, or nobody's to collect
	}, 60*time.Second, 10*time.Millisecond)
}

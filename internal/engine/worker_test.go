// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/highs"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// The test's own program is a worker, a good or a bad one, where it lies, by a link, beside a file
// that says which. It leaves its process id in another.
const (
	roleFile = "role"
	pidFile  = "pids"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "solver-worker" {
		dir := filepath.Dir(os.Args[0])
		if f, err := os.OpenFile(filepath.Join(dir, pidFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(f, os.Getpid())
			f.Close()
		}
		role, err := os.ReadFile(filepath.Join(dir, roleFile))
		if err != nil {
			panic(err)
		}
		os.Exit(play(string(role)))
	}
	os.Exit(m.Run())
}

// say writes one message of the protocol between highs.Solver and highs.Worker.
func say(kind byte, body ...any) {
	var b bytes.Buffer
	for _, data := range body {
		if err := binary.Write(&b, binary.LittleEndian, data); err != nil {
			panic(err)
		}
	}
	_ = binary.Write(os.Stdout, binary.LittleEndian, struct {
		Kind byte
		Size uint32
	}{kind, uint32(b.Len())})
	_, _ = os.Stdout.Write(b.Bytes())
}

func end(verdict byte) { say('E', verdict, int64(1), int64(1)) }

func play(role string) int {
	if role == "real" {
		if highs.Worker(os.Stdin, os.Stdout) != nil {
			return 1
		}
		return 0
	}
	if role == "dead" {
		fmt.Fprintln(os.Stderr, "out of luck")
		return 7
	}
	if role == "silent" {
		time.Sleep(time.Hour)
	}
	if role == "garbage" {
		_, _ = io.WriteString(os.Stdout, strings.Repeat("\x00\xffgarbage", 1<<15))
		return 0
	}
	_, _ = io.WriteString(os.Stdout, "AUCHANS1")
	switch role {
	case "good", "good and hangs":
		m, err := readModel(os.Stdin)
		if err != nil {
			end(3)
			return 1
		}
		var r ipmodel.Result
		_ = native.New().Solve(context.Background(), m, ipmodel.Options{Work: 2_000_000, Seed: 5}, &r)
		say('S', r.Chosen)
		if role == "good" {
			say('B', r.Bound)
			end(0)
		} else {
			say('B', r.Value) // as if it were proven
			time.Sleep(time.Hour)
		}
	case "hangs":
		time.Sleep(time.Hour)
	case "garbage later":
		_, _ = io.WriteString(os.Stdout, strings.Repeat("\x00\xffgarbage", 1<<15))
	case "truncates":
		_, _ = os.Stdout.Write([]byte{'S', 8, 0, 0, 0, 1, 2})
	case "truncates and hangs":
		_, _ = os.Stdout.Write([]byte{'S', 8, 0, 0, 0, 1, 2})
		time.Sleep(time.Hour)
	case "closes and hangs":
		os.Stdout.Close()
		time.Sleep(time.Hour)
	case "huge frame":
		_, _ = os.Stdout.Write([]byte{'S', 0xfc, 0xff, 0xff, 0xff})
		time.Sleep(time.Hour)
	case "infeasible choice":
		all := make([]int32, 60)
		for i := range all {
			all[i] = int32(i)
		}
		say('S', all)
		end(1)
	case "columns out of range":
		say('S', []int32{-1, 1 << 30})
		end(1)
	case "bound below what is known":
		say('B', int64(1))
		end(1)
	case "negative bound":
		say('B', int64(-1<<63))
		end(0)
	case "claims infeasible":
		end(2)
	case "gives up":
		end(3)
	case "floods":
		for {
			say('B', int64(1<<60))
		}
	}
	return 0
}

// readModel reads what highs.Solver sends.
func readModel(r io.Reader) (*ipmodel.Model, error) {
	if _, err := io.CopyN(io.Discard, r, 8); err != nil { // which version it is
		return nil, err
	}
	q := struct{ Model *ipmodel.Model }{new(ipmodel.Model)}
	if err := gob.NewDecoder(r).Decode(&q); err != nil {
		return nil, err
	}
	return q.Model, q.Model.Validate()
}

// hard is an input that native does not prove with next to no work, and could better.
func hard() *Input { return randomInput(rand.New(rand.NewPCG(26, 3)), 60, 80) }

// withWorker opens an engine whose worker plays a role.
func withWorker(t *testing.T, mode, role string, now func() time.Time) *Engine {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "worker") // a path without what ends a setting's value
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	worker := filepath.Join(dir, "worker")
	if role != "absent" {
		require.NoError(t, os.Symlink(self, worker))
	}
	e, err := New(fmt.Sprintf("preset=none reservations=0 work=1 solver=%s worker=%s", mode, worker), Options{Now: now})
	require.NoError(t, err)
	t.Cleanup(e.Close)
	setRole(t, e, role)
	return e
}

func setRole(t *testing.T, e *Engine, role string) {
	t.Helper()
	require.NoError(t, os.WriteFile(beside(e, roleFile), []byte(role), 0o600))
}

// beside is a file beside an engine's worker.
func beside(e *Engine, name string) string {
	return filepath.Join(filepath.Dir(e.Settings().Worker), name)
}

// due leaves a good worker the time to start and answer on a busy machine, under the race
// detector too.
const due = time.Second

// cycleBy runs a cycle and requires a valid decision by the deadline. What a machine with other
// things to do takes on top is allowed for: a worker that hangs does so for ever.
func cycleBy(t *testing.T, e *Engine, in *Input) *Output {
	t.Helper()
	return cycleWithin(t, e, in, due)
}

func cycleWithin(t *testing.T, e *Engine, in *Input, deadline time.Duration) *Output {
	t.Helper()
	var out Output
	in.Deadline = deadline
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Less(t, out.Elapsed, 4*deadline)
	return &out
}

func TestBadWorkersDoNoHarm(t *testing.T) {
	alone := cycleWithin(t, open(t, "preset=none reservations=0 work=1"), hard(), 20*due)
	require.False(t, alone.Optimal)
	for _, role := range []string{
		"absent", "dead", "silent", "garbage", "hangs", "garbage later", "truncates", "truncates and hangs", "closes and hangs",
		"huge frame", "infeasible choice", "columns out of range", "bound below what is known", "negative bound",
		"claims infeasible", "gives up", "floods", "good and hangs",
	} {
		for _, mode := range []string{"auto", "highs"} {
			t.Run(mode+" "+role, func(t *testing.T) {
				t.Parallel() // most of it is waiting for a worker that says nothing
				e := withWorker(t, mode, role, nil)
				deadline := 20 * due // of which a worker that ends by itself takes little
				switch role {
				case "silent", "hangs", "truncates and hangs", "closes and hangs", "huge frame", "floods":
					deadline = 2 * due
				case "good and hangs":
					// many others start beside it, and it has to say what is good
					deadline = 4 * due
				}
				out := cycleWithin(t, e, hard(), deadline)
				require.Equal(t, 1, out.WorkerFailures)
				require.Error(t, e.WorkerFault())
				require.False(t, out.Optimal, "nothing that it said is a proof")
				if role == "good and hangs" {
					require.Greater(t, out.Objective, alone.Objective, "what it found in time is good")
					return
				}
				require.GreaterOrEqual(t, out.Objective, alone.Objective, "the native answer stands")
			})
		}
	}
}

func TestAGoodWorkerBettersTheAnswer(t *testing.T) {
	in := hard()
	alone := cycleWithin(t, open(t, "preset=none reservations=0 work=1"), in, 20*due)
	for _, mode := range []string{"auto", "highs"} {
		e := withWorker(t, mode, "good", nil)
		out := cycleWithin(t, e, in, 20*due) // it takes that only if the worker says nothing
		require.Zero(t, out.WorkerFailures, e.WorkerFault())
		require.Greater(t, out.Objective, alone.Objective)
		require.LessOrEqual(t, out.Bound, alone.Bound)
	}
}

func TestHiGHSAsWorker(t *testing.T) {
	if !highs.Built {
		t.Skip("HiGHS is not built in (build tag highs)")
	}
	in := randomInput(rand.New(rand.NewPCG(2, 3)), 20, 30)
	alone := cycleWithin(t, open(t, "preset=none reservations=0 work=1"), in, 20*due)
	for mode, work := range map[string]int{"auto": 1, "highs": 0} {
		e := withWorker(t, mode, "real", nil)
		require.NoError(t, e.Configure(fmt.Sprintf("preset=none reservations=0 work=%d solver=%s worker=%s", work, mode, e.Settings().Worker)))
		var out Output
		in.Deadline = 5 * time.Second
		require.NoError(t, e.Cycle(in, &out))
		require.NoError(t, check(in, &out))
		require.Zero(t, out.WorkerFailures, e.WorkerFault())
		require.Greater(t, out.Objective, alone.Objective)
	}
}

// What native proves is not the worker's business.
func TestAutoLeavesProvenModelsAlone(t *testing.T) {
	e := withWorker(t, "auto", "dead", nil)
	require.NoError(t, e.Configure("solver=auto worker="+e.Settings().Worker))
	out := cycleBy(t, e, tableI())
	require.True(t, out.Optimal)
	require.Zero(t, out.WorkerFailures)
	require.NoFileExists(t, beside(e, pidFile))
}

// After three failures in a row the worker is left alone for a minute, then tried once.
func TestRetriesAreBounded(t *testing.T) {
	for _, mode := range []string{"auto", "highs"} {
		var offset time.Duration
		e := withWorker(t, mode, "dead", func() time.Time { return time.Now().Add(offset) })
		in := hard()
		failures := func() int { return cycleWithin(t, e, in, 20*due).WorkerFailures }
		started := func() int {
			text, _ := os.ReadFile(beside(e, pidFile))
			return bytes.Count(text, []byte("\n"))
		}
		require.Equal(t, []int{1, 1, 1, 0, 0}, []int{failures(), failures(), failures(), failures(), failures()})
		require.Equal(t, 3, started())
		require.NoError(t, e.WorkerFault())
		offset += 50 * time.Second
		require.Zero(t, failures())
		offset += 11 * time.Second
		require.Equal(t, []int{1, 0}, []int{failures(), failures()}, "one try a minute")
		require.Equal(t, 4, started())
		offset += 61 * time.Second
		setRole(t, e, "good")
		require.Equal(t, []int{0, 0}, []int{failures(), failures()})
		setRole(t, e, "dead")
		require.Equal(t, []int{1, 1, 1, 0}, []int{failures(), failures(), failures(), failures()}, "counted anew after a good one")
	}
}

// After Close there is no worker process, and no descriptor of one.
func TestCloseLeavesNoProcess(t *testing.T) {
	before := descriptors(t)
	e := withWorker(t, "auto", "hangs", nil)
	for range 3 {
		require.Equal(t, 1, cycleBy(t, e, hard()).WorkerFailures)
	}
	e.Close()
	text, err := os.ReadFile(beside(e, pidFile))
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	lines := strings.Fields(string(text))
	require.LessOrEqual(t, len(lines), 3, "one of a cycle, if it came to say who it is")
	for _, line := range lines {
		pid, err := strconv.Atoi(line)
		require.NoError(t, err)
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "killed, and not left as a zombie")
	}
	require.Empty(t, children(t))
	require.LessOrEqual(t, descriptors(t), before+1, "the runtime's poller may have opened one")
}

// children are the processes that this one has started and not waited for.
func children(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil { // else its thread has ended
			all = append(all, strings.Fields(string(text))...)
		}
	}
	return all
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc to count descriptors in")
	}
	return len(entries)
}

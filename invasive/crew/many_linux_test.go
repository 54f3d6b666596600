// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive/malleable"
)

// What a program's books cost when one place of so many comes, is to leave or is gone; no member is
// there. With TMPDIR=/dev/shm it is not the disk that is measured.
func BenchmarkPlaces(b *testing.B) {
	for _, n := range []int{64, 1000, 10_000} {
		for _, kind := range []Kind{Joined, Leaving, Gone} {
			b.Run(fmt.Sprint(n, "/", kind), func(b *testing.B) {
				p, err := NewProgram(b.TempDir(), quiet)
				require.NoError(b, err)
				defer p.Close()
				p.stop() // it is told here
				p.lead = &Lead{}
				for place := range n {
					p.nodes[place] = "n" + strconv.Itoa(place)
				}
				p.tell()
				for at := 0; b.Loop(); at++ {
					e := Event{Kind: kind, Place: at % n, Node: "n"}
					b.StopTimer()
					if kind == Joined {
						delete(p.nodes, e.Place)
						p.tell()
					}
					number := p.change.Number
					b.StartTimer()
					p.Handle(e)
					p.tell()
					b.StopTimer()
					require.Equal(b, number+1, p.change.Number, "the program is told")
					delete(p.leaving, e.Place)
					p.nodes[e.Place] = "n"
					p.tell()
					b.StartTimer()
				}
			})
		}
	}
}

// memberVariable has this test's program be a member, and is what it joins by.
const memberVariable = "AUCSCHED_TEST_CREW_MEMBER"

// TestMemberProcess is a member in a process of its own, if asked for.
func TestMemberProcess(t *testing.T) {
	text := os.Getenv(memberVariable)
	if text == "" {
		t.Skip("it is run by TestManyMembers")
	}
	var m Member
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	wanted := make(chan os.Signal, 1)
	signal.Notify(wanted, syscall.SIGTERM)
	require.NoError(t, m.Serve(context.Background(), wanted))
}

// Members that are processes join, a program is told of each, half of them are wanted back, and
// leave when the program has said that it is done, then the others are let go; all end well. The
// times by number of members are printed.
func TestManyMembers(t *testing.T) {
	counts := []int{1, 8, 64}
	if testing.Short() {
		counts = []int{8}
	}
	for _, n := range counts {
		c, _, env := programCrew(t)
		program, err := malleable.Connect(env)
		require.NoError(t, err)
		begin := time.Now()
		lap := func() (took time.Duration) {
			took, begin = time.Since(begin), time.Now()
			return took
		}
		processes := make([]*exec.Cmd, n)
		for place := range processes {
			m, err := json.Marshal(Member{Invitation: c.Invitation(), Place: place, Node: fmt.Sprint("n", place), Job: "1"})
			require.NoError(t, err)
			cmd := exec.Command(os.Args[0], "-test.run=^TestMemberProcess$")
			cmd.Env = append(os.Environ(), memberVariable+"="+string(m))
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			processes[place] = cmd
		}
		var all, stay []int
		for place := range n {
			if all = append(all, place); place%2 == 0 {
				stay = append(stay, place)
			}
		}
		told(t, program, all)
		joined := lap()
		for place := 1; place < n; place += 2 {
			require.NoError(t, processes[place].Process.Signal(syscall.SIGTERM))
		}
		if n > 1 {
			require.NoError(t, program.Done(told(t, program, stay)))
		}
		heard := lap()
		for place := 1; place < n; place += 2 {
			require.NoError(t, processes[place].Wait(), "member %d", place)
		}
		left := lap()
		c.Dismiss(time.Minute)
		for place := 0; place < n; place += 2 {
			require.NoError(t, processes[place].Wait(), "member %d", place)
		}
		t.Logf("%d members: joined after %v; half are wanted back: known after %v, gone after %v; the rest after %v",
			n, joined.Round(time.Millisecond), heard.Round(time.Millisecond), left.Round(time.Millisecond), lap().Round(time.Millisecond))
		program.Close()
	}
}

// told waits until a change names these places.
func told(t *testing.T, c *malleable.Client, want []int) malleable.Change {
	t.Helper()
	end := time.After(2 * time.Minute)
	var change malleable.Change
	for {
		select {
		case change = <-c.Changes():
			if slices.Equal(change.Cores, want) {
				return change
			}
		case <-end:
			require.FailNow(t, "no change", "want %d places, have %d", len(want), len(change.Cores))
		}
	}
}

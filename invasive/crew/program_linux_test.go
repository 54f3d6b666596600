// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive/malleable"
)

// programCrew is a lead with a program, and members in this process.
func programCrew(t *testing.T) (*testCrew, *Program, func(string) string) {
	p, err := NewProgram(t.TempDir(), quiet)
	require.NoError(t, err)
	c, ready := &testCrew{}, make(chan struct{})
	c.Lead, err = NewLead("127.0.0.1:0", quiet, func(e Event) {
		<-ready
		p.Handle(e)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.events = append(c.events, e)
	})
	require.NoError(t, err)
	p.lead = c.Lead
	close(ready)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		require.NoError(t, p.Close())
		_, err := os.Stat(p.dir)
		require.ErrorIs(t, err, os.ErrNotExist)
	})
	return c, p, func(name string) string {
		for _, v := range p.Environ() {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// places waits until the program is told of these.
func places(t *testing.T, c *malleable.Client, want ...int) (change malleable.Change) {
	t.Helper()
	for end := time.After(time.Minute); ; {
		select {
		case change = <-c.Changes():
			if len(change.Cores) == len(want) {
				require.Equal(t, want, change.Cores)
				return change
			}
		case <-end:
			require.Fail(t, "no change", "want %v, have %v", want, change.Cores)
		}
	}
}

// A program hears of places that come and go, and a place leaves when it has said that it is done.
func TestProgramHearsOfPlaces(t *testing.T) {
	c, _, env := programCrew(t)
	_, _ = c.member(0)
	c.until(t, Joined, 0)
	program, err := malleable.Connect(env)
	require.NoError(t, err)
	defer program.Close()
	places(t, program, 0)
	wanted, left := c.member(4)
	require.NoError(t, program.Done(places(t, program, 0, 4)))
	text, err := os.ReadFile(env(NodesVariable))
	require.NoError(t, err)
	require.Equal(t, "0 n0\n4 n4\n", string(text))

	wanted <- syscall.SIGTERM
	change := places(t, program, 0)
	select {
	case <-left:
		require.Fail(t, "it left before the program was done")
	case <-time.After(200 * time.Millisecond):
	}
	require.NoError(t, program.Done(change))
	require.NoError(t, <-left)
	c.until(t, Gone, 4)

	wanted, left = c.member(5)
	places(t, program, 0, 5)
	program.Close()
	wanted <- syscall.SIGTERM // nobody is there to be asked
	require.NoError(t, <-left)
}

func TestCommandsOnPlaces(t *testing.T) {
	c, _, env := programCrew(t)
	_, _ = c.member(0)
	wanted, left := c.member(1)
	c.until(t, Joined, 0)
	c.until(t, Joined, 1)
	dir := t.TempDir()
	sh := func(place int, script string) (int, error) {
		return On(env(OnVariable), place, Command{Argv: []string{"/bin/sh", "-c", script}, Dir: dir})
	}
	for script, want := range map[string]int{"true": 0, "exit 9": 9} {
		status, err := sh(1, script)
		require.NoError(t, err)
		require.Equal(t, want, status)
	}
	status, err := sh(7, "true")
	require.ErrorContains(t, err, "no member")
	require.Equal(t, LostStatus, status)

	done := make(chan int, 1)
	go func() {
		status, _ := sh(1, "echo >began; sleep 100")
		done <- status
	}()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "began"))
		return err == nil
	}, 60*time.Second, 10*time.Millisecond)
	wanted <- syscall.SIGTERM // no program is connected: the place is let go
	require.NoError(t, <-left)
	require.NotZero(t, <-done)
}

// Of places that come in a burst the program hears together: the file is written a few times.
func TestABurstOfPlaces(t *testing.T) {
	_, p, env := programCrew(t)
	program, err := malleable.Connect(env)
	require.NoError(t, err)
	defer program.Close()
	const n = 10_000
	began, all := time.Now(), make([]int, n)
	for place := range n {
		all[place] = place
		p.Handle(Event{Kind: Joined, Place: place, Node: fmt.Sprint("n", place)})
	}
	handled := time.Since(began)
	change := told(t, program, all)
	t.Logf("%d places: handled after %v, told after %v, by %d changes", n, handled, time.Since(began), change.Number)
	require.Less(t, change.Number, uint32(n/50))
	text, err := os.ReadFile(env(NodesVariable))
	require.NoError(t, err)
	require.Equal(t, n, strings.Count(string(text), "\n"))
	require.True(t, strings.HasPrefix(string(text), "0 n0\n1 n1\n"))
	require.True(t, strings.HasSuffix(string(text), "\n9999 n9999\n"))
}

// An answer lets go of what its change has left out, and not of what the next one will.
func TestAnswersAreToTheirChange(t *testing.T) {
	c, p, env := programCrew(t)
	p.stop() // it is told here
	for place := range 3 {
		_, _ = c.member(place)
		c.until(t, Joined, place)
	}
	program, err := malleable.Connect(env)
	require.NoError(t, err)
	defer program.Close()
	p.tell()
	first := places(t, program, 0, 1, 2)
	p.Handle(Event{Kind: Leaving, Place: 1})
	p.said(theJob, malleable.Request{Verb: malleable.Done, Number: first.Number})
	time.Sleep(100 * time.Millisecond)
	require.Len(t, c.Places(), 3, "the program does not know yet")
	p.tell()
	require.NoError(t, program.Done(places(t, program, 0, 2)))
	c.until(t, Gone, 1)
	require.Len(t, c.Places(), 2)
}

// A program that goes without an answer is not waited for: what is to leave does, and no other.
func TestAProgramThatGoesHoldsNothing(t *testing.T) {
	c, p, env := programCrew(t)
	p.stop() // it is told here
	left := map[int]<-chan error{}
	for place := range 4 {
		_, left[place] = c.member(place)
		c.until(t, Joined, place)
	}
	program, err := malleable.Connect(env)
	require.NoError(t, err)
	p.tell()
	places(t, program, 0, 1, 2, 3)
	p.Handle(Event{Kind: Leaving, Place: 1})
	p.tell()
	places(t, program, 0, 2, 3)
	p.Handle(Event{Kind: Leaving, Place: 3}) // it has not heard of this one
	program.Close()
	c.until(t, Gone, 1)
	c.until(t, Gone, 3)
	require.NoError(t, <-left[1])
	require.NoError(t, <-left[3])
	require.Eventually(t, func() bool { return len(c.Places()) == 2 }, 60*time.Second, 10*time.Millisecond)
}

// Who comes on a place that was lost is another, even if the program has not heard of the loss.
func TestAPlaceIsTakenAnew(t *testing.T) {
	_, p, env := programCrew(t)
	p.stop() // it is told here
	for _, e := range []Event{{Kind: Joined, Place: 0, Node: "a"}, {Kind: Joined, Place: 1, Node: "b"}} {
		p.Handle(e)
		p.tell()
	}
	require.EqualValues(t, 2, p.change.Number)
	p.tell()
	require.EqualValues(t, 2, p.change.Number, "there is nothing new")
	p.Handle(Event{Kind: Gone, Place: 1})
	p.Handle(Event{Kind: Joined, Place: 1, Node: "c"})
	p.tell()
	require.EqualValues(t, 3, p.change.Number)
	text, err := os.ReadFile(env(NodesVariable))
	require.NoError(t, err)
	require.Equal(t, "0 a\n1 c\n", string(text))
}

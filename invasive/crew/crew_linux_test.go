// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/lines/linestest"
)

// A lead with members in this process, and what it has heard.
type testCrew struct {
	*Lead
	mu     sync.Mutex
	events []Event
}

func newTestCrew(t *testing.T) *testCrew {
	c := &testCrew{}
	var err error
	c.Lead, err = NewLead("127.0.0.1:0", quiet, func(e Event) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.events = append(c.events, e)
	})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// member joins, and returns its signals and how it has ended.
func (c *testCrew) member(place int) (chan os.Signal, chan error) {
	wanted, ended := make(chan os.Signal, 1), make(chan error, 1)
	m := Member{Invitation: c.Invitation(), Place: place, Node: fmt.Sprint("n", place), Job: "1"}
	go func() { ended <- m.Serve(context.Background(), wanted) }()
	return wanted, ended
}

// until waits for an event of a place.
func (c *testCrew) until(t *testing.T, kind Kind, place int) (found Event) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.IndexFunc(c.events, func(e Event) bool { return e.Kind == kind && e.Place == place })
		if i >= 0 {
			found = c.events[i]
			c.events = slices.Delete(c.events, i, i+1)
		}
		return i >= 0
	}, 60*time.Second, 5*time.Millisecond, "%v %d", kind, place)
	return found
}

func TestCommandsOfAMember(t *testing.T) {
	c := newTestCrew(t)
	wanted, ended := c.member(3)
	require.Equal(t, Event{Kind: Joined, Place: 3, Node: "n3", Job: "1"}, c.until(t, Joined, 3))
	dir := t.TempDir()
	for script, status := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, `echo "$X" >file`: 0} {
		id, err := c.Run(3, Command{Argv: []string{"/bin/sh", "-c", script}, Env: []string{"X=1 2"}, Dir: dir})
		require.NoError(t, err)
		e := c.until(t, Ended, 3)
		require.Equal(t, []any{id, status}, []any{e.ID, e.Status}, script)
	}
	text, err := os.ReadFile(filepath.Join(dir, "file"))
	require.NoError(t, err)
	require.Equal(t, "1 2\n", string(text))
	for _, argv := range [][]string{{"/nothing/there"}, nil} {
		_, err = c.Run(3, Command{Argv: argv})
		require.NoError(t, err)
		require.Equal(t, 127, c.until(t, Ended, 3).Status)
	}

	id, err := c.Run(3, Command{Argv: []string{"sleep", "100"}})
	require.NoError(t, err)
	require.NoError(t, c.Kill(3, id))
	require.Equal(t, 143, c.until(t, Ended, 3).Status)

	_, err = c.Run(4, Command{Argv: []string{"true"}})
	require.ErrorIs(t, err, ErrNoMember)
	wanted <- syscall.SIGTERM
	c.until(t, Leaving, 3)
	_, err = c.Run(3, Command{Argv: []string{"true"}})
	require.ErrorIs(t, err, ErrNoMember, "it leaves")
	require.NoError(t, c.Release(3))
	require.NoError(t, <-ended)
	c.until(t, Gone, 3)
}

// When a member ends nothing of what it has started is left, not even what asks for more.
func TestNothingOutlastsAMember(t *testing.T) {
	c := newTestCrew(t)
	_, ended := c.member(0)
	c.until(t, Joined, 0)
	dir := t.TempDir()
	script := `trap "" TERM; sleep 1000 & echo $! $$ >pids; wait; sleep 1000`
	_, err := c.Run(0, Command{Argv: []string{"/bin/sh", "-c", script}, Dir: dir})
	require.NoError(t, err)
	var pids []int
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "pids"))
		var a, b int
		n, _ := fmt.Sscan(string(text), &a, &b)
		pids = []int{a, b}
		return n == 2
	}, 60*time.Second, 10*time.Millisecond)
	require.NoError(t, c.Close(), "the lead is gone")
	require.Error(t, <-ended)
	for _, pid := range pids {
		require.Eventually(t, func() bool {
			// one without a parent is a zombie until somebody takes it
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil || strings.Contains(string(stat), ") Z ")
		}, 60*time.Second, 10*time.Millisecond, "%d", pid)
	}
}

// What a command leaves behind in its process group ends with it: it would run beside who gets the
// place next.
func TestNothingOutlastsACommand(t *testing.T) {
	c := newTestCrew(t)
	_, _ = c.member(0)
	c.until(t, Joined, 0)
	dir := t.TempDir()
	_, err := c.Run(0, Command{Argv: []string{"/bin/sh", "-c", `trap "" TERM; sleep 1000 & echo $! >pid; exit 3`}, Dir: dir})
	require.NoError(t, err)
	require.Equal(t, 3, c.until(t, Ended, 0).Status)
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(string(text))))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 60*time.Second, 10*time.Millisecond)
	require.Len(t, c.Places(), 1, "the member goes on")
}

// What a command has started may end in its own way when the command is asked to end, even if that
// has no handler for it.
func TestMercyIsForAllOfACommand(t *testing.T) {
	c := newTestCrew(t)
	_, _ = c.member(0)
	c.until(t, Joined, 0)
	dir := t.TempDir()
	script := `sh -c 'trap "sleep 0.7; echo >clean; exit" TERM; echo >began; while :; do sleep 0.01; done'; true`
	id, err := c.Run(0, Command{Argv: []string{"/bin/sh", "-c", script}, Dir: dir})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "began"))
		return err == nil
	}, 60*time.Second, 10*time.Millisecond)
	require.NoError(t, c.Kill(0, id))
	require.Equal(t, 143, c.until(t, Ended, 0).Status)
	require.FileExists(t, filepath.Join(dir, "clean"))
}

// Who has no invitation, or another one, neither joins nor is joined.
func TestStrangersAreTurnedAway(t *testing.T) {
	c := newTestCrew(t)
	_, _ = c.member(0)
	c.until(t, Joined, 0)
	good := c.Invitation()
	closed := newTestCrew(t)
	require.NoError(t, closed.Close())
	for name, change := range map[string]func(*Member){
		"nobody":      func(m *Member) { m.Invitation = closed.Invitation() },
		"secret":      func(m *Member) { m.Invitation.Secret[31]++ },
		"certificate": func(m *Member) { m.Invitation.Certificate[0]++ },
		"taken place": func(m *Member) { m.Place = 0 },
		"place":       func(m *Member) { m.Place = MaxPlaces },
		"negative":    func(m *Member) { m.Place = -1 },
	} {
		m := Member{Invitation: good, Place: 1}
		change(&m)
		err := m.Serve(t.Context(), nil)
		require.Error(t, err, name)
		require.Equal(t, name != "nobody" && name != "certificate", errors.Is(err, errRefused), "%s: %v", name, err)
	}
	long := strings.Repeat("x", lines.MaxMessage+1)
	for _, text := range []string{"", "GET / HTTP/1.0\n\n", "{}\n", `{"hello":{"secret":"","place":1}}` + "\n", long} {
		conn, err := good.Dial(t.Context())
		require.NoError(t, err)
		_, _ = conn.Write([]byte(text))
		_ = conn.Conn.(*tls.Conn).CloseWrite() // it may be closed already
		_, _ = conn.Read(make([]byte, 1))
		conn.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(t, c.events, "nobody has joined")
	require.Len(t, c.members, 1)
}

// Connections of strangers who say nothing, or half of it, keep no member out.
func TestIdleConnectionsKeepNoMemberOut(t *testing.T) {
	for _, said := range []string{"", "\x16\x03\x01"} {
		c := newTestCrew(t)
		linestest.Flood(t, c.Invitation().Address, 300, said)
		for place := range 40 {
			_, _ = c.member(place)
		}
		for place := range 40 {
			c.until(t, Joined, place)
		}
		require.NoError(t, c.Close())
	}
}

// A place is free again when it has been handled that its member is gone: nobody hears of the next
// member first.
func TestPlaceIsTakenUntilGone(t *testing.T) {
	gone, goOn, joins := make(chan bool), make(chan bool), 0
	c := &testCrew{}
	var err error
	c.Lead, err = NewLead("127.0.0.1:0", quiet, func(e Event) {
		switch e.Kind {
		case Joined:
			joins++
		case Gone:
			gone <- true
			<-goOn
		}
	})
	require.NoError(t, err)
	_, left := c.member(2)
	require.Eventually(t, func() bool { return c.Release(2) == nil }, 60*time.Second, time.Millisecond)
	require.NoError(t, <-left)
	<-gone
	_, left = c.member(2)
	select {
	case err := <-left:
		require.Error(t, err, "the place is taken")
	case <-time.After(time.Minute):
		require.Fail(t, "it has joined")
	}
	close(goOn)
	require.NoError(t, c.Close())
	require.Equal(t, 1, joins)
}

// What a message would change is refused.
func TestOnlyUTF8(t *testing.T) {
	c := newTestCrew(t)
	_, err := c.Run(0, Command{Argv: []string{"a", "\xff"}})
	require.EqualError(t, err, `"\xff" is not UTF-8`)
	_, err = On("/nothing", 0, Command{Argv: []string{"a"}, Dir: "\xff"})
	require.EqualError(t, err, `"\xff" is not UTF-8`)
}

// Tasks on members that come and go: each ends once.
func TestBagOnMembers(t *testing.T) {
	dir := t.TempDir()
	var tasks []string
	for range 60 {
		tasks = append(tasks, "sleep 0.02; echo $AUCSCHED_CREW_TASK >>"+dir+"/log")
	}
	record, done, err := OpenRecord(filepath.Join(dir, "done"), tasks)
	require.NoError(t, err)
	c := &testCrew{}
	b := &Bag{Tasks: tasks, Slots: 2, Save: record.Save, Log: quiet, Spare: func(int) bool { return false },
		Start:   func(p int, cmd Command) (uint64, error) { return c.Run(p, cmd) },
		Release: func(p int) error { return c.Release(p) }, Later: func(f func()) { time.AfterFunc(time.Second, f) }}
	b.Begin(done)
	began := make(chan struct{})
	c.Lead, err = NewLead("127.0.0.1:0", quiet, func(e Event) { <-began; b.Handle(e) })
	require.NoError(t, err)
	close(began)
	defer c.Close()
	stop := make(chan struct{})
	var all sync.WaitGroup
	for place := range 3 {
		all.Add(1)
		go func() {
			defer all.Done()
			for {
				wanted, ended := c.member(place)
				select {
				case <-stop:
				case <-time.After(time.Duration(50*(place+1)) * time.Millisecond):
					wanted <- syscall.SIGTERM
				}
				select {
				case <-stop:
					return
				case <-ended:
				}
			}
		}()
	}
	<-b.Over()
	close(stop)
	all.Wait()
	failed, err := b.Result()
	require.NoError(t, err)
	require.Zero(t, failed)
	require.NoError(t, record.Close())
	_, done, err = OpenRecord(filepath.Join(dir, "done"), tasks)
	require.NoError(t, err)
	require.Len(t, done, len(tasks))
}

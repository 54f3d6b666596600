// SPDX-License-Identifier: BSD-3-Clause

package malleable

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ErrNoHypervisor means that no iHypervisor runs this programme: Variable isn't set.
var ErrNoHypervisor = errors.New(Variable + " is not set: no iHypervisor runs this programme")

// Pauses of a Client between two attempts to connect.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// A Client is a job's side, safe for concurrent use. A job uses as many threads as it has
// cores: the number and the CPUs of the last Change. It adapts where it safely can, and
// answers each Change.
type Client struct {
	path    string
	changes chan Change
	cancel  context.CancelFunc
	ended   chan struct{}

	mu      sync.Mutex
	conn    net.Conn
	session uint64
	want    uint32 // said again in a new session
}

// Connect finds the iHypervisor by the environment: give it os.Getenv. It doesn't wait for it:
// whenever the connection breaks it is made again, in pauses of up to two seconds. Close ends it.
func Connect(getenv func(string) string) (*Client, error) {
	path := getenv(Variable)
	if path == "" {
		return nil, ErrNoHypervisor
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{path: path, changes: make(chan Change, 1), cancel: cancel, ended: make(chan struct{})}
	go c.run(ctx)
	return c, nil
}

// Look asks once which cores the job of this process has now: a Change that isn't answered. It
// fails if another process of the job is connected. Either way the iHypervisor has seen by
// then which job this process belongs to, if it has room for all who come at the same time;
// see ServerConfig.Tasks.
func Look(ctx context.Context, path string) (Change, error) {
	conn, err := dial(ctx, path)
	if err != nil {
		return Change{}, err
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	if _, err := conn.Write([]byte(Request{Verb: Hello}.String() + "\n")); err != nil {
		return Change{}, err
	}
	line, err := bufio.NewReader(io.LimitReader(conn, MaxCoresLine+1)).ReadString('\n')
	if err != nil {
		return Change{}, fmt.Errorf("the iHypervisor has no answer: %w", err)
	}
	return ParseChange(strings.TrimSuffix(line, "\n"))
}

// Close ends the connection, and closes Changes.
func (c *Client) Close() {
	c.cancel()
	<-c.ended
}

// Changes are what the iHypervisor wants. One that wasn't taken is replaced by a newer one.
func (c *Client) Changes() <-chan Change { return c.changes }

// Done says that the job uses no other cores than those of the change any more.
func (c *Client) Done(change Change) error {
	return c.answer(change, Request{Verb: Done, Number: change.Number})
}

// Keep says that the job can't let go of what the change would take. Why is one line of text, at
// most 200 bytes of it are sent.
func (c *Client) Keep(change Change, why string) error {
	return c.answer(change, Request{Verb: Keep, Number: change.Number, Text: clean(why)})
}

// clean makes text that a line may have.
func clean(text string) string {
	out := []byte{}
	for _, r := range text {
		if len(out) < 200 && printable(string(r)) {
			out = append(out, string(r)...)
		}
	}
	return string(out)
}

// Want says how many cores an evolving job wishes to have in all. The iHypervisor answers by a
// Change, once it can.
func (c *Client) Want(cores int) error {
	if cores < 1 || cores > MaxCores {
		return fmt.Errorf("%d cores: must be 1 to %d", cores, MaxCores)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.want = uint32(cores)
	return c.say(Request{Verb: Want, Number: c.want})
}

// answer does nothing if the session of the change is over: the next one begins with a new change.
func (c *Client) answer(change Change, r Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if change.session != c.session {
		return nil
	}
	return c.say(r)
}

func (c *Client) say(r Request) error {
	if c.conn == nil {
		return nil
	}
	_, err := c.conn.Write([]byte(r.String() + "\n"))
	return err
}

func (c *Client) run(ctx context.Context) {
	defer close(c.ended)
	defer close(c.changes)
	for pause := firstPause; ctx.Err() == nil; {
		if conn, err := dial(ctx, c.path); err == nil && c.talk(ctx, conn) {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// talk is one session; it tells whether the iHypervisor said anything.
func (c *Client) talk(ctx context.Context, conn net.Conn) (heard bool) {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	c.mu.Lock()
	c.session++
	c.conn = conn
	session := c.session
	err := c.say(Request{Verb: Hello})
	if err == nil && c.want > 0 {
		err = c.say(Request{Verb: Want, Number: c.want})
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.conn = nil
		c.mu.Unlock()
	}()
	if err != nil {
		return false
	}
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, MaxCoresLine+1)
	lines.Split(wholeLines)
	for lines.Scan() {
		change, err := ParseChange(lines.Text())
		if err != nil {
			return heard // bye, or an iHypervisor that speaks otherwise
		}
		heard, change.session = true, session
		c.put(change)
	}
	return heard
}

// put replaces a change that wasn't taken.
func (c *Client) put(change Change) {
	select {
	case <-c.changes:
	default:
	}
	c.changes <- change
}

// dial connects to a path of any length.
func dial(ctx context.Context, path string) (net.Conn, error) {
	if len(path) < 100 {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	f, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return (&net.Dialer{}).DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), filepath.Base(path)))
}

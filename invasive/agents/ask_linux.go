// SPDX-License-Identifier: BSD-3-Clause

package agents

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/link"
)

// A client is a process of a job that waits for a command.
type client struct {
	on
	conn   *lines.Conn
	answer chan answer

	// A head that heard of it again after its end would begin the command anew.
	saying sync.Mutex
	over   bool
}

// again asks a head that is new.
func (c *client) again(head *lines.Conn) error {
	c.saying.Lock()
	defer c.saying.Unlock()
	if c.over {
		return nil
	}
	return head.Put(news{On: &c.on})
}

// mostClients bounds those that wait on a node at a time.
const mostClients = 10_000

// hear serves one who has connected.
func (a *Agent) hear(conn net.Conn) {
	c := &client{conn: lines.New(conn), answer: make(chan answer, 1)}
	if err := a.letIn(conn.(*net.UnixConn), c); err != nil {
		_ = c.conn.Put(crew.OnAnswer{Status: crew.LostStatus, Error: err.Error()})
		return
	}
	a.serve(c)
}

// letIn hears what somebody asks for.
func (a *Agent) letIn(conn *net.UnixConn, c *client) error {
	peer, err := link.PeerOf(conn)
	if err != nil {
		return err
	}
	id, ok := a.jobSoon(peer)
	if !ok {
		return errors.New("this process is of no job here")
	}
	var r crew.OnRequest
	if err := c.conn.Get(&r); err != nil {
		return err
	}
	return a.admit(c, id, &r)
}

// A process that has just begun may ask before its launch is known here: it is looked at again for
// soonTime, and no more than mostUnknown are at a time.
const (
	soonTime    = 2 * time.Second
	mostUnknown = 64
)

// jobSoon is jobOf, of a process that may have just begun.
func (a *Agent) jobSoon(p link.Peer) (invasive.JobID, bool) {
	id, ok := a.jobOf(p)
	if ok || p.UID != a.jobsUID() {
		return id, ok
	}
	defer a.unknown.Add(-1)
	if a.unknown.Add(1) > mostUnknown {
		return 0, false
	}
	for until := time.Now().Add(soonTime); !ok && time.Now().Before(until); {
		select {
		case <-a.stop:
			return 0, false
		case <-time.After(20 * time.Millisecond):
		}
		id, ok = a.jobOf(p)
	}
	return id, ok
}

// jobsUID is the user that jobs run as.
func (a *Agent) jobsUID() uint32 {
	if a.Credential != nil {
		return a.Credential.Uid
	}
	return uint32(os.Geteuid())
}

// admit has somebody of a job wait for a command.
func (a *Agent) admit(c *client, id invasive.JobID, r *crew.OnRequest) error {
	if !isKey(r.Key) {
		return fmt.Errorf("key %d: must be 1 to %d", r.Key, commandBit-1)
	}
	c.on = on{ref: ref{id, r.Key}, Place: r.Place, Run: r.Command}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case len(a.clients) >= mostClients:
		return fmt.Errorf("%d commands are waited for here", len(a.clients))
	case a.clients[r.Key] != nil:
		return fmt.Errorf("key %d is waited for already", r.Key)
	}
	a.clients[r.Key] = c
	return nil
}

// serve waits for the command's end, or that of who waits for it.
func (a *Agent) serve(c *client) {
	c.saying.Lock()
	a.say(news{On: &c.on})
	c.saying.Unlock()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.conn.Gone()
	}()
	heard := false
	select {
	case got := <-c.answer:
		heard = c.conn.Put(crew.OnAnswer{Status: got.Status, Error: got.Error}) == nil
		c.conn.Close()
		<-gone
	case <-gone:
	}
	a.mu.Lock()
	delete(a.clients, c.Key)
	a.mu.Unlock()
	c.saying.Lock()
	defer c.saying.Unlock()
	c.over = true
	if heard {
		a.say(news{Got: c.Key})
	} else {
		a.say(news{Off: c.Key})
	}
}

// answer hands on how a command has ended.
func (a *Agent) answer(got *answer) {
	a.mu.Lock()
	c := a.clients[got.Key]
	a.mu.Unlock()
	if c == nil {
		return
	}
	select {
	case c.answer <- *got:
	default: // it has one
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package agents

import (
	"errors"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// A node is one that has joined, now or before. All of it belongs to the Head's lock.
type node struct {
	savedNode
	number  int
	link    *session // nil: it is away
	joined  uint64   // how often it has
	ready   bool     // it is as it is to be
	lost    bool     // it was away for too long
	missing *time.Timer
}

// A session is a node's connection, with what is to be said over it.
type session struct {
	conn *lines.Conn
	out  []order
	wake chan struct{}
}

// mostOrders bounds what waits to be said: a node that takes so little is cut off, and comes back.
const mostOrders = 200_000

// tell has an order said to a node, if that is there. It does not wait.
func (n *node) tell(o order) {
	s := n.link
	if s == nil {
		return
	}
	if len(s.out) >= mostOrders {
		go s.conn.Close() // it may take a while
		return
	}
	s.out = append(s.out, o)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// write says what is to be said, until over is closed.
func (h *Head) write(s *session, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-s.wake:
		}
		h.mu.Lock()
		out := s.out
		s.out = nil
		h.mu.Unlock()
		for i := range out {
			if s.conn.Put(&out[i]) != nil {
				s.conn.Close() // an order that is too long as well: all is said again
				return
			}
		}
	}
}

// letIn hears who joins.
func (h *Head) letIn(conn *lines.Conn) (serve func(), err error) {
	var first news
	if err := conn.Get(&first); err != nil {
		return nil, err
	}
	hi := first.Hello
	if hi == nil || !h.admits(hi.Secret) {
		return nil, errors.New("the secret is missing or wrong")
	}
	if err := hi.check(); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	n, err := h.nodeOf(hi)
	if err != nil {
		return nil, err
	}
	n.link = &session{conn: conn, wake: make(chan struct{}, 1)}
	n.joined++
	return func() { h.serve(n, n.link, hi.Disk) }, nil
}

// nodeOf is the node of a name, a new one if there is room.
func (h *Head) nodeOf(hi *hello) (*node, error) {
	s := shape{hi.Sockets, hi.Cores}
	if err := h.fits(s); err != nil {
		return nil, fmt.Errorf("node %s: %w", hi.Node, err)
	}
	switch {
	case h.closed:
		return nil, errors.New("the head ends")
	case len(h.nodes) > 0 && s != h.shape:
		return nil, fmt.Errorf("node %s: %d sockets of %d cores, and the others have %d of %d", hi.Node,
			s.Sockets, s.Cores, h.shape.Sockets, h.shape.Cores)
	}
	for _, n := range h.nodes {
		if n.Name != hi.Node {
			continue
		}
		if n.link != nil {
			return nil, fmt.Errorf("node %s: an agent of that name is here", hi.Node)
		}
		return n, nil
	}
	if len(h.nodes) >= h.Nodes {
		return nil, fmt.Errorf("node %s: all %d nodes have joined, and this is none of them", hi.Node, h.Nodes)
	}
	n := &node{number: len(h.nodes), savedNode: savedNode{hi.Node, hi.Disk}}
	h.shape, h.nodes = s, append(h.nodes, n)
	if err := h.saveNodes(); err != nil {
		h.nodes = h.nodes[:n.number]
		return nil, err
	}
	h.come.Broadcast()
	return n, nil
}

// serve hears a node until it is gone.
func (h *Head) serve(n *node, s *session, disk string) {
	over := make(chan struct{})
	go s.conn.Beats(over, order{})
	go h.write(s, over)
	<-h.begin
	err := h.welcome(n, disk)
	for err == nil {
		var heard news
		if err = s.conn.Get(&heard); err == nil {
			h.hear(n, &heard)
		}
	}
	close(over)
	s.conn.Close()
	h.mu.Lock()
	closed := h.closed
	gone := h.leave(n)
	handle, changed := h.handle, h.changed
	h.mu.Unlock()
	if closed {
		return
	}
	h.Log.Warn("a node is away", "node", n.Name, "why", err)
	for _, id := range gone {
		handle(id, malleable.Request{Verb: malleable.Gone})
	}
	changed()
}

// welcome tells a node all that is to be there.
func (h *Head) welcome(n *node, disk string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errors.New("the head ends")
	}
	if n.missing != nil {
		n.missing.Stop()
	}
	if n.Disk != disk {
		n.Disk = disk
		if err := h.saveNodes(); err != nil {
			return err
		}
		h.lose(n, "it has another disk")
	}
	r := roll{}
	for id, j := range h.jobs {
		r.Jobs = append(r.Jobs, id)
		p := j.parts[n.number]
		if p == nil {
			continue
		}
		r.Here = append(r.Here, id)
		n.tell(h.orderOf(j, n, p, true))
	}
	for key, c := range h.commands {
		if c.node == n && !c.done {
			n.tell(c.order(key))
		}
	}
	n.tell(order{Sync: &r})
	return nil
}

// leave notes that a node is away, and returns the jobs that have their homes there.
func (h *Head) leave(n *node) (home []invasive.JobID) {
	n.link, n.ready = nil, false
	for id, j := range h.jobs {
		if j.mark.Home == n.number {
			home = append(home, id)
		}
		j.news.Broadcast()
	}
	h.miss(n)
	return home
}

// miss has a node be lost if it stays away.
func (h *Head) miss(n *node) {
	joined := n.joined
	n.missing = time.AfterFunc(h.LostAfter, func() {
		h.mu.Lock()
		changed := h.changed
		lost := n.joined == joined && !h.closed
		if lost {
			n.lost = true
			h.lose(n, "it is away for too long")
		}
		h.mu.Unlock()
		if lost {
			changed()
		}
	})
}

// lose gives up what ran on a node.
func (h *Head) lose(n *node, why string) {
	h.Log.Error("what ran on a node is lost", "node", n.Name, "why", why)
	for _, j := range h.jobs {
		if j.mark.Home == n.number && j.mark.Disk != "" && (n.lost || j.mark.Disk != n.Disk) {
			h.firstEnded(j, lostExit)
		}
	}
	for key, c := range h.commands {
		if c.node == n && !c.done {
			h.ran(key, c, crew.LostStatus)
		}
	}
}

// hear is what a node says.
func (h *Head) hear(n *node, heard *news) {
	h.mu.Lock()
	changed, handle := func() {}, func() {}
	switch {
	case heard.Ready:
		n.ready, n.lost = true, false
		h.Log.Info("a node is here", "node", n.Name)
		changed = h.changed
		h.expectAsks(n)
	case heard.Did != nil:
		h.did(n, heard.Did)
	case heard.Ended != nil:
		if j := h.jobs[heard.Ended.Job]; j != nil && j.mark.Home == n.number {
			h.firstEnded(j, heard.Ended.Code)
		}
	case heard.Said != nil:
		handle = h.said(n, heard.Said)
	case heard.On != nil:
		h.on(n, heard.On)
	case heard.Has != nil:
		h.has(n, heard.Has)
	case heard.Ran != nil:
		if c := h.commands[heard.Ran.Key]; c != nil && c.node == n && !c.done {
			h.ran(heard.Ran.Key, c, heard.Ran.Status)
		}
	case heard.Got > 0:
		if c := h.commands[heard.Got]; c != nil && c.from == n && c.done {
			h.thank(heard.Got, c)
		}
	case heard.Off > 0:
		if c := h.commands[heard.Off]; c != nil && c.from == n {
			h.off(heard.Off, c, unasked)
		}
	}
	h.mu.Unlock()
	handle()
	changed()
}

// said returns what hands on a job's line.
func (h *Head) said(n *node, s *said) func() {
	j := h.jobs[s.Job]
	if j == nil || j.mark.Home != n.number {
		return func() {}
	}
	r := malleable.Request{Verb: malleable.Gone}
	if !s.Gone {
		var err error
		if r, err = malleable.ParseRequest(s.Line); err != nil {
			return func() {}
		}
	}
	handle := h.handle
	return func() { handle(s.Job, r) }
}

// Away are the cores of nodes that aren't ready; see ihypervisor.Nodes.
func (h *Head) Away() (away, lost []bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	size := int(h.shape.size())
	away, lost = make([]bool, h.Nodes*size), make([]bool, h.Nodes*size)
	for k := range h.Nodes {
		for c := k * size; c < (k+1)*size; c++ {
			away[c] = k >= len(h.nodes) || !h.nodes[k].ready
			lost[c] = k < len(h.nodes) && h.nodes[k].lost
		}
	}
	return away, lost
}

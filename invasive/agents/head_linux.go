// SPDX-License-Identifier: BSD-3-Clause

package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// A HeadConfig is what a Head needs.
type HeadConfig struct {
	// State is a directory of what has to survive, JobsDir that of the Hypervisor's Config.
	State, JobsDir string
	// Listen is where agents join, HOST:PORT; HOST is what they are told. Invitation is the file
	// that says so to them.
	Listen, Invitation string
	// Nodes is how many there are.
	Nodes int
	// LostAfter is how long a node may be away until its jobs are lost (5 min).
	LostAfter time.Duration
	Log       *slog.Logger
	// Point, if set, is called between steps; tests end the process there.
	Point func(step string)
}

// A Head has agents run jobs. It is an ihypervisor.Launcher, with Nodes.
type Head struct {
	HeadConfig
	door    io.Closer
	admits  func(secret string) bool // who joins with it
	begin   chan struct{}            // closed when all that was found of jobs is known
	all     sync.WaitGroup
	closing sync.Once

	mu     sync.Mutex
	come   *sync.Cond // a node has joined for the first time
	closed bool
	// the Hypervisor is there, and begin is closed
	connected, begun bool
	handle           func(invasive.JobID, malleable.Request)
	changed          func()
	shape            shape
	nodes            []*node // by number; those that have ever joined
	jobs             map[invasive.JobID]*job
	unknown          int // jobs whose cores nobody has said yet
	commands         map[uint64]*asked
}

// shape is that of each node.
type shape struct{ Sockets, Cores uint32 }

// most bounds the sockets of a node and the cores of a socket.
const most = 1 << 16

// size is at most [invasive.MaxCores], see fits.
func (s shape) size() uint32 { return s.Sockets * s.Cores }

var (
	_ ihypervisor.Launcher = (*Head)(nil)
	_ ihypervisor.Nodes    = (*Head)(nil)
)

func newHead(c HeadConfig) *Head {
	h := &Head{HeadConfig: c, begin: make(chan struct{}), jobs: map[invasive.JobID]*job{}, commands: map[uint64]*asked{},
		changed: func() {}, handle: func(invasive.JobID, malleable.Request) {}}
	h.come = sync.NewCond(&h.mu)
	return h
}

// OpenHead listens for agents. Close ends it; jobs go on.
func OpenHead(c HeadConfig) (*Head, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.LostAfter <= 0 {
		c.LostAfter = 5 * time.Minute
	}
	if c.Point == nil {
		c.Point = func(string) {}
	}
	h := newHead(c)
	if err := link.CheckDir(c.State, 0o711); err != nil {
		return nil, err
	}
	if err := h.loadNodes(); err != nil {
		return nil, err
	}
	key, err := lines.Keep(filepath.Join(c.State, "agents.key"))
	if err != nil {
		return nil, err
	}
	door, err := lines.Open(c.Listen, key, c.Log)
	if err != nil {
		return nil, err
	}
	h.door, h.admits = door, door.Invitation.Is
	if err := durable.Write(c.Invitation, []byte(door.Invitation.String()+"\n")); err != nil {
		return nil, errors.Join(err, door.Close())
	}
	h.missAll()
	h.all.Add(1)
	go func() {
		defer h.all.Done()
		door.Serve(h.letIn)
	}()
	return h, nil
}

// missAll has the time run of nodes that have joined an earlier head.
func (h *Head) missAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.nodes {
		h.miss(n)
	}
}

// Close ends all connections. What waits returns context.Canceled. It may be called again.
func (h *Head) Close() error {
	var err error
	h.closing.Do(func() { err = h.close() })
	return err
}

func (h *Head) close() error {
	err := h.door.Close()
	h.mu.Lock()
	h.closed = true
	if !h.begun {
		close(h.begin)
	}
	h.come.Broadcast()
	for _, j := range h.jobs {
		j.news.Broadcast()
	}
	for _, n := range h.nodes {
		if n.link != nil {
			n.link.conn.Close()
		}
	}
	h.mu.Unlock()
	h.all.Wait()
	return err
}

// Gather waits until all nodes have joined, once, and returns the partition that they are.
func (h *Head) Gather(ctx context.Context, name string) (*ihypervisor.Topology, error) {
	defer context.AfterFunc(ctx, func() { h.mu.Lock(); h.come.Broadcast(); h.mu.Unlock() })()
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.nodes) < h.Nodes && ctx.Err() == nil && !h.closed {
		h.come.Wait()
	}
	if len(h.nodes) < h.Nodes {
		return nil, fmt.Errorf("%d of %d nodes have joined: %w", len(h.nodes), h.Nodes, context.Cause(ctx))
	}
	p := h.partition(h.shape)
	p.Name = name
	return ihypervisor.Numbered(p), nil
}

func (h *Head) partition(s shape) invasive.Partition {
	return invasive.Partition{Nodes: uint32(h.Nodes), Sockets: s.Sockets, CoresPerSocket: s.Cores}
}

// fits refuses a shape that nodes can't have, or so many can't.
func (h *Head) fits(s shape) error {
	switch p := h.partition(s); {
	case s.Sockets == 0 || s.Cores == 0 || s.Sockets > most || s.Cores > most:
		return fmt.Errorf("%d sockets of %d cores: must be 1 to %d", s.Sockets, s.Cores, most)
	case p.Cores() > invasive.MaxCores:
		return fmt.Errorf("%d nodes of %d sockets of %d cores: at most %d cores in all", h.Nodes, s.Sockets, s.Cores, invasive.MaxCores)
	}
	return nil
}

// Connect is for the Hypervisor; see ihypervisor.Nodes.
func (h *Head) Connect(handle func(invasive.JobID, malleable.Request), changed func()) ihypervisor.Jobs {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handle, h.changed = handle, changed
	h.connected = true
	h.tryBegin()
	return (*voice)(h)
}

// tryBegin lets agents in once all is known that they are to be told.
func (h *Head) tryBegin() {
	if !h.begun && h.connected && h.unknown == 0 && !h.closed {
		h.begun = true
		close(h.begin)
	}
}

// savedNodes is the file of nodes: their order gives their numbers.
type savedNodes struct {
	Shape shape
	Nodes []savedNode
}

type savedNode struct{ Name, Disk string }

func (h *Head) nodesFile() string { return filepath.Join(h.State, "agents") }

func (h *Head) loadNodes() error {
	text, err := os.ReadFile(h.nodesFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var s savedNodes
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", h.nodesFile(), err)
	}
	if len(s.Nodes) > h.Nodes {
		return fmt.Errorf("%s: has %d nodes, and there are to be %d", h.nodesFile(), len(s.Nodes), h.Nodes)
	}
	if err := h.fits(s.Shape); err != nil {
		return fmt.Errorf("%s: %w", h.nodesFile(), err)
	}
	h.shape = s.Shape
	for k, n := range s.Nodes {
		h.nodes = append(h.nodes, &node{number: k, savedNode: n})
	}
	return nil
}

func (h *Head) saveNodes() error {
	s := savedNodes{Shape: h.shape}
	for _, n := range h.nodes {
		s.Nodes = append(s.Nodes, n.savedNode)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return durable.Write(h.nodesFile(), text)
}

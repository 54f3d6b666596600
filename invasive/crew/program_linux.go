// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/internal/guests"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// Variables of a program's environment, beside malleable.Variable.
const (
	// NodesVariable names a file with a line PLACE NODE for each place of the newest change.
	NodesVariable = "AUCSCHED_CREW_NODES"
	// OnVariable names the socket of On.
	OnVariable = "AUCSCHED_CREW_ON"
)

// theJob is the program's number with its Server, which has no other.
const theJob invasive.JobID = 1

// LostStatus is what On returns if the place is gone, or was not there.
const LostStatus = 255

// A Program hears of places as an invasive job does of cores (malleable): a change names those that
// it may use, and what it leaves out is given back when the program has said that it is done. It
// starts commands on places by On.
type Program struct {
	lead   *Lead
	log    *slog.Logger
	dir    string
	server *malleable.Server
	on     *net.UnixListener
	news   chan struct{} // full: tell has something to say
	stop   context.CancelFunc
	all    sync.WaitGroup

	mu        sync.Mutex
	connected bool
	nodes     map[int]string // by place
	leaving   map[int]bool
	// places of the newest change, sent or being written; nil: it is void
	told     []int
	change   malleable.Change // the newest that was sent
	commands map[uint64]command
}

// command is one that On waits for.
type command struct {
	place int
	ended chan int // its status
}

// NewProgram makes the program's sockets in a new directory below dir, which only this user enters.
// Lead must be set before the first Handle.
func NewProgram(dir string, log *slog.Logger) (*Program, error) {
	dir, err := os.MkdirTemp(dir, "crew-")
	if err != nil {
		return nil, err
	}
	p := &Program{log: log, dir: dir, nodes: map[int]string{}, leaving: map[int]bool{}, commands: map[uint64]command{},
		news: make(chan struct{}, 1)}
	from, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.path("places"), Net: "unix"})
	if err == nil {
		p.on, err = net.ListenUnix("unix", &net.UnixAddr{Name: p.path("on"), Net: "unix"})
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("sockets of the program: %w", err)
	}
	p.server = malleable.NewServer(from, malleable.ServerConfig{Identify: mine, Handle: p.said, Log: log})
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.all.Add(2)
	go func() {
		defer p.all.Done()
		guests.Each(p.on, p.hear)
	}()
	go p.tellAll(ctx)
	return p, nil
}

// mine lets in whatever is this user's.
func mine(peer link.Peer) (invasive.JobID, bool) { return theJob, peer.UID == uint32(os.Geteuid()) }

func (p *Program) path(name string) string { return filepath.Join(p.dir, name) }

// Environ are the program's variables.
func (p *Program) Environ() []string {
	return []string{malleable.Variable + "=" + p.path("places"), NodesVariable + "=" + p.path("nodes"), OnVariable + "=" + p.path("on")}
}

// Close ends all connections, and removes the directory. Commands are ended with the lead.
func (p *Program) Close() error {
	p.stop()
	err := errors.Join(p.server.Close(), p.on.Close())
	p.mu.Lock()
	for id := range p.commands {
		p.ended(id, LostStatus)
	}
	p.mu.Unlock()
	p.all.Wait()
	return errors.Join(err, os.RemoveAll(p.dir))
}

// Handle is for NewLead.
func (p *Program) Handle(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case Joined:
		p.nodes[e.Place] = e.Node
	case Leaving:
		p.leaving[e.Place] = true
		if !p.connected { // nobody to ask
			_ = p.lead.Release(e.Place)
		}
	case Gone:
		if _, told := slices.BinarySearch(p.told, e.Place); told {
			p.told = nil // who comes on that place is another
		}
		delete(p.nodes, e.Place)
		delete(p.leaving, e.Place)
		for id, c := range p.commands {
			if c.place == e.Place {
				p.ended(id, LostStatus)
			}
		}
	case Ended:
		p.ended(e.ID, e.Status)
		return
	}
	select {
	case p.news <- struct{}{}:
	default: // it will be told with what came before
	}
}

func (p *Program) ended(id uint64, status int) {
	if c, ok := p.commands[id]; ok {
		delete(p.commands, id)
		c.ended <- status
	}
}

// tellPause is the time between two changes: what happens meanwhile is told together, as all places
// are written for one that comes.
const tellPause = 50 * time.Millisecond

// tellAll tells what is new, until ctx ends.
func (p *Program) tellAll(ctx context.Context) {
	defer p.all.Done()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-p.news:
			p.tell()
		}
		select {
		case <-ctx.Done():
		case <-time.After(tellPause):
		}
	}
}

// tell says which places there are, if that is new: the file comes before the change.
func (p *Program) tell() {
	places, text := p.newPlaces()
	if len(places) == 0 {
		return
	}
	err := os.WriteFile(p.path("nodes.new"), text, 0o600)
	if err == nil {
		err = os.Rename(p.path("nodes.new"), p.path("nodes"))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil { // the program goes on with what it has
		p.log.Warn("the program can't be told of its nodes", "why", err)
		p.told = nil
		return
	}
	p.change = malleable.Change{Number: p.change.Number + 1, Cores: places, CPUs: places}
	p.server.Send(theJob, p.change)
}

// newPlaces are the places that the program may use, with the file's text; none if it knows. There
// is always one: without the job's own nodes there is nothing to tell.
func (p *Program) newPlaces() (places []int, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for place := range p.nodes {
		if !p.leaving[place] {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	if len(places) == 0 || slices.Equal(places, p.told) {
		return nil, nil
	}
	p.told = places
	var b bytes.Buffer
	for _, place := range places {
		fmt.Fprintln(&b, place, p.nodes[place])
	}
	return places, b.Bytes()
}

// release lets go of the places that are to leave, but not of those that are kept: they are in
// order.
func (p *Program) release(kept []int) {
	for place := range p.leaving {
		if _, keep := slices.BinarySearch(kept, place); !keep {
			_ = p.lead.Release(place)
		}
	}
}

// said is what the program says.
func (p *Program) said(_ invasive.JobID, r malleable.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.Verb == malleable.Hello:
		p.connected = true
		if p.change.Number > 0 {
			p.server.Send(theJob, p.change)
		}
	case r.Verb == malleable.Gone:
		p.connected = false
		p.release(nil)
	case r.Verb == malleable.Done && r.Number == p.change.Number:
		p.release(p.change.Cores) // what it has left out
	case r.Verb == malleable.Keep:
		p.log.Info("the program keeps its nodes", "why", r.Text)
	}
}

// mostCommands bounds those that On waits for at a time.
const mostCommands = 100_000

// hear serves one who has connected.
func (p *Program) hear(conn net.Conn) {
	if peer, err := link.PeerOf(conn.(*net.UnixConn)); err != nil || peer.UID != uint32(os.Geteuid()) {
		return
	}
	p.serve(lines.New(conn))
}

// serve runs one command. If who has asked for it goes the command is killed.
func (p *Program) serve(l *lines.Conn) {
	var r OnRequest
	if err := l.Get(&r); err != nil {
		return
	}
	c := command{place: r.Place, ended: make(chan int, 1)}
	p.mu.Lock()
	err := fmt.Errorf("%d commands run", len(p.commands))
	var id uint64
	if len(p.commands) < mostCommands {
		if id, err = p.lead.Run(r.Place, r.Command); err == nil {
			p.commands[id] = c
		}
	}
	p.mu.Unlock()
	if err != nil {
		_ = l.Put(OnAnswer{LostStatus, err.Error()})
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		l.Gone()
	}()
	select {
	case status := <-c.ended:
		_ = l.Put(OnAnswer{Status: status})
	case <-gone:
		_ = p.lead.Kill(r.Place, id)
		p.mu.Lock()
		delete(p.commands, id)
		p.mu.Unlock()
	}
	l.Close()
	<-gone
}

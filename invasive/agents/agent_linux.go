// SPDX-License-Identifier: BSD-3-Clause

package agents

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/internal/guests"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// An AgentConfig is what an Agent needs.
type AgentConfig struct {
	// Node is the node's name, and Topology its cores.
	Node     string
	Topology *ihypervisor.Topology
	// State is a directory of what has to survive, on a disk of this node; Output has what jobs
	// write: ID.out and ID.err of first processes, ID.NODE.out and ID.NODE.err of commands.
	State, Output string
	// Invitation returns what to join the head by. It is asked each time.
	Invitation func() (lines.Invitation, error)
	// Credential is the user that jobs run as; nil: this process's.
	Credential *syscall.Credential
	// Supervisor is the command that calls launch.Supervise.
	Supervisor []string
	// With is a process with whose end all that jobs run here ends; 0: none.
	With int
	Log  *slog.Logger
	// Point, if set, is called between steps; tests end the process there.
	Point func(step string)
}

// An Agent runs the parts of jobs on one node.
type Agent struct {
	AgentConfig
	disk     string
	launcher launcher
	server   server
	asks     *net.UnixListener
	cleanup  []func() error
	unknown  atomic.Int32 // processes that are looked at again
	all      sync.WaitGroup
	stop     chan struct{} // closed by close

	mu      sync.Mutex
	head    *lines.Conn // nil: it is away
	jobs    map[invasive.JobID]*local
	clients map[uint64]*client
	closed  bool
}

// A launcher begins processes: a launch.Launcher.
type launcher interface {
	Find() ([]invasive.Seen, error)
	Abandon(id invasive.JobID) (launched bool, err error)
	Launch(job *invasive.Job, cpus []int, env []string) error
	Wait(id invasive.JobID) (int32, error)
	Confine(id invasive.JobID, cpus []int, force bool) error
	Signal(id invasive.JobID, sig unix.Signal) error
	Started(id invasive.JobID) (time.Time, bool)
	JobOf(pid int, uid uint32) (invasive.JobID, bool)
	Forget(id invasive.JobID) error
}

// A server is how jobs hear of cores: a malleable.Server.
type server interface {
	ihypervisor.Jobs
	Reset()
}

// NewAgent opens the directories and sockets, and finds what an earlier Agent has started.
func NewAgent(c AgentConfig) (a *Agent, err error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Point == nil {
		c.Point = func(string) {}
	}
	a = &Agent{AgentConfig: c, stop: make(chan struct{}), jobs: map[invasive.JobID]*local{}, clients: map[uint64]*client{}}
	a.launcher = launch.New(launch.Config{Dir: a.path("jobs"), Output: a.Output, Supervisor: a.Supervisor,
		Credential: a.Credential, Name: a.outputOf, With: a.With, Point: a.Point})
	for _, step := range []func() error{a.openDirs, a.find, a.listen} {
		if err := step(); err != nil {
			return nil, errors.Join(err, a.close())
		}
	}
	return a, nil
}

func (a *Agent) path(name ...string) string {
	return filepath.Join(append([]string{a.State}, name...)...)
}

func (a *Agent) openDirs() error {
	mode := os.FileMode(0o700)
	if a.Credential != nil {
		mode = 0o711 // the jobs' user has to reach its sockets and its output
	}
	for _, dir := range []struct {
		path string
		mode os.FileMode
	}{{a.State, mode}, {a.Output, mode}, {a.path("jobs"), 0o700}, {a.path("parts"), 0o700}, {a.path("nodes"), mode}} {
		if err := link.CheckDir(dir.path, dir.mode); err != nil {
			return err
		}
	}
	lock, err := link.LockFile(a.path("lock"))
	if err != nil {
		return err
	}
	a.cleanup = append(a.cleanup, lock.Close)
	text, err := os.ReadFile(a.path("disk"))
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(rand.Text())
		err = durable.Write(a.path("disk"), text)
	}
	a.disk = string(text)
	return err
}

func (a *Agent) listen() error {
	uid := a.jobsUID()
	from, cleanup, err := link.ListenUnix(a.path("run", "jobs"), []uint32{uid})
	if err != nil {
		return err
	}
	a.cleanup = append(a.cleanup, cleanup)
	a.server = malleable.NewServer(from, malleable.ServerConfig{
		Identify: func(p link.Peer) (invasive.JobID, bool) { return a.jobOf(p) }, Handle: a.said, Log: a.Log,
		Tasks: len(a.Topology.CPUs),
	})
	asks, cleanup, err := link.ListenUnix(a.path("run", "on"), []uint32{uid})
	if err != nil {
		return err
	}
	a.asks = asks
	a.cleanup = append(a.cleanup, cleanup)
	a.all.Add(1)
	go func() {
		defer a.all.Done()
		guests.Each(asks, a.hear)
	}()
	return nil
}

// jobOf returns the job that a process belongs to, be it by a command.
func (a *Agent) jobOf(p link.Peer) (invasive.JobID, bool) {
	id, ok := a.launcher.JobOf(p.PID, p.UID)
	if !ok || !isCommand(id) {
		return id, ok
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, j := range a.jobs {
		if j.commands[keyOf(id)] != nil {
			return j.id, true
		}
	}
	return 0, false
}

// close leaves nothing open; what was started runs on.
func (a *Agent) close() (err error) {
	close(a.stop)
	if a.server != nil {
		err = a.server.Close()
	}
	if a.asks != nil {
		err = errors.Join(err, a.asks.Close())
	}
	a.mu.Lock()
	a.closed = true
	for _, c := range a.clients {
		c.conn.Close()
	}
	a.mu.Unlock()
	a.all.Wait()
	for _, f := range a.cleanup {
		err = errors.Join(err, f())
	}
	return err
}

// Run serves heads until ctx is done; what was started runs on then. It is called once.
func (a *Agent) Run(ctx context.Context) error {
	said := ""
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
		began := time.Now()
		err := a.join(ctx)
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		if text := fmt.Sprint(err); ctx.Err() == nil && text != said { // not again and again
			a.Log.Warn("no head", "why", err)
			said = text
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return a.close()
}

// Pauses between two tries to find the head.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// join serves one head until that is gone.
func (a *Agent) join(ctx context.Context) error {
	invitation, err := a.Invitation()
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, lines.Silence)
	conn, err := invitation.Dial(within)
	cancel()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	return a.serveHead(conn, invitation.Shown())
}

// serveHead does what a head says until that is gone.
func (a *Agent) serveHead(conn *lines.Conn, secret string) error {
	over := make(chan struct{})
	defer close(over)
	defer conn.Close()
	p := &a.Topology.Partition
	first := hello{Secret: secret, Node: a.Node, Disk: a.disk, Sockets: p.Sockets, Cores: p.CoresPerSocket}
	if err := conn.Put(news{Hello: &first}); err != nil {
		return err
	}
	go conn.Beats(over, news{})
	for joined := false; ; {
		var o order
		if err := conn.Get(&o); err != nil {
			a.setHead(nil)
			return err
		}
		if !joined {
			joined = true
			a.Log.Info("joined", "head", conn.RemoteAddr())
			a.server.Reset() // what jobs say from now on is to this head
			a.setHead(conn)
			a.server.Reset() // and they say it from the beginning
		}
		if err := o.check(); err != nil {
			a.setHead(nil)
			return err
		}
		a.obey(conn, &o)
	}
}

func (a *Agent) setHead(conn *lines.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.head = conn
}

// say tells the head, if there is one. What has to reach it is said again when it is back.
func (a *Agent) say(n news) {
	a.mu.Lock()
	head := a.head
	a.mu.Unlock()
	if head != nil {
		_ = head.Put(n)
	}
}

// obey has an order done, in the job's turn.
func (a *Agent) obey(conn *lines.Conn, o *order) {
	switch {
	case o.Part != nil:
		j := a.job(o.Part.Job)
		j.work.Do(&a.all, func() { a.apply(conn, j, o.Part) })
	case o.Sync != nil:
		a.sync(conn, o.Sync)
	case o.Drop > 0:
		a.inTurn(o.Drop, a.drop)
	case o.Start != nil:
		if !a.inTurn(o.Start.Job, func(j *local) { a.start(j, o.Start) }) {
			a.say(news{Ran: &ran{o.Start.ref, crew.LostStatus}})
		}
	case o.Stop != nil:
		a.inTurn(o.Stop.Job, func(j *local) { a.stopCommand(j, o.Stop) })
	case o.Thank != nil:
		a.inTurn(o.Thank.Job, func(j *local) { a.thank(j, o.Thank.Key) })
	case o.Change != nil:
		a.inTurn(o.Change.Job, func(j *local) { a.tell(j, o.Change) })
	case o.Answer != nil:
		a.answer(o.Answer)
	}
}

// inTurn has something done with a job's part, if there is one.
func (a *Agent) inTurn(id invasive.JobID, f func(*local)) bool {
	a.mu.Lock()
	j := a.jobs[id]
	a.mu.Unlock()
	if j != nil {
		j.work.Do(&a.all, func() { f(j) })
	}
	return j != nil
}

// sync ends what no part says that it is to run here. When all that came before is done, it says
// what has happened while the head was away, and then that this node is ready.
func (a *Agent) sync(conn *lines.Conn, r *roll) {
	known, here := map[invasive.JobID]bool{}, map[invasive.JobID]bool{}
	for _, id := range r.Jobs {
		known[id] = true
	}
	for _, id := range r.Here {
		here[id] = true
	}
	a.mu.Lock()
	todo := len(a.jobs)
	done := make(chan struct{}, todo)
	for id, j := range a.jobs {
		j.work.Do(&a.all, func() {
			switch {
			case !known[id]:
				a.drop(j)
			case !here[id]:
				a.vacate(j)
			}
			done <- struct{}{}
		})
	}
	a.mu.Unlock()
	a.all.Add(1)
	go func() {
		defer a.all.Done()
		for range todo {
			select {
			case <-done:
			case <-a.stop:
				return
			}
		}
		missed, clients := a.missed()
		for _, n := range missed {
			if conn.Put(n) != nil {
				return
			}
		}
		for _, c := range clients {
			if c.again(conn) != nil {
				return
			}
		}
		_ = conn.Put(news{Ready: true})
	}()
}

// missed is what a head may not have heard, and who waits for commands.
func (a *Agent) missed() (list []news, clients []*client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, j := range a.jobs {
		if j.first == ranOut {
			list = append(list, news{Ended: &ended{j.id, j.code}})
		}
		for key, c := range j.commands {
			if list = append(list, news{Has: &ref{j.id, key}}); c.ended {
				list = append(list, news{Ran: &ran{ref{j.id, key}, c.status}})
			}
		}
	}
	return list, slices.Collect(maps.Values(a.clients))
}

// tell hands a change on to a job: the file of nodes comes first.
func (a *Agent) tell(j *local, c *change) {
	a.mu.Lock()
	runs := j.first == here && !j.dropped
	a.mu.Unlock()
	if !runs {
		return
	}
	line, err := malleable.ParseChange(c.Line)
	if err == nil {
		err = a.writeNodes(c.Job, c.Nodes)
	}
	if err != nil {
		a.Log.Error("a job can't be told of its cores", "job", uint64(c.Job), "why", err)
		return
	}
	a.server.Send(c.Job, line)
}

// writeNodes writes the file that says on which nodes a job's places are.
func (a *Agent) writeNodes(id invasive.JobID, text string) error {
	path := a.nodesFile(id)
	err := os.WriteFile(path+".new", []byte(text), 0o600)
	if err == nil && a.Credential != nil {
		err = os.Chown(path+".new", int(a.Credential.Uid), int(a.Credential.Gid))
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}

func (a *Agent) nodesFile(id invasive.JobID) string {
	return a.path("nodes", strconv.FormatUint(uint64(id), 10))
}

// said hands on what a job says.
func (a *Agent) said(id invasive.JobID, r malleable.Request) {
	if r.Verb == malleable.Gone {
		a.say(news{Said: &said{Job: id, Gone: true}})
		return
	}
	a.say(news{Said: &said{Job: id, Line: r.String()}})
}

// set is an environment with a variable, whatever it was before.
func set(env []string, name, value string) []string {
	var list []string
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			list = append(list, v)
		}
	}
	return append(list, name+"="+value)
}

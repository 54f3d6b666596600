// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/procs"
)

// mercy is the time between SIGTERM and SIGKILL of a command.
const mercy = 3 * time.Second

// A Member is the side of one node.
type Member struct {
	Invitation lines.Invitation
	// Place is its number, Node its node's name, Job Slurm's number of its job.
	Place     int
	Node, Job string

	line *lines.Conn
	all  sync.WaitGroup
	mu   sync.Mutex
	runs map[uint64]*os.Process
	told map[uint64]bool // of runs: they were asked to end
}

// joinTime is how long a member tries to reach its lead, and refusedTime how long if nobody listens
// there: the lead listens before it asks for members.
const (
	joinTime    = 30 * time.Second
	refusedTime = 2 * time.Second
)

// Serve joins the lead, and starts commands for it until the lead lets it go, which is no error. An
// element of wanted, which is a signal of Slurm's, says that Slurm wants the node. When Serve
// returns nothing that it has started runs any more.
func (m *Member) Serve(ctx context.Context, wanted <-chan os.Signal) error {
	conn, o, err := m.join(ctx)
	if err != nil {
		return fmt.Errorf("the lead at %s: %w", m.Invitation.Address, err)
	}
	m.line, m.runs = conn, map[uint64]*os.Process{}
	m.told = map[uint64]bool{}
	defer conn.Close()
	defer m.end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	go m.line.Beats(ctx.Done(), news{})
	go func() {
		select {
		case <-wanted:
			_ = m.line.Put(news{Leaving: true})
		case <-ctx.Done():
		}
	}()
	for !o.Leave {
		switch {
		case o.Run != nil:
			m.start(*o.Run, o.ID)
		case o.Kill > 0:
			m.kill(o.Kill)
		}
		o = order{}
		if err := m.line.Get(&o); err != nil {
			return fmt.Errorf("the lead is gone: %w", err)
		}
	}
	return nil
}

var errRefused = errors.New("it refuses")

// join tries until the lead has said something, its first order.
func (m *Member) join(ctx context.Context) (conn *lines.Conn, first order, err error) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	began := time.Now()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		conn, first, err = m.tryJoin(ctx)
		nobody := errors.Is(err, syscall.ECONNREFUSED) && time.Since(began) > refusedTime
		if err == nil || nobody || errors.Is(err, lines.ErrStranger) || errors.Is(err, errRefused) {
			return conn, first, err
		}
		select {
		case <-ctx.Done():
			return nil, first, err
		case <-time.After(pause):
		}
	}
}

func (m *Member) tryJoin(ctx context.Context) (conn *lines.Conn, first order, err error) {
	if conn, err = m.Invitation.Dial(ctx); err != nil {
		return nil, first, err
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	hi := hello{Secret: m.Invitation.Shown(), Place: m.Place, Node: m.Node, Job: m.Job}
	if err = conn.Put(news{Hello: &hi}); err == nil {
		err = conn.Get(&first)
	}
	if err == nil && first.Refused != "" {
		err = fmt.Errorf("%w: %.200s", errRefused, first.Refused)
	}
	if err != nil {
		conn.Close()
	}
	return conn, first, err
}

// start has the command in a process group of its own. If this process is killed its job or step is
// over, and Slurm kills the rest of it.
func (m *Member) start(c Command, id uint64) {
	cmd, err := &exec.Cmd{}, errors.New("there is no command")
	if len(c.Argv) > 0 {
		cmd = exec.Command(c.Argv[0], c.Argv[1:]...)
		cmd.Env, cmd.Dir = append(os.Environ(), c.Env...), c.Dir
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%.80q: %v\n", c.Argv, err)
		_ = m.line.Put(news{Ended: id, Status: 127})
		return
	}
	m.mu.Lock()
	m.runs[id] = cmd.Process
	m.mu.Unlock()
	m.all.Add(1)
	go func() {
		defer m.all.Done()
		_ = m.line.Put(news{Ended: id, Status: m.wait(cmd, id)})
	}()
}

// wait returns when a command has ended, and nothing is left in its process group, which would run
// beside who gets the place next: as Slurm does when a step's tasks have ended. What is left is
// killed at once, or, of a command that was asked to end, when mercy is over.
func (m *Member) wait(cmd *exec.Cmd, id uint64) (status int) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	m.mu.Lock()
	told := m.told[id]
	if !told {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // before its number can be another's
		delete(m.runs, id)
	}
	status = statusOf(cmd.Wait())
	m.mu.Unlock()
	if !told {
		return status
	}
	// The number is the group's as long as that has a process.
	for until := time.Now().Add(2 * mercy); time.Now().Before(until) && procs.GroupLives(cmd.Process.Pid); {
		time.Sleep(20 * time.Millisecond)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.runs, id)
	delete(m.told, id)
	return status
}

// statusOf is a status as a shell has it.
func statusOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return 127
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return exit.ExitCode()
}

// kill ends a command's process group.
func (m *Member) kill(id uint64) {
	m.signal(syscall.SIGTERM, id)
	time.AfterFunc(mercy, func() { m.signal(syscall.SIGKILL, id) })
}

// signal goes to one command, or to all for 0.
func (m *Member) signal(sig syscall.Signal, id uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, p := range m.runs {
		if id == 0 || k == id {
			_ = syscall.Kill(-p.Pid, sig)
			m.told[k] = true
		}
	}
}

// end returns when nothing runs any more.
func (m *Member) end() {
	m.signal(syscall.SIGTERM, 0)
	t := time.AfterFunc(mercy, func() { m.signal(syscall.SIGKILL, 0) })
	defer t.Stop()
	m.all.Wait()
}

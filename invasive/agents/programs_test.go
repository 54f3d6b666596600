// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/malleable"
	"github.com/aucsched/aucsched/invasive/place"
)

// The test's programme is also all that a cluster has. Those end by syscall.Exit: the race detector
// makes every os.Exit wait for a second.
func TestMain(m *testing.M) {
	roles := map[string]func(args []string) error{
		"supervise": func(args []string) error { return launch.Supervise(args[0], nil) },
		"head":      runHead, "agent": runAgent, "bag": runBag, "task": runTask, "stranger": runStranger,
	}
	if len(os.Args) > 2 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, os.Args[1:], err)
			syscall.Exit(1)
		}
		syscall.Exit(0)
	}
	os.Exit(m.Run())
}

func number(text string) int {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return int(n)
}

func logTo(path string) *slog.Logger {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return slog.New(slog.NewTextHandler(f, nil))
}

// runHead is an iHypervisor: head ROOT NODES LOST-AFTER.
func runHead(args []string) error {
	root, nodes := args[0], number(args[1])
	lost, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	log := logTo(filepath.Join(root, "head.log"))
	c := ihypervisor.Config{
		State: filepath.Join(root, "state"), Output: filepath.Join(root, "output"),
		Attempts: 3, Reply: 20 * time.Second, Report: 100 * time.Millisecond, Grow: true,
		Policy: place.Policy{Means: []invasive.How{invasive.Shrink}, Horizon: 60},
		Retry:  300 * time.Millisecond, Grace: 300 * time.Millisecond, OfferEvery: 20 * time.Millisecond, Log: log, Stats: &link.Stats{},
	}
	h, err := OpenHead(HeadConfig{State: c.State, JobsDir: c.JobsDir(), Listen: "127.0.0.1:0",
		Invitation: filepath.Join(root, "invitation"), Nodes: nodes, LostAfter: lost, Log: log})
	if err != nil {
		return err
	}
	if c.Topology, err = h.Gather(ctx, "cluster"); err != nil {
		return err
	}
	c.Launcher = h
	endpoint := socketOf(root)
	if c.Listener, err = endpoint.Listen(link.RealClock{}, c.Stats); err != nil {
		return err
	}
	hyper, err := ihypervisor.New(c)
	if err != nil {
		return err
	}
	return hyper.Run(ctx)
}

func socketOf(root string) *link.Endpoint {
	return &link.Endpoint{Network: "unix", Address: filepath.Join(root, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
}

// runAgent is the agent of a node: agent ROOT NODE CORES.
func runAgent(args []string) error {
	root, node := args[0], args[1]
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p := invasive.Partition{Nodes: 1, Sockets: 1, CoresPerSocket: uint32(number(args[2]))}
	topology, err := ihypervisor.Simulate(p, "/sys/devices/system/cpu", true)
	if err != nil {
		return err
	}
	a, err := NewAgent(AgentConfig{
		Node: node, Topology: topology, State: filepath.Join(root, node), Output: filepath.Join(root, "output"),
		Invitation: func() (lines.Invitation, error) {
			text, err := os.ReadFile(filepath.Join(root, "invitation"))
			if err != nil {
				return lines.Invitation{}, err
			}
			return lines.Parse(strings.TrimSpace(string(text)))
		},
		Supervisor: []string{self, "supervise"}, Log: logTo(filepath.Join(root, node+".log")), Credential: jobsUser(),
	})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// jobsUser is the one that AUCSCHED_AGENTS_USER says by number; nil: this one.
func jobsUser() *syscall.Credential {
	if text := os.Getenv("AUCSCHED_AGENTS_USER"); text != "" {
		return &syscall.Credential{Uid: uint32(number(text)), Gid: uint32(number(text))}
	}
	return nil
}

// runStranger is a process that tries what it may not: stranger ROOT NODE. It
// prints what came of it.
func runStranger(args []string) error {
	dir := filepath.Join(args[0], args[1])
	for _, path := range []string{
		filepath.Join(args[0], "invitation"), filepath.Join(dir, "disk"), filepath.Join(args[0], "state", "agents.key"),
	} {
		_, err := os.ReadFile(path)
		fmt.Println("read", filepath.Base(path), err != nil)
	}
	for _, sub := range []string{"parts", "jobs"} {
		_, err := os.ReadDir(filepath.Join(dir, sub))
		fmt.Println("list", sub, err != nil)
	}
	_, err := crew.On(filepath.Join(dir, "run", "on"), 0, crew.Command{Argv: []string{"true"}, Dir: "/"})
	fmt.Println("on", err)
	var heard []byte
	conn, err := link.DialUnix(context.Background(), filepath.Join(dir, "run", "jobs"))
	if err == nil {
		_, _ = conn.Write([]byte("hello 1\n"))
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		heard, err = io.ReadAll(conn)
	}
	fmt.Printf("jobs %q %v\n", heard, errors.Is(err, os.ErrDeadlineExceeded))
	return nil
}

// A claim is a job's on a place, as others see it.
type claim struct {
	file *os.File
}

// claimPlace claims a place for a job, which others of the job may do as well. That another job has
// a claim on it is noted in the file conflicts.
func claimPlace(root, job string, place int) (claim, error) {
	dir := filepath.Join(root, "claims", strconv.Itoa(place))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return claim{}, err
	}
	f, err := os.OpenFile(filepath.Join(dir, job), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return claim{}, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
		return claim{}, err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() == job {
			continue
		}
		other, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return claim{}, err
		}
		if unix.Flock(int(other.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			note(root, "conflicts", "place %d: jobs %s and %s", place, job, e.Name())
		}
		other.Close()
	}
	return claim{f}, err
}

func note(root, file, format string, args ...any) {
	f, err := os.OpenFile(filepath.Join(root, file), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintf(f, format+"\n", args...)
}

// runTask is a command: task ROOT JOB TASK ATTEMPT PLACE TIME. It notes that it begins, and that it
// has come to its end.
func runTask(args []string) error {
	root, job, place := args[0], args[1], number(args[4])
	c, err := claimPlace(root, job, place)
	if err != nil {
		return err
	}
	defer c.file.Close()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return err
	}
	note(root, "begun."+job, "%s %s %d %d", args[2], args[3], place, set.Count())
	d, err := time.ParseDuration(args[5])
	if err != nil {
		return err
	}
	time.Sleep(d)
	note(root, "ended."+job, "%s %s", args[2], args[3])
	return nil
}

// A bag is a job's program: it runs tasks on all places that it has, one at a time on each.
type bag struct {
	root, job string
	time      string
	mu        sync.Mutex
	todo      []int
	attempts  map[int]int
	left      int
	places    map[int]bool
	busy      map[int]bool
	claims    map[int]claim
	over      chan struct{}
}

// runBag is bag ROOT TASKS TIME.
func runBag(args []string) error {
	b := &bag{root: args[0], job: os.Getenv("AUCSCHED_INVASIVE_JOB"), time: args[2], left: number(args[1]), attempts: map[int]int{},
		places: map[int]bool{}, busy: map[int]bool{}, claims: map[int]claim{}, over: make(chan struct{})}
	for n := range b.left {
		b.todo = append(b.todo, n)
	}
	note(b.root, "starts", "%s", b.job)
	c, err := malleable.Connect(os.Getenv)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		select {
		case change := <-c.Changes():
			if err := b.change(change.Cores); err != nil {
				return err
			}
			c.Done(change)
		case <-b.over:
			return nil
		}
	}
}

// change claims new places, and gives up others.
func (b *bag) change(cores []int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.places = map[int]bool{}
	for _, p := range cores {
		b.places[p] = true
		if _, has := b.claims[p]; has {
			continue
		}
		c, err := claimPlace(b.root, b.job, p)
		if err != nil {
			return err
		}
		b.claims[p] = c
	}
	for p, c := range b.claims {
		if !b.places[p] {
			c.file.Close()
			delete(b.claims, p)
		}
	}
	note(b.root, "cores."+b.job, "%s", malleable.FormatList(cores))
	b.fill()
	return nil
}

func (b *bag) fill() {
	for p := range b.places {
		if len(b.todo) == 0 {
			return
		}
		if b.busy[p] {
			continue
		}
		task := b.todo[0]
		b.todo = b.todo[1:]
		b.busy[p] = true
		b.attempts[task]++
		go b.run(p, task, b.attempts[task])
	}
}

func (b *bag) run(p, task, attempt int) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	status, err := crew.OnKept(os.Getenv(crew.OnVariable), p, crew.Command{Dir: "/",
		Argv: []string{self, "task", b.root, b.job, strconv.Itoa(task), strconv.Itoa(attempt), strconv.Itoa(p), b.time}})
	note(b.root, "heard."+b.job, "%d %d %d %v", task, attempt, status, err)
	if status != 0 {
		time.Sleep(20 * time.Millisecond) // the place may be about to go
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy[p] = false
	if status != 0 {
		b.todo = append(b.todo, task)
	} else if b.left--; b.left == 0 {
		close(b.over)
	}
	b.fill()
}

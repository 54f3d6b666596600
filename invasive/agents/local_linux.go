// SPDX-License-Identifier: BSD-3-Clause

package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/internal/turns"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// A local is what a job has on this node. What changes it is done in the job's turn; the fields
// belong to the Agent's lock.
type local struct {
	id       invasive.JobID
	work     turns.Line
	cores    []int // those that its commands may be on
	first    firstProcess
	code     int32 // of one that is ranOut
	over     chan struct{}
	commands map[uint64]*command
	dropped  bool
}

// firstProcess is what is known of a job's first process.
type firstProcess uint8

const (
	notHere firstProcess = iota
	here
	ranOut
)

// A command runs on a core, or has ended.
type command struct {
	core    int
	ended   bool
	status  int
	taken   bool // its core was
	unasked bool // nobody waits for it
	over    chan struct{}
}

func (a *Agent) record(id invasive.JobID) string {
	return a.path("parts", strconv.FormatUint(uint64(id), 10))
}

// A launchRecord says whose a launch is. It is there before that, and goes after it.
type launchRecord struct {
	Job  invasive.JobID
	Core int
}

// job returns a job's part, and makes it if there is none.
func (a *Agent) job(id invasive.JobID) *local {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.jobLocked(id)
}

func (a *Agent) jobLocked(id invasive.JobID) *local {
	j := a.jobs[id]
	if j == nil {
		j = &local{id: id, commands: map[uint64]*command{}}
		a.jobs[id] = j
	}
	return j
}

// find takes over what an earlier Agent has launched.
func (a *Agent) find() error {
	if _, err := a.launcher.Find(); err != nil {
		return err
	}
	entries, err := os.ReadDir(a.path("parts"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := a.findOne(e.Name()); err != nil {
			return fmt.Errorf("%s: %w", a.path("parts", e.Name()), err)
		}
	}
	return nil
}

// findOne takes over the launch of a record. One that was not begun never is: the head says again
// what is to run.
func (a *Agent) findOne(name string) error {
	n, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return os.Remove(a.path("parts", name)) // a write that was broken off
	}
	id := invasive.JobID(n)
	if _, launched := a.launcher.Started(id); !launched {
		if launched, err = a.launcher.Abandon(id); err != nil {
			return err
		}
		if !launched {
			return os.Remove(a.record(id))
		}
	}
	var r launchRecord
	text, err := os.ReadFile(a.record(id))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	j := a.jobLocked(r.Job)
	if !isCommand(id) {
		j.first, j.over = here, make(chan struct{})
		a.watchFirst(j)
		return nil
	}
	c := &command{core: r.Core, over: make(chan struct{})}
	j.commands[keyOf(id)] = c
	a.watch(j, keyOf(id), c)
	return nil
}

// outputOf is what the files of a launch are called.
func (a *Agent) outputOf(id invasive.JobID) string {
	if !isCommand(id) {
		return strconv.FormatUint(uint64(id), 10)
	}
	var r launchRecord
	if text, err := os.ReadFile(a.record(id)); err == nil {
		_ = json.Unmarshal(text, &r) // written just before
	}
	return fmt.Sprintf("%d.%s", r.Job, a.Node)
}

// launch has a process begin on cores. It returns false if it certainly has not.
func (a *Agent) launch(job *invasive.Job, r launchRecord, cpus []int, env []string) (bool, error) {
	a.Point("before record")
	text, err := json.Marshal(r)
	if err == nil {
		err = durable.Write(a.record(job.ID), text)
	}
	if err != nil {
		return false, err
	}
	a.Point("before launch")
	err = a.launcher.Launch(job, cpus, env)
	a.Point("after launch")
	var not *launch.UnlaunchedError
	return !errors.As(err, &not), err
}

func (a *Agent) cpusOf(cores []int) (list []int) {
	for _, c := range cores {
		if c >= 0 && c < len(a.Topology.CPUs) {
			list = append(list, a.Topology.CPUs[c]...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// variables are those by which all that a job runs here finds its agent.
func (a *Agent) variables(env []string, id invasive.JobID) []string {
	for _, v := range [...][2]string{{malleable.Variable, a.path("run", "jobs")}, {crew.OnVariable, a.path("run", "on")},
		{crew.NodesVariable, a.nodesFile(id)}, {crew.KeptVariable, "1"}} {
		env = set(env, v[0], v[1])
	}
	return env
}

// Variables of the agent's own that commands get: those of text and time, and if jobs run as its
// user those of the user. What else it has, such as what a service's file says, is none of theirs.
var (
	forAll  = []string{"LANG", "LANGUAGE", "LC_", "TZ="}
	forSame = []string{"PATH=", "HOME=", "USER=", "LOGNAME=", "SHELL=", "TMPDIR="}
)

// commandEnv is a command's environment, more of which was asked for.
func (a *Agent) commandEnv(id invasive.JobID, more []string) (env []string) {
	from := forAll
	if a.Credential == nil {
		from = slices.Concat(forAll, forSame)
	} else {
		env = []string{"PATH=" + launch.DefaultPath}
		if u, err := user.LookupId(strconv.FormatUint(uint64(a.Credential.Uid), 10)); err == nil {
			env = append(env, "HOME="+u.HomeDir, "USER="+u.Username, "LOGNAME="+u.Username)
		}
	}
	for _, v := range os.Environ() {
		if slices.ContainsFunc(from, func(begin string) bool { return strings.HasPrefix(v, begin) }) {
			env = append(env, v)
		}
	}
	for _, v := range more {
		name, value, _ := strings.Cut(v, "=")
		env = set(env, name, value)
	}
	return a.variables(env, id)
}

// take has a job's commands be on these cores only, and returns those that are not.
func (a *Agent) take(j *local, cores []int) (taken []uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	j.cores = cores
	for key, c := range j.commands {
		if !c.ended && !slices.Contains(cores, c.core) {
			c.taken = true
			taken = append(taken, key)
		}
	}
	return taken
}

// vacate ends what a job has here. How its commands have ended is kept.
func (a *Agent) vacate(j *local) {
	if err := a.killFirst(j); err != nil {
		a.Log.Warn("a job does not hear", "job", uint64(j.id), "why", err)
	}
	a.end(j, a.take(j, nil))
	a.mu.Lock()
	nothing := j.first == notHere && len(j.commands) == 0
	a.mu.Unlock()
	if nothing {
		a.drop(j)
	}
}

// apply makes a job's part as it is to be. Who has ordered it hears so, and nobody else: another
// head has other numbers.
func (a *Agent) apply(head *lines.Conn, j *local, p *part) {
	a.mu.Lock()
	dropped := j.dropped
	a.mu.Unlock()
	if dropped {
		return
	}
	taken := a.take(j, p.Cores)
	d, err := did{Job: p.Job, Gen: p.Gen}, error(nil)
	switch {
	case p.Over:
		err = a.killFirst(j)
	case p.Home:
		err = a.applyHome(j, p)
	}
	if err != nil {
		d.Error = err.Error()
	}
	a.end(j, taken)
	a.Point("before did")
	_ = head.Put(news{Did: &d})
}

// applyHome sees to the first process.
func (a *Agent) applyHome(j *local, p *part) error {
	a.mu.Lock()
	first, code := j.first, j.code
	a.mu.Unlock()
	switch first {
	case ranOut:
		a.say(news{Ended: &ended{j.id, code}})
		return nil
	case notHere:
		return a.begin(j, p)
	}
	var err error
	if len(p.Cores) > 0 {
		err = a.launcher.Confine(j.id, a.cpusOf(p.Cores), p.Force)
	}
	if p.Signal != 0 {
		err = errors.Join(err, a.launcher.Signal(j.id, unix.Signal(p.Signal)))
	}
	return err
}

// begin starts the first process, unless it was to end before that.
func (a *Agent) begin(j *local, p *part) error {
	if p.Work == nil {
		return errors.New("it was never begun")
	}
	if p.Signal != 0 {
		a.firstEnded(j, 128+int32(p.Signal))
		return nil
	}
	job := &invasive.Job{ID: j.id, Args: launch.Texts(p.Work.Args), Dir: string(p.Work.Dir)}
	env := a.variables(launch.Texts(p.Work.Env), j.id)
	began, err := false, a.writeNodes(j.id, p.Work.Nodes)
	if err == nil {
		began, err = a.launch(job, launchRecord{Job: j.id}, a.cpusOf(p.Cores), env)
	}
	switch {
	case !began:
		a.Log.Error("a job can't be launched", "job", uint64(j.id), "why", err)
		_ = os.Remove(a.record(j.id))
		a.firstEnded(j, launch.UnlaunchedExit)
		return nil
	case err != nil:
		return fmt.Errorf("nobody knows whether it was launched: %w", err)
	}
	a.mu.Lock()
	j.first, j.over = here, make(chan struct{})
	a.mu.Unlock()
	a.watchFirst(j)
	return nil
}

// watchFirst waits for the end of the first process.
func (a *Agent) watchFirst(j *local) {
	go func() {
		code := a.waitFor(j, j.id)
		a.firstEnded(j, code)
		close(j.over)
	}()
}

// waitFor returns how a launch has ended, once nothing of it is left.
func (a *Agent) waitFor(j *local, id invasive.JobID) int32 {
	for said := false; ; time.Sleep(time.Second) {
		code, err := a.launcher.Wait(id)
		if err == nil {
			return code
		}
		if !said {
			a.Log.Error("what a job runs can't be seen to end", "job", uint64(j.id), "why", err)
			said = true
		}
	}
}

func (a *Agent) firstEnded(j *local, code int32) {
	a.mu.Lock()
	j.first, j.code = ranOut, code
	a.mu.Unlock()
	a.Point("before ended")
	a.say(news{Ended: &ended{j.id, code}})
}

// mercy is the time from SIGTERM to SIGKILL of a command.
const mercy = 3 * time.Second

// end ends commands, and returns when nothing of them runs any more.
func (a *Agent) end(j *local, keys []uint64) {
	var over []<-chan struct{}
	a.mu.Lock()
	for _, key := range keys {
		over = append(over, j.commands[key].over)
	}
	a.mu.Unlock()
	for _, key := range keys {
		a.signal(key, unix.SIGTERM)
	}
	late := time.AfterFunc(mercy, func() { // who has ended does not hear it
		for _, key := range keys {
			a.signal(key, unix.SIGKILL)
		}
	})
	defer late.Stop()
	for _, c := range over {
		a.await(c)
	}
}

// await returns when something has ended, or this agent is to.
func (a *Agent) await(over <-chan struct{}) {
	select {
	case <-over:
	case <-a.stop:
	}
}

func (a *Agent) signal(key uint64, sig unix.Signal) {
	if err := a.launcher.Signal(launchOf(key), sig); err != nil {
		a.Log.Warn("a command does not hear", "signal", sig, "why", err)
	}
}

// drop ends and forgets all of a job here.
func (a *Agent) drop(j *local) {
	a.mu.Lock()
	dropped := j.dropped
	j.dropped = true
	var keys []uint64
	for key, c := range j.commands {
		c.taken = true
		keys = append(keys, key)
	}
	a.mu.Unlock()
	if dropped {
		return
	}
	for _, key := range keys {
		a.signal(key, unix.SIGKILL)
	}
	if err := a.killFirst(j); err != nil {
		a.Log.Warn("a job does not hear", "job", uint64(j.id), "why", err)
	}
	a.forget(j.id)
	for _, key := range keys {
		a.mu.Lock()
		over := j.commands[key].over
		a.mu.Unlock()
		a.await(over)
		a.forget(launchOf(key))
	}
	_ = os.Remove(a.nodesFile(j.id))
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.jobs, j.id)
}

// killFirst returns when nothing of the first process runs.
func (a *Agent) killFirst(j *local) error {
	a.mu.Lock()
	first, over := j.first, j.over
	a.mu.Unlock()
	if first == here {
		if err := a.launcher.Signal(j.id, unix.SIGKILL); err != nil {
			return err
		}
	}
	if over != nil {
		a.await(over)
	}
	return nil
}

// forget removes what is kept of a launch that has ended, if there is anything.
func (a *Agent) forget(id invasive.JobID) {
	err := a.launcher.Forget(id)
	a.Point("before record is removed")
	if err == nil {
		err = os.Remove(a.record(id))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		a.Log.Warn("left behind", "launch", uint64(id), "why", err)
	}
}

// start begins a command, unless it has begun before.
func (a *Agent) start(j *local, s *start) {
	a.mu.Lock()
	c, refused := j.commands[s.Key], j.dropped || !slices.Contains(j.cores, s.Core)
	a.mu.Unlock()
	switch {
	case c != nil:
		a.tellRan(j, s.Key, c)
		return
	case refused:
		a.say(news{Ran: &ran{s.ref, crew.LostStatus}})
		return
	}
	job := &invasive.Job{ID: launchOf(s.Key), Args: s.Run.Argv, Dir: s.Run.Dir}
	began, err := a.launch(job, launchRecord{j.id, s.Core}, a.cpusOf([]int{s.Core}), a.commandEnv(j.id, s.Run.Env))
	if err != nil {
		a.Log.Error("a command can't be launched", "job", uint64(j.id), "why", err)
	}
	if !began {
		_ = os.Remove(a.record(job.ID))
		a.say(news{Ran: &ran{s.ref, crew.LostStatus}})
		return
	}
	c = &command{core: s.Core, over: make(chan struct{})}
	a.mu.Lock()
	j.commands[s.Key] = c
	a.mu.Unlock()
	a.watch(j, s.Key, c)
}

// watch waits for a command's end.
func (a *Agent) watch(j *local, key uint64, c *command) {
	go func() {
		code := a.waitFor(j, launchOf(key))
		a.mu.Lock()
		c.ended, c.status = true, int(code)
		if code < 0 || c.taken {
			c.status = crew.LostStatus
		}
		unasked := c.unasked
		a.mu.Unlock()
		close(c.over)
		a.tellRan(j, key, c)
		if unasked {
			a.mu.Lock()
			defer a.mu.Unlock()
			if !a.closed {
				j.work.Do(&a.all, func() { a.thank(j, key) })
			}
		}
	}()
}

func (a *Agent) tellRan(j *local, key uint64, c *command) {
	a.mu.Lock()
	over, status := c.ended, c.status
	a.mu.Unlock()
	if over {
		a.say(news{Ran: &ran{ref{j.id, key}, status}})
	}
}

// stopCommand ends a command that nobody waits for, and forgets it then, unless it is to be kept.
func (a *Agent) stopCommand(j *local, s *stop) {
	key := s.Key
	a.mu.Lock()
	c := j.commands[key]
	if c == nil {
		a.mu.Unlock()
		return
	}
	c.unasked = !s.Keep
	over := c.ended
	c.taken = true
	a.mu.Unlock()
	if over {
		if !s.Keep {
			a.thank(j, key)
		}
		return
	}
	a.signal(key, unix.SIGTERM)
	time.AfterFunc(mercy, func() {
		select {
		case <-c.over:
		default:
			a.signal(key, unix.SIGKILL)
		}
	})
}

// thank forgets a command whose end is known to who has waited for it.
func (a *Agent) thank(j *local, key uint64) {
	a.mu.Lock()
	c := j.commands[key]
	if c == nil || !c.ended || j.dropped {
		a.mu.Unlock()
		return
	}
	delete(j.commands, key)
	a.mu.Unlock()
	a.forget(launchOf(key))
}

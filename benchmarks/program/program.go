// SPDX-License-Identifier: BSD-3-Clause

package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/slurm/selection"
)

// Prefix begins the names of such policies on a command line, before a colon.
const Prefix = "exec"

// Options say how a program is run. Begin with [Defaults].
type Options struct {
	// Timeout is how long it may take for an answer, its start included; above 0.
	Timeout time.Duration
	// MaxAnswer is the greatest length of an answer in bytes.
	MaxAnswer int
	// Stderr gets what it writes to standard error; nil: only the last of it is kept, for errors.
	Stderr io.Writer
	// Seed is what it finds in AUCSCHED_SEED.
	Seed uint64
}

// Defaults are the usual options: a minute for an answer, of 16 MB at most.
func Defaults() Options { return Options{Timeout: time.Minute, MaxAnswer: 16 << 20} }

// Policy has a program decide. It is for one simulation; close it afterwards.
type Policy struct {
	name    string
	command []string
	o       Options

	machine   *machine
	selection selection.Selector
	cycle     int
	broken    error // of an earlier cycle
	process   *process
}

// New is the policy of that name. The program is found now, and started in the first cycle.
func New(name string, command []string, o Options) (*Policy, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, errors.New("no program is named")
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", command[0], errors.Unwrap(err), hint(command[0], err))
	}
	if o.Timeout <= 0 || o.MaxAnswer <= 0 {
		return nil, errors.New("a program needs some time, and room for its answers")
	}
	return &Policy{name: name, command: append([]string{path}, command[1:]...), o: o}, nil
}

// hint says what may help where a program is not found.
func hint(name string, err error) string {
	info, none := os.Stat(name)
	switch {
	case none != nil || info.IsDir():
		return ""
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("; chmod +x %s, or name its interpreter first", name)
	case !strings.ContainsRune(name, filepath.Separator):
		return fmt.Sprintf("; did you mean %q?", "./"+name)
	}
	return ""
}

// Name implements [core.Policy].
func (x *Policy) Name() string { return x.name }

// Decide implements [core.Policy]. Once it has failed it goes on failing.
func (x *Policy) Decide(ctx context.Context, s *core.Snapshot, _ core.Limits, p *core.Plan) error {
	if x.broken != nil {
		return x.broken
	}
	x.cycle++
	if err := x.ask(ctx, s, p); err != nil {
		x.stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.broken = fmt.Errorf("cycle %d: %w", x.cycle, err)
		return x.broken
	}
	return nil
}

func (x *Policy) ask(ctx context.Context, s *core.Snapshot, p *core.Plan) error {
	if x.machine == nil {
		if _, shares := s.Nodes.Shares(); shares {
			return errors.New("programs know no shares of GPUs")
		}
		x.machine = newMachine(s.Nodes.Len())
		var err error
		if x.process, err = start(x.command, x.o); err != nil {
			return err
		}
	}
	window, err := json.Marshal(x.machine.window(s))
	if err != nil {
		return err
	}
	line, err := x.process.exchange(ctx, append(window, '\n'))
	if err != nil {
		return err
	}
	said, err := parse(line)
	if err != nil {
		return err
	}
	if err := x.take(s, said, p); err != nil {
		return err
	}
	return core.Verify(s, p)
}

// Close ends the program: its input ends, and it has a second to do the same.
func (x *Policy) Close() error {
	x.stop()
	return nil
}

func (x *Policy) stop() {
	if x.process != nil {
		x.process.end()
		x.process = nil
	}
}

// process is a running program.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	pipe    *os.File // of out
	words   *tail
	timeout time.Duration
	most    int
	exited  chan struct{} // closed when it is over
	err     error         // how it ended, after that
	kill    func()
}

func start(command []string, o Options) (*process, error) {
	x := &process{words: &tail{to: o.Stderr}, timeout: o.Timeout, most: o.MaxAnswer, exited: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	x.cmd, x.kill = exec.CommandContext(ctx, command[0], command[1:]...), cancel
	// Python flushes each line then, whether or not a program asks for it.
	x.cmd.Env = append(os.Environ(), fmt.Sprintf("AUCSCHED_SEED=%d", o.Seed), "PYTHONUNBUFFERED=1")
	x.cmd.Stderr, x.cmd.WaitDelay = x.words, time.Second
	// Pipes of its own: Wait would close the end that is read from as soon as the program ends.
	in, toIt, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromIt, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), toIt.Close())
	}
	x.cmd.Stdin, x.cmd.Stdout = in, out
	x.in, x.out, x.pipe = toIt, bufio.NewReaderSize(fromIt, 1<<16), fromIt
	err = x.cmd.Start()
	_, _ = in.Close(), out.Close() // its ends are the program's
	if err != nil {
		_, _ = toIt.Close(), fromIt.Close()
		cancel()
		return nil, err
	}
	go func() {
		x.err = x.cmd.Wait()
		cancel()
		close(x.exited)
	}()
	return x, nil
}

// exchange writes a line and reads the answer.
func (x *process) exchange(ctx context.Context, line []byte) ([]byte, error) {
	if more := x.more(); len(more) > 0 {
		return nil, fmt.Errorf("the program wrote more than one line for the last cycle: %.60q", more)
	}
	type answer struct {
		line []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		if _, a.err = x.in.Write(line); a.err == nil {
			a.line, a.err = x.read()
		}
		done <- a
	}()
	late := time.NewTimer(x.timeout)
	defer late.Stop()
	select {
	case a := <-done:
		return a.line, x.died(a.err)
	case <-late.C:
		return nil, fmt.Errorf("the program gave no answer within %v (does it flush its output?)%s", x.timeout, x.words.last())
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// glance is how long is waited for more than one line: an extra one is there when the first has been
// carried out, or else it is taken for the next answer, which it hardly passes for.
const glance = 100 * time.Microsecond

// more is the beginning of what the program has written beyond its answer.
func (x *process) more() []byte {
	if x.out.Buffered() == 0 {
		if x.pipe.SetReadDeadline(time.Now().Add(glance)) != nil {
			return nil // not on this system
		}
		_, _ = x.out.Peek(1) // nothing, or what is there
		_ = x.pipe.SetReadDeadline(time.Time{})
	}
	text, _ := x.out.Peek(min(x.out.Buffered(), 60))
	return text
}

// errLong is that of an answer beyond Options.MaxAnswer.
var errLong = errors.New("too long")

// read reads a line of bounded length.
func (x *process) read() (line []byte, err error) {
	for {
		part, err := x.out.ReadSlice('\n')
		if len(line)+len(part) > x.most {
			return nil, errLong
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// died is an error of an exchange in words.
func (x *process) died(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLong):
		return fmt.Errorf("the program's answer is longer than %d bytes", x.most)
	}
	select {
	case <-x.exited:
	case <-time.After(time.Second):
		x.kill() // it has only closed its pipes
		<-x.exited
	}
	how := "it had closed its input or output"
	var code *exec.ExitError
	if x.err == nil {
		how = "exit status 0"
	} else if errors.As(x.err, &code) && code.Exited() {
		how = code.Error()
	}
	return fmt.Errorf("the program ended before it answered (%s)%s", how, x.words.last())
}

// end ends the program, and waits for that.
func (x *process) end() {
	_ = x.in.Close()
	select {
	case <-x.exited:
	case <-time.After(time.Second):
		x.kill()
		<-x.exited
	}
	_ = x.pipe.Close()
}

// tail hands on what is written to it, and keeps the last of it.
type tail struct {
	mu   sync.Mutex
	to   io.Writer
	kept []byte
}

// maxTail is how much of standard error is kept, in bytes.
const maxTail = 2048

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, text[max(len(text)-maxTail, 0):]...)
	t.kept = append(t.kept[:0], t.kept[max(len(t.kept)-maxTail, 0):]...)
	if t.to != nil {
		_, _ = t.to.Write(text) // it is for whom it may concern
	}
	return len(text), nil
}

// last is the last line that is not blank, for an error.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(string(bytes.TrimSpace(t.kept)), "\n")
	if text := strings.TrimSpace(lines[len(lines)-1]); text != "" {
		return fmt.Sprintf(": its last words: %.200s", text)
	}
	return ""
}

var _ core.Policy = (*Policy)(nil)

// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// process is a running worker.
type process struct {
	cmd    *exec.Cmd
	in     *os.File // the worker exits when this is closed
	out    io.ReadCloser
	words  *os.File      // what it says on standard error
	frames chan frame    // closed when no more come
	sent   chan struct{} // closed when the model is not being read any more
	quit   chan struct{}
	stderr *opening
	err    error                 // why frames was closed; valid then
	broken atomic.Pointer[error] // why the model was not sent, if that is our own fault
}

// startProcess starts a worker and hands it q while its messages are awaited.
func startProcess(command, env []string, q request) (*process, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer theirOut.Close()
	words, theirWords, err := os.Pipe()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	defer theirWords.Close()
	p := &process{
		cmd: exec.Command(command[0], command[1:]...), in: in, out: out, words: words,
		frames: make(chan frame, 1), sent: make(chan struct{}), quit: make(chan struct{}), stderr: newOpening(),
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirIn, theirOut, theirWords
	p.cmd.Env, p.cmd.Dir = env, string(filepath.Separator)
	ownGroup(p.cmd)
	endWithParent(p.cmd)
	p.cmd.WaitDelay = 100 * time.Millisecond
	if err := p.cmd.Start(); err != nil {
		in.Close()
		out.Close()
		words.Close()
		return nil, fmt.Errorf("can't start the solver's process: %w", err)
	}
	go p.send(q)
	go p.read(len(q.Model.Value))
	go p.stderr.copy(words)
	return p, nil
}

// send hands the model over.
func (p *process) send(q request) {
	defer close(p.sent)
	defer recovered(func(err error) {
		p.broken.Store(&err)
		p.in.Close()
	})
	_ = writeRequest(p.in, q) // a worker that does not read shows in its answer
}

// recovered turns a panic of a goroutine into an error: it must not end the whole program.
func recovered(tell func(error)) {
	if r := recover(); r != nil {
		tell(fmt.Errorf("panic: %v", r))
	}
}

func (p *process) read(columns int) {
	defer close(p.frames)
	defer recovered(func(err error) { p.err = err })
	in := bufio.NewReader(p.out)
	magic := make([]byte, len(answerMagic))
	if _, err := io.ReadFull(in, magic); err != nil {
		p.err = err
		return
	}
	if string(magic) != answerMagic {
		p.err = errNonsense
		return
	}
	for {
		f, err := readFrame(in, columns)
		if err != nil {
			p.err = err
			return
		}
		select {
		case p.frames <- f:
		case <-p.quit:
			return
		}
	}
}

// failure is the error of a worker that ended its answer too early; when something is
// known all the same, it is only noted.
func (p *process) failure(ctx context.Context, expired <-chan time.Time, a *answer) error {
	p.kill()
	reason := "ended before its answer"
	if broken := p.broken.Load(); broken != nil {
		p.err = *broken
	}
	switch {
	case a.known:
		p.stderr.wait(ctx, expired)
		a.blame(fmt.Errorf("the solver's process %s: %w%s", reason, p.err, p.stderr.note()))
		return nil
	case p.broken.Load() != nil:
		return p.err
	case errors.Is(p.err, errNonsense):
		return fmt.Errorf("%w%s", errNonsense, p.stderr.note())
	}
	_ = p.cmd.Wait()
	p.stderr.wait(ctx, expired)
	if state := p.cmd.ProcessState; state != nil {
		reason += " (" + state.String() + ")"
	}
	return fmt.Errorf("the solver's process %s%s", reason, p.stderr.note())
}

// kill ends the worker and what it has started. Once it has been waited for, its number
// may be another's.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		killGroup(p.cmd)
	}
}

// stop ends the worker at once and leaves nothing behind that lasts: what does not go
// at once is counted in killed.
func (p *process) stop(killed *sync.WaitGroup) {
	p.kill()
	close(p.quit)
	p.in.Close()
	p.out.Close()
	p.words.Close()
	<-p.sent
	if p.cmd.ProcessState == nil {
		killed.Go(func() { // the deadline is not for the process table to keep
			defer recovered(func(error) {})
			_ = p.cmd.Wait()
		})
	}
}

// opening keeps the beginning of what a worker says on standard error: why it
// ends comes before where.
type opening struct {
	mu    sync.Mutex
	text  []byte
	known chan struct{} // closed once there is some, or none can come any more
	once  sync.Once
}

func newOpening() *opening { return &opening{known: make(chan struct{})} }

// copy takes what the worker says until all who could say anything have ended.
func (o *opening) copy(from io.Reader) {
	defer o.tell()
	defer recovered(func(error) {})
	_, _ = io.Copy(o, from)
}

func (o *opening) tell() { o.once.Do(func() { close(o.known) }) }

func (o *opening) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b[:min(len(b), maxMessage-len(o.text))]...)
	o.tell()
	return len(b), nil
}

// lastWords is how long those of a worker that has ended may take to arrive, on a busy machine.
const lastWords = 200 * time.Millisecond

// wait returns when a worker that has ended has said something, or can't any more, or when the time
// is over. Who has an answer doesn't wait for the process's end.
func (o *opening) wait(ctx context.Context, expired <-chan time.Time) {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-o.known:
	case <-timer.C:
	case <-expired:
	case <-ctx.Done():
	}
}

// note is ": " and the first line of it that is not empty, or nothing.
func (o *opening) note() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := strings.TrimSpace(string(o.text))
	if text == "" {
		return ""
	}
	line, _, _ := strings.Cut(text, "\n")
	return ": " + line
}

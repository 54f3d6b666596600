package highs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	frames chan frame    // closed when no more come
	sent   chan struct{} // closed when the model is not being read any more
	quit   chan struct{}
	stderr *tail
	err    error                 // why frames was closed; valid then
	broken atomic.Pointer[error] // why the model was not sent, if that is our own fault
}

// startProcess starts a worker and hands it q while its messages are awaited.
func startProcess(command []string, q request) (*process, error) {
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
	p := &process{
		cmd: exec.Command(command[0], command[1:]...), in: in, out: out,
		frames: make(chan frame, 1), sent: make(chan struct{}), quit: make(chan struct{}), stderr: &tail{},
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirIn, theirOut, p.stderr
	ownGroup(p.cmd)
	p.cmd.WaitDelay = 100 * time.Millisecond
	if err := p.cmd.Start(); err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("can't start the solver's process: %w", err)
	}
	go p.send(q)
	go p.read(q.model.Columns())
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
func (p *process) failure(a *answer) error {
	p.kill()
	reason := "ended before its answer"
	if broken := p.broken.Load(); broken != nil {
		p.err = *broken
	}
	switch {
	case a.known:
		a.blame(fmt.Errorf("the solver's process %s: %w%s", reason, p.err, p.stderr.note()))
		return nil
	case p.broken.Load() != nil:
		return p.err
	case errors.Is(p.err, errNonsense):
		return fmt.Errorf("%w%s", errNonsense, p.stderr.note())
	}
	_ = p.cmd.Wait()
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
	<-p.sent
	if p.cmd.ProcessState == nil {
		killed.Go(func() { // the deadline is not for the process table to keep
			defer recovered(func(error) {})
			_ = p.cmd.Wait()
		})
	}
}

// tail keeps the end of what a worker says on standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (n int, err error) {
	defer recovered(func(e error) { err = e }) // called on a goroutine of os/exec
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxMessage; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

// note is ": " and the first line of it that is not empty, or nothing.
func (t *tail) note() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return ""
	}
	line, _, _ := strings.Cut(text, "\n")
	return ": " + line
}

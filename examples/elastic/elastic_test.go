// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

// Package elastic tests the programs in this directory, which are in Python.
package elastic

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A crew says to the driver which places there are, as aucsched crew run does. All are this host.
type crew struct {
	t      *testing.T
	dir    string
	driver *exec.Cmd
	lines  chan string // that the driver prints
	conn   net.Conn
	in     *bufio.Scanner
	number int
}

// newCrew starts the driver; on is what runs a command on a place.
func newCrew(t *testing.T, python, on string, env []string, args ...string) *crew {
	c := &crew{t: t, dir: t.TempDir(), lines: make(chan string, 10_000)}
	require.NoError(t, os.WriteFile(c.dir+"/on", []byte(on), 0o755))
	listen, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.dir + "/places"})
	require.NoError(t, err)
	defer listen.Close()
	client, err := filepath.Abs("../../invasive/malleable/python")
	require.NoError(t, err)
	c.driver = exec.Command(python, append([]string{"elastic.py", "--host", "localhost"}, args...)...)
	c.driver.Env = append(os.Environ(), "AUCSCHED_INVASIVE="+c.dir+"/places", "ELASTIC_ON="+c.dir+"/on", "OMP_NUM_THREADS=1",
		"PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+client+":"+c.dir)
	c.driver.Env = append(c.driver.Env, env...)
	c.driver.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := c.driver.StdoutPipe()
	require.NoError(t, err)
	c.driver.Stderr = c.driver.Stdout
	require.NoError(t, c.driver.Start())
	go func() {
		defer close(c.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-c.driver.Process.Pid, syscall.SIGKILL)
		_ = c.driver.Wait()
	})
	require.NoError(t, listen.SetDeadline(time.Now().Add(patience)))
	c.conn, err = listen.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { c.conn.Close() })
	c.in = bufio.NewScanner(c.conn)
	c.hears("hello 1")
	return c
}

const patience = 4 * time.Minute

func (c *crew) hears(line string) {
	c.t.Helper()
	require.NoError(c.t, c.conn.SetReadDeadline(time.Now().Add(patience)))
	require.True(c.t, c.in.Scan(), "%v", c.in.Err())
	require.Equal(c.t, line, c.in.Text())
}

// places is answered when no agent is elsewhere.
func (c *crew) places(list string) {
	c.t.Helper()
	c.number++
	_, err := fmt.Fprintf(c.conn, "cores %d %s %s\n", c.number, list, list)
	require.NoError(c.t, err)
	c.hears(fmt.Sprint("done ", c.number))
}

// until waits for a line that matches, and returns all up to it.
func (c *crew) until(pattern string) (lines []string) {
	c.t.Helper()
	for re, end := regexp.MustCompile(pattern), time.After(patience); ; {
		select {
		case line, more := <-c.lines:
			require.True(c.t, more, "no %q in\n%s", pattern, strings.Join(lines, "\n"))
			c.t.Log(line)
			if lines = append(lines, line); re.MatchString(line) {
				return lines
			}
		case <-end:
			require.Fail(c.t, "no "+pattern, "%s", strings.Join(lines, "\n"))
		}
	}
}

// ended is the driver's status, and what it has printed.
func (c *crew) ended() (status int, lines []string) {
	for line := range c.lines {
		c.t.Log(line)
		lines = append(lines, line)
	}
	_ = c.driver.Wait()
	return c.driver.ProcessState.ExitCode(), lines
}

// A training whose places come and go has the losses of one on one place: each epoch has had each
// sample once, and losses differ by less than 1e-12.
func TestTraining(t *testing.T) {
	python := os.Getenv("AUCSCHED_TORCH")
	if python == "" {
		t.Skip("it takes a minute or more: AUCSCHED_TORCH names a Python that has PyTorch, as /usr/bin/python3 with Debian's python3-torch")
	}
	rigid := exec.Command(python, "train.py", "--dir", t.TempDir(), "--epochs", "6")
	text, err := rigid.Output()
	require.NoError(t, err)
	epochs := regexp.MustCompile(`(?m)^epoch \d: 960 samples, each 1 to 1 times, loss 0\.\d{12}`)
	want := epochs.FindAllString(string(text), -1)
	require.Len(t, want, 6)

	dir := t.TempDir()
	c := newCrew(t, python, "#!/bin/sh\nshift 2\nexec \"$@\"\n", nil,
		"--", python, "train.py", "--dir", dir, "--epochs", "6", "--pause", "0.1", "--every", "19", "--wait", "1:3", "--wait", "3:2")
	c.places("0")
	c.until("epoch 0:")
	c.places("0-2")
	c.until("1 -> 3 ranks")
	c.until("epoch 1:")
	require.Eventually(t, func() bool { // the middle of epoch 2 has come
		text, err := os.ReadFile(dir + "/steps")
		return err == nil && strings.Contains(string(text), " 3 44\n")
	}, patience, 10*time.Millisecond)
	c.places("0,2")
	lines := c.until("3 -> 2 ranks")
	require.Regexp(t, ` [1-9]\d* steps again`, lines[len(lines)-1])
	status, lines := c.ended()
	require.Zero(t, status)
	require.Equal(t, want, epochs.FindAllString(strings.Join(lines, "\n"), -1))
}

// store is a torch.distributed with the store of a directory, for a driver without torch.
const store = `
import fcntl, os

class TCPStore:
    port = 1

    def __init__(self, *args, **kwargs):
        self.dir = os.environ["STORE"]

    def set(self, key, value):
        with open(os.path.join(self.dir, "new"), "w") as f:
            f.write(value)
        os.replace(os.path.join(self.dir, "new"), os.path.join(self.dir, key))

    def add(self, key, n):
        with open(os.path.join(self.dir, key), "a+") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            f.write(n * "x")
            return f.tell()
`

// agent is one on any place that is ready, and ends with the status that the test writes.
const agent = `#!/bin/sh
echo x >>"$STORE/ready $7"
while [ ! -s "$STORE/end $7" ]; do sleep 0.02; done
exit "$(cat "$STORE/end $7")"
`

// fakes starts a driver whose agents are fakes. It returns a function that writes into the store.
func fakes(t *testing.T) (*crew, func(key, text string)) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(dir+"/torch", 0o755))
	require.NoError(t, os.WriteFile(dir+"/torch/distributed.py", []byte(store), 0o600))
	c := newCrew(t, python, agent, []string{"STORE=" + dir, "PYTHONPATH=" + dir + ":../../invasive/malleable/python"}, "--", "worker")
	return c, func(key, text string) { require.NoError(t, os.WriteFile(filepath.Join(dir, key), []byte(text), 0o600)) }
}

// The driver makes a new group whenever places or agents come or go.
func TestGroups(t *testing.T) {
	c, write := fakes(t)
	group := func(n int, places string) { c.until(fmt.Sprintf("^elastic: group %d: places %s$", n, places)) }
	c.places("0")
	group(2, "0")
	c.places("0-2,7")
	group(3, "0 1 2 7")
	c.places("0,2,7")
	group(4, "0 2 7")

	write("end 2.3", "9")
	c.until("place 2: its agent has ended, status 9")
	group(5, "0 7")
	group(6, "0 2 7") // another one
	write("end 2.5", "9")
	group(8, "0 2 7")
	write("end 2.6", "9")
	group(9, "0 7") // no more
	c.places("0,7")
	c.places("0,2,7")
	group(10, "0 2 7")

	write("failed 10", "x")
	group(11, "0 2 7")
	write("end 0.1", "0")
	write("end 2.7", "0")
	write("end 7.4", "0")
	status, _ := c.ended()
	require.Zero(t, status)
}

// Workers that fail again and again, and a first place without an agent, are the end.
func TestFailures(t *testing.T) {
	c, write := fakes(t)
	c.places("0") // the first group does not wait for others
	c.until("^elastic: group 2: places 0$")
	c.places("0-1")
	for n := 3; n < 7; n++ {
		c.until(fmt.Sprintf("^elastic: group %d: places 0 1$", n))
		write(fmt.Sprint("failed ", n), "x")
	}
	status, lines := c.ended()
	require.Equal(t, 1, status)
	require.Equal(t, []string{"elastic: workers have failed 4 times while no place came or went"}, lines)

	c, write = fakes(t)
	c.places("0")
	for n := 1; n < 4; n++ {
		c.until("^elastic: group")
		write(fmt.Sprint("end 0.", n), "3")
	}
	status, _ = c.ended()
	require.Equal(t, 1, status)
}

// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Client asks slurmctld by Slurm's own commands, which have to be in PATH, with this
// process's SLURM_CONF. Its zero value is ready for use, by any number of goroutines. A call
// takes at most some 40 s.
type Client struct{}

// Bounds of a command.
const (
	commandTime = 30 * time.Second
	maxOutput   = 64 << 20 // bytes
)

// ErrNoJob is that slurmctld doesn't know a job, or no longer (MinJobAge); ErrDown that
// it doesn't answer now.
var (
	ErrNoJob = errors.New("slurmctld knows no such job")
	ErrDown  = errors.New("slurmctld doesn't answer")
)

// down are words of commands that can't reach slurmctld, or whom it is too busy to answer.
var down = []string{"Unable to contact slurm controller", "Socket timed out", "Connection refused",
	"connect failure", "Unable to contact primary"}

// A CommandError is a command of Slurm that failed.
type CommandError struct {
	Command, Said string
	Err           error
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("%s: %v: %s", e.Command, e.Err, strings.TrimSpace(e.Said))
}
func (e *CommandError) Unwrap() error { return e.Err }

// run returns what a command prints.
func (c *Client) run(ctx context.Context, argv ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, commandTime)
	defer stop()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.WaitDelay = environ(os.Environ()), 10*time.Second
	out, said := bounded{most: maxOutput}, bounded{most: 4096}
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err == nil && out.cut {
		err = fmt.Errorf("it printed more than %d bytes", maxOutput)
	}
	switch {
	case err == nil:
		return out.String(), nil
	case strings.Contains(said.String(), "Invalid job id"):
		err = ErrNoJob
	case ctx.Err() != nil, slices.ContainsFunc(down, func(words string) bool { return strings.Contains(said.String(), words) }):
		err = ErrDown
	}
	return "", &CommandError{Command: strings.Join(argv, " "), Said: said.String(), Err: err}
}

// environ is an environment without what would change a command's output, and with times
// in seconds since 1970.
func environ(from []string) (env []string) {
	for _, v := range from {
		switch name, _, _ := strings.Cut(v, "="); {
		case name == "SLURM_CONF", !strings.HasPrefix(name, "SLURM_") &&
			!strings.HasPrefix(name, "SQUEUE_") && !strings.HasPrefix(name, "SCONTROL_") && name != "LC_ALL":
			env = append(env, v)
		}
	}
	return append(env, "SLURM_TIME_FORMAT=%s", "LC_ALL=C")
}

// bounded keeps the beginning of what is written.
type bounded struct {
	bytes.Buffer
	most int
	cut  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.most-b.Len())
	b.cut = b.cut || n < len(p)
	b.Buffer.Write(p[:n])
	return len(p), nil
}

// squeue returns the fields of jobs, in the order of names. What users write into names and
// comments of jobs may be anything: the word behind each field is one that they can't know.
func (c *Client) squeue(ctx context.Context, names []string, args ...string) ([][]string, error) {
	var random [8]byte
	_, _ = rand.Read(random[:])
	end := "x" + hex.EncodeToString(random[:]) // a digit first would be the field's width
	format := strings.Join(names, ":"+end+",") + ":" + end
	out, err := c.run(ctx, append([]string{"squeue", "--noheader", "--all", "--Format=" + format}, args...)...)
	if err != nil {
		return nil, err
	}
	return records(out, end, len(names))
}

// records splits what squeue has printed.
func records(out, end string, n int) (list [][]string, err error) {
	fields := strings.Split(out, end)
	if rest := strings.TrimSpace(fields[len(fields)-1]); rest != "" || len(fields)%n != 1%n {
		return nil, fmt.Errorf("squeue printed %d fields, and %.60q behind them: must be %d for each job", len(fields)-1, rest, n)
	}
	for i := 0; i+n < len(fields); i += n {
		r := fields[i : i+n : i+n]
		for k := range r {
			r[k] = strings.TrimSpace(r[k])
			if r[k] == "(null)" {
				r[k] = ""
			}
		}
		list = append(list, r)
	}
	return list, nil
}

// A State is how a job is.
type State struct {
	Name      string // "PENDING", "COMPLETING"
	Partition string
	Reason    string // why it waits: "JobHeldAdmin"
	Held      bool   // its priority is 0
	Restarts  uint32
	UID       uint32 // its user's
	Exit      int32  // once it has ended; 128 + n for signal n
}

// Ended tells whether the state is final.
func (s *State) Ended() bool {
	switch s.Name {
	case "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED":
		return true
	}
	return false
}

// Job asks how a job is. The error may be [ErrNoJob].
func (c *Client) Job(ctx context.Context, id uint64) (*State, error) {
	list, err := c.squeue(ctx, []string{"JobID", "State", "Partition", "Reason", "PriorityLong", "RestartCnt", "exit_code", "UserID"},
		"--states=all", "--jobs="+strconv.FormatUint(id, 10))
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, ErrNoJob
	}
	f := list[0]
	restarts, err := strconv.ParseUint(f[5], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("job %d: restarts %q: must be a number", id, f[5])
	}
	exit, err := exitStatus(f[1], f[6])
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", id, err)
	}
	uid, err := strconv.ParseUint(f[7], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("job %d: user %q: must be a number", id, f[7])
	}
	return &State{UID: uint32(uid), Name: f[1], Partition: f[2], Reason: f[3], Held: f[4] == "0",
		Restarts: uint32(restarts), Exit: exit}, nil
}

// ended15 is the exit status of a job that Slurm has ended without one.
const ended15 = 128 + 15

// exitStatus reads what squeue prints of it: STATUS:SIGNAL, or the number that wait(2) gives.
func exitStatus(state, text string) (int32, error) {
	code, signal, both := strings.Cut(text, ":")
	n, err := strconv.ParseUint(code, 10, 16)
	s, err2 := n&0x7f, error(nil)
	if both {
		s, err2 = strconv.ParseUint(signal, 10, 7)
	} else {
		n >>= 8
	}
	switch {
	case err != nil || err2 != nil:
		return 0, fmt.Errorf("exit status %q: must be STATUS:SIGNAL, or a status of wait", text)
	case s > 0:
		return int32(128 + s), nil
	case n == 0 && state != "COMPLETED":
		return ended15, nil
	}
	return int32(n), nil
}

// Release lets a job that is held start, on this node alone. It does nothing to one that
// was released before.
func (c *Client) Release(ctx context.Context, id uint64, node string) error {
	job := strconv.FormatUint(id, 10)
	if _, err := c.run(ctx, "scontrol", "update", "JobId="+job, "ReqNodeList="+node); err != nil {
		return err
	}
	_, err := c.run(ctx, "scontrol", "release", job)
	return err
}

// Cancel ends a job, whatever its state.
func (c *Client) Cancel(ctx context.Context, id uint64) error {
	_, err := c.run(ctx, "scancel", strconv.FormatUint(id, 10))
	return err
}

// Suspend has a running job stopped, in a while; Resume has it go on.
func (c *Client) Suspend(ctx context.Context, id uint64) error {
	_, err := c.run(ctx, "scontrol", "suspend", strconv.FormatUint(id, 10))
	return err
}

// Resume: see Suspend.
func (c *Client) Resume(ctx context.Context, id uint64) error {
	_, err := c.run(ctx, "scontrol", "resume", strconv.FormatUint(id, 10))
	return err
}

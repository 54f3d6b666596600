// SPDX-License-Identifier: BSD-3-Clause

package launch

import (
	"encoding/json"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/invasive/procs"
)

// spec is what a supervisor has to do. Words are bytes, as they need not be text.
type spec struct {
	Args, Env []Word
	Dir       string
	CPUs      []int
	Out, Err  string
	Launch    string // in the environment of all that belong to it
	UID, GID  *uint32
	Groups    []uint32
	With      *procs.Process // with whose end it ends
}

// A Word is an argument or a variable: bytes, as it need not be text.
type Word []byte

// mark says that a job was launched, and by whom.
type mark struct {
	Supervisor procs.Process
	At         time.Time
	Launch     string
}

type exit struct{ Code int32 }

// writeFile writes a file that is there as a whole or not at all, also after a crash.
func writeFile(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return durable.Write(path, text)
}

// readFile returns os.ErrNotExist if it isn't there.
func readFile(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err = json.Unmarshal(text, v); err != nil {
		return &os.PathError{Op: "read", Path: path, Err: err}
	}
	return nil
}

// lock returns nil if another process has it.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := lockOpened(f, path)
	if !held {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lockOpened locks a file that was opened by a path, unless that is another file's by now: it is if
// a launch was abandoned, and is begun anew.
func lockOpened(f *os.File, path string) (held bool, err error) {
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ours, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(ours, now), err
}

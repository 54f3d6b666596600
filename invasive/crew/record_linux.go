// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A Record is a file with how tasks have ended, a line each: TASK STATUS, after a first line with
// the hash of all tasks.
type Record struct{ file *os.File }

// OpenRecord opens or makes the record of a list of tasks, and reads how some have ended, by index.
// A second process that has it open is an error, and so is one of other tasks. A last line that is
// not whole, as a crash leaves it, counts for nothing.
func OpenRecord(path string, tasks []string) (r *Record, done map[int]int, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, nil, fmt.Errorf("%s: in use by another process: %w", path, err)
	}
	head := fmt.Sprintf("tasks %x\n", sha256.Sum256([]byte(strings.Join(tasks, "\n"))))
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if len(whole) == 0 {
		whole = []byte(head)
		if _, err := file.WriteAt(whole, 0); err != nil {
			return nil, nil, err
		}
	} else if !bytes.HasPrefix(whole, []byte(head)) {
		return nil, nil, fmt.Errorf("%s: line 1: is of other tasks: remove it to begin anew", path)
	}
	if done, err = readRecord(whole, len(tasks)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := file.Truncate(int64(len(whole))); err != nil {
		return nil, nil, err
	}
	if _, err := file.Seek(0, 2); err != nil {
		return nil, nil, err
	}
	return &Record{file}, done, nil
}

// readRecord reads whole lines, of which the first is passed over.
func readRecord(text []byte, tasks int) (map[int]int, error) {
	done := map[int]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			continue
		}
		var task, status int
		if _, err := fmt.Sscanf(lines.Text(), "%d %d", &task, &status); err != nil || lines.Text() != fmt.Sprint(task, " ", status) {
			return nil, fmt.Errorf("line %d: %.40q: must be TASK STATUS", n, lines.Text())
		}
		if task < 1 || task > tasks || status < 0 || status > 255 {
			return nil, fmt.Errorf("line %d: %.40q: tasks are 1 to %d, statuses 0 to 255", n, lines.Text(), tasks)
		}
		if _, ok := done[task-1]; ok {
			return nil, fmt.Errorf("line %d: task %d has ended before", n, task)
		}
		done[task-1] = status
	}
	return done, lines.Err()
}

// Save adds a task's end, which is on the disk when it returns.
func (r *Record) Save(task, status int) error {
	if _, err := fmt.Fprintf(r.file, "%d %d\n", task+1, status); err != nil {
		return err
	}
	return r.file.Sync()
}

// Close lets others have it.
func (r *Record) Close() error { return r.file.Close() }

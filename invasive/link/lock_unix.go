// SPDX-License-Identifier: BSD-3-Clause

//go:build unix

package link

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockTime is how long a lock may be held by a child that a killed process has forked, until it
// runs a programme of its own.
const lockTime = 200 * time.Millisecond

// LockFile opens a file and locks it, until it is closed or the process ends.
func LockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(lockTime); ; time.Sleep(5 * time.Millisecond) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(until) {
			break
		}
	}
	if err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, err
	}
	return f, nil
}

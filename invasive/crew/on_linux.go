// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/link"
)

// An OnRequest is what [On] asks for, and an OnAnswer what it gets. Who asks again for a command
// that is kept does so by its Key, which is never 0 then.
type OnRequest struct {
	Place int    `json:"place"`
	Key   uint64 `json:"key,omitempty"`
	Command
}

// OnAnswer is how a command has ended, or why it could not begin.
type OnAnswer struct {
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
}

// KeptVariable is set where commands go on if who runs them is killed: [On] asks again for the same
// one then, for up to keptTime.
const KeptVariable = "AUCSCHED_CREW_KEPT"

const keptTime = 10 * time.Minute

// errUnheard means that there was no answer.
var errUnheard = errors.New("the crew is gone")

// On runs a command on a place and waits for its end: for processes of a program, which have the
// socket's path in OnVariable. Its output is that of the place's member. The command is killed when
// this process ends.
func On(path string, place int, c Command) (status int, err error) {
	return ask(path, OnRequest{Place: place, Command: c})
}

// OnKept is On where commands are kept.
func OnKept(path string, place int, c Command) (status int, err error) {
	var key [8]byte
	if _, err := rand.Read(key[:]); err != nil {
		return LostStatus, err
	}
	r := OnRequest{Place: place, Command: c, Key: max(1, binary.LittleEndian.Uint64(key[:])>>1)}
	for end := time.Now().Add(keptTime); ; time.Sleep(100 * time.Millisecond) {
		began := time.Now()
		status, err = ask(path, r)
		heard := !errors.Is(err, errUnheard) && !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ECONNREFUSED)
		if time.Since(began) > time.Second { // it was there until now
			end = time.Now().Add(keptTime)
		}
		if heard || time.Now().After(end) {
			return status, err
		}
	}
}

func ask(path string, r OnRequest) (status int, err error) {
	if err := r.check(); err != nil {
		return LostStatus, err
	}
	conn, err := link.DialUnix(context.Background(), path)
	if err != nil {
		return LostStatus, fmt.Errorf("%s=%s: %w", OnVariable, path, err)
	}
	defer conn.Close()
	l := lines.New(conn)
	if err := l.Put(r); err != nil {
		return LostStatus, fmt.Errorf("%w: %w", errUnheard, err)
	}
	var a OnAnswer
	if err := l.Next(&a); err != nil { // however long it takes
		return LostStatus, fmt.Errorf("%w: %w", errUnheard, err)
	}
	if a.Error != "" {
		return LostStatus, errors.New(a.Error)
	}
	return a.Status, nil
}

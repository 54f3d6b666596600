// SPDX-License-Identifier: BSD-3-Clause

package ischeduler

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
)

const (
	maxLine    = 256 << 10 // bytes of a request
	maxAnswer  = 64 << 20  // bytes of an answer that a client reads
	maxClients = 16        // at a time
)

// A request is what a client asks.
type request struct {
	Op   string `json:"op"`
	Jobs []Spec `json:"jobs,omitempty"`
	ID   uint64 `json:"id,omitempty"`
}

// An answer has what was asked for.
type answer struct {
	Error  string   `json:"error,omitempty"`
	IDs    []uint64 `json:"ids,omitempty"`
	Jobs   []Info   `json:"jobs,omitempty"`
	Status *Status  `json:"status,omitempty"`
}

func control(dir string) link.Endpoint {
	return link.Endpoint{Network: "unix", Address: filepath.Join(dir, "control"), Users: euid()}
}

// Serve answers clients on the control socket until ctx is done.
func (s *Scheduler) Serve(ctx context.Context) error {
	l, err := control(s.Dir).Listen(s.Clock, s.Stats)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	slots := make(chan struct{}, maxClients)
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		slots <- struct{}{}
		clients.Add(1)
		go func() {
			defer func() { <-slots; clients.Done() }()
			defer c.Close()
			_ = c.SetDeadline(s.Clock.Now().Add(2 * askTime))
			s.client(c)
		}()
	}
}

// client answers one request.
func (s *Scheduler) client(c net.Conn) {
	var a answer
	line, err := bufio.NewReader(io.LimitReader(c, maxLine+1)).ReadBytes('\n')
	var r request
	switch {
	case len(line) > maxLine:
		err = fmt.Errorf("the request has more than %d bytes", maxLine)
	case err != nil:
		return
	default:
		if err = json.Unmarshal(line, &r); err == nil {
			err = s.serve(&r, &a)
		}
	}
	if err != nil {
		a.Error = err.Error()
	}
	_ = json.NewEncoder(c).Encode(&a)
}

func (s *Scheduler) serve(r *request, a *answer) (err error) {
	switch r.Op {
	case "submit":
		for i := range r.Jobs {
			id, err := s.Submit(&r.Jobs[i])
			if err != nil {
				return fmt.Errorf("jobs[%d]: %w", i, err)
			}
			a.IDs = append(a.IDs, uint64(id))
		}
	case "cancel":
		err = s.Cancel(invasive.JobID(r.ID))
	case "list":
		a.Jobs, err = s.List()
	case "status":
		var st Status
		st, err = s.Status()
		a.Status = &st
	default:
		err = fmt.Errorf("op %q: must be submit, cancel, list or status", r.Op)
	}
	return err
}

// A Client asks the iScheduler of a directory.
type Client struct{ Dir string }

func (c Client) ask(ctx context.Context, r *request) (*answer, error) {
	conn, err := control(c.Dir).Dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("no iScheduler: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if len(text) >= maxLine {
		return nil, fmt.Errorf("a request of %d bytes: must be less than %d", len(text), maxLine)
	}
	if _, err := conn.Write(append(text, '\n')); err != nil {
		return nil, err
	}
	var a answer
	if err := json.NewDecoder(io.LimitReader(conn, maxAnswer)).Decode(&a); err != nil {
		return nil, fmt.Errorf("the iScheduler's answer: %w", err)
	}
	if a.Error != "" {
		return &a, errors.New(a.Error)
	}
	return &a, nil
}

// Submit submits a job. An error may come after the iScheduler has taken it, if
// the connection breaks.
func (c Client) Submit(ctx context.Context, spec *Spec) (uint64, error) {
	a, err := c.ask(ctx, &request{Op: "submit", Jobs: []Spec{*spec}})
	if err != nil {
		return 0, err
	}
	if len(a.IDs) != 1 {
		return 0, errors.New("the iScheduler gave no ID")
	}
	return a.IDs[0], nil
}

// Cancel takes back a job that waits.
func (c Client) Cancel(ctx context.Context, id uint64) error {
	_, err := c.ask(ctx, &request{Op: "cancel", ID: id})
	return err
}

// List returns the jobs.
func (c Client) List(ctx context.Context) ([]Info, error) {
	a, err := c.ask(ctx, &request{Op: "list"})
	if err != nil {
		return nil, err
	}
	return a.Jobs, nil
}

// Status says how the iScheduler is.
func (c Client) Status(ctx context.Context) (Status, error) {
	a, err := c.ask(ctx, &request{Op: "status"})
	if err != nil || a.Status == nil {
		return Status{}, errors.Join(err)
	}
	return *a.Status, nil
}

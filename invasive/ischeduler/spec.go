// SPDX-License-Identifier: BSD-3-Clause

package ischeduler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// A Spec is a job as a user describes it.
type Spec struct {
	// Args is the command, Env its variables as NAME=VALUE, Dir where it runs.
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"`
	Dir  string   `json:"dir,omitempty"`
	// Kind is rigid, moldable, evolving or malleable. Without one it is rigid if the job can use
	// one number of cores only, otherwise moldable.
	Kind string `json:"kind,omitempty"`
	// MinCores to MaxCores are the cores that it can use. MinCores 0 is 1, MaxCores 0 is MinCores.
	MinCores uint32 `json:"min_cores,omitempty"`
	MaxCores uint32 `json:"max_cores,omitempty"`
	// MinNodes to MaxNodes are the nodes that they may lie on; 0 and 0: any. MaxNodes 0 with a
	// MinNodes: any number from there on.
	MinNodes uint32 `json:"min_nodes,omitempty"`
	MaxNodes uint32 `json:"max_nodes,omitempty"`
	Urgent   bool   `json:"urgent,omitempty"`
	Priority uint32 `json:"priority,omitempty"`
	// Limit is the longest that it may run, Deadline by when, from now on, it should have ended,
	// in seconds; 0: none.
	Limit    uint32 `json:"limit_s,omitempty"`
	Deadline uint32 `json:"deadline_s,omitempty"`
}

var kinds = map[string]invasive.Flex{
	"rigid": invasive.Rigid, "moldable": invasive.Moldable, "evolving": invasive.Evolving, "malleable": invasive.Malleable,
}

const (
	submittedVar = "AUCSCHED_SUBMITTED="
	deadlineVar  = "AUCSCHED_DEADLINE="
)

// job makes a Job of a Spec, or says which field is wrong.
func (s *Spec) job(id invasive.JobID, now time.Time) (*invasive.Job, error) {
	j := &invasive.Job{
		ID: id, MinCores: max(s.MinCores, 1), MaxCores: s.MaxCores, MinNodes: s.MinNodes, MaxNodes: s.MaxNodes,
		Urgent: s.Urgent, Priority: s.Priority, Limit: s.Limit, Args: s.Args, Dir: s.Dir,
	}
	if j.MaxCores == 0 {
		j.MaxCores = j.MinCores
	}
	if j.MinNodes > 0 && j.MaxNodes == 0 {
		j.MaxNodes = invasive.MaxCores
	}
	if s.Kind == "" && j.MaxCores > j.MinCores {
		j.Flex = invasive.Moldable
	} else if s.Kind != "" {
		kind, ok := kinds[s.Kind]
		if !ok {
			return nil, fmt.Errorf("kind: %q: must be rigid, moldable, evolving or malleable", s.Kind)
		}
		j.Flex = kind
	}
	switch {
	case len(s.Args) == 0 || s.Args[0] == "":
		return nil, errors.New("args: a job needs a command")
	case j.MaxCores < j.MinCores:
		return nil, fmt.Errorf("max_cores: %d: must be at least min_cores, %d", j.MaxCores, j.MinCores)
	case j.Flex == invasive.Rigid && j.MinCores != j.MaxCores:
		return nil, fmt.Errorf("max_cores: %d: must be min_cores, %d, for a rigid job", j.MaxCores, j.MinCores)
	case s.Deadline > invasive.MaxSeconds:
		return nil, fmt.Errorf("deadline_s: %d: must be at most %d", s.Deadline, invasive.MaxSeconds)
	}
	for _, v := range s.Env { // a job may be submitted by another one
		if !strings.HasPrefix(v, submittedVar) && !strings.HasPrefix(v, deadlineVar) {
			j.Env = append(j.Env, v)
		}
	}
	j.Env = append(j.Env, submittedVar+strconv.FormatInt(now.UnixMilli(), 10))
	if s.Deadline > 0 {
		at := now.Add(time.Duration(s.Deadline) * time.Second)
		j.Env = append(j.Env, deadlineVar+strconv.FormatInt(at.UnixMilli(), 10))
	}
	var field *invasive.FieldError
	if err := j.Check(); errors.As(err, &field) {
		return nil, fmt.Errorf("%s: %d: is out of its range", strings.TrimPrefix(field.Field, "job."), field.Value)
	}
	return j, nil
}

// timeOf is a time in a job's environment, since 1970; 0 if there is none.
func timeOf(j *invasive.Job, name string) time.Duration {
	for _, v := range j.Env {
		if text, ok := strings.CutPrefix(v, name); ok {
			ms, _ := strconv.ParseInt(text, 10, 64)
			return time.Duration(ms) * time.Millisecond
		}
	}
	return 0
}

// maxFile bounds a file of jobs, in bytes.
const maxFile = 64 << 20

// ReadSpecs reads a job, or a list of jobs, in JSON; name is the file's name in errors,
// which tell the line.
func ReadSpecs(r io.Reader, name string) ([]Spec, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxFile)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	fail := func(at int64, err error) error {
		line := 1 + bytes.Count(text[:min(max(at, 0), int64(len(text)))], []byte{'\n'})
		return fmt.Errorf("%s:%d: %s", name, line, strings.TrimPrefix(err.Error(), "json: "))
	}
	var specs []Spec
	one := func() error {
		var s Spec
		if err := d.Decode(&s); err != nil {
			return fail(errorAt(d, err), err)
		}
		if _, err := s.job(1, time.Unix(0, 0)); err != nil {
			return fail(d.InputOffset(), fmt.Errorf("the job that ends here: %w", err))
		}
		specs = append(specs, s)
		return nil
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte{'['}) {
		if err := one(); err != nil {
			return nil, err
		}
	} else {
		_, _ = d.Token() // the bracket
		for d.More() {
			if err := one(); err != nil {
				return nil, err
			}
		}
		if _, err := d.Token(); err != nil {
			return nil, fail(errorAt(d, err), err)
		}
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fail(d.InputOffset(), errors.New("something follows the jobs"))
	}
	return specs, nil
}

// errorAt is where in its input a decoder's error is.
func errorAt(d *json.Decoder, err error) int64 {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return syntax.Offset
	}
	return d.InputOffset()
}

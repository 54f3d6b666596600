// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"bufio"
	"fmt"
	"strings"
	"time"
)

// Key names a job for good: Slurm gives numbers again that it has forgotten.
type Key struct {
	Submission int // its number in the plan
	Try        int // from 1: who gets no answer submits again
	Task       int // of an array, from 1; 0: no array
}

// Name is the name that the jobs of a submission have in Slurm.
func (k Key) Name() string { return fmt.Sprintf("soak%d.%d", k.Submission, k.Try) }

func (k Key) String() string {
	if k.Task == 0 {
		return k.Name()
	}
	return fmt.Sprintf("%s_%d", k.Name(), k.Task)
}

// ParseName is the reverse of [Key.Name]; false if it is none.
func ParseName(name string) (k Key, ok bool) {
	_, err := fmt.Sscanf(name, "soak%d.%d", &k.Submission, &k.Try)
	return k, err == nil && k.Name() == name
}

// Record is a line that a job's script writes when it begins, and when it ends by itself.
type Record struct {
	Key     Key
	End     bool
	ID      uint32 // Slurm's number
	Restart int    // what Slurm said of how often it was requeued
	Node    string
	At      time.Time
	Line    string
}

// Script is the text of a submission's job, a batch script or a command for sh -c. Each line that
// it adds to file is one write().
func Script(s *Submission, k Key, file string) string {
	note := func(what string) string {
		return fmt.Sprintf(
			`echo "%s %d %d ${SLURM_ARRAY_TASK_ID:-0} $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} `+
				`${SLURMD_NODENAME:--} $(date +%%s.%%N)" >> %s`,
			what, k.Submission, k.Try, file)
	}
	lines := append([]string{"#!/bin/sh"}, s.Lines...)
	return strings.Join(append(lines, note("start"), fmt.Sprintf("sleep %.3f", s.Length.Seconds()), note("end")), "\n") + "\n"
}

// ParseRecords reads the lines in their order.
func ParseRecords(text string) ([]Record, error) {
	var out []Record
	s := bufio.NewScanner(strings.NewReader(text))
	for s.Scan() {
		var r Record
		var what string
		var at float64
		_, err := fmt.Sscanf(s.Text(), "%s %d %d %d %d %d %s %f", &what, &r.Key.Submission,
			&r.Key.Try, &r.Key.Task, &r.ID, &r.Restart, &r.Node, &at)
		if err != nil || what != "start" && what != "end" {
			return nil, fmt.Errorf("record %.100q: %w", s.Text(), err)
		}
		r.End, r.Line, r.At = what == "end", s.Text(), time.UnixMicro(int64(at*1e6))
		out = append(out, r)
	}
	return out, s.Err()
}

// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"io/fs"
	"unsafe"

	"github.com/aucsched/aucsched/internal/engine"
	"github.com/aucsched/aucsched/internal/slurm/shadow"
	release "github.com/aucsched/aucsched/internal/version"
)

/*
#include "aucsched.h"

typedef const char aucsched_text;
typedef const struct aucsched_shadow aucsched_shadowing;
*/
import "C"

//export aucsched_shadow
func aucsched_shadow(handle C.int64_t, s *C.aucsched_shadowing) (c C.int) {
	defer recovered(&c)
	return code(table.Do(int64(handle), func(h *engine.Handle) error {
		if s == nil || s.path == nil || s.in == nil {
			return badCall("no shadow, or one without a path or an input")
		}
		in, err := view(s.in)
		if err != nil {
			return err
		}
		runs := slice[C.struct_aucsched_run](unsafe.Pointer(s.runs), uint64(s.runs_len), "runs", &err)
		if err != nil {
			return err
		}
		lines := make([]shadow.Line, 0, len(runs))
		for i := range runs {
			lines = append(lines, runLine(&runs[i]))
		}
		own := ownOf(h)
		var out *engine.Output
		if s.decided != 0 {
			out = &own.out
		}
		sample := shadow.Measure(&in, out)
		sample.Queue = int64(s.queue)
		at := &sample
		if sample.Cores == 0 { // no node has come up yet
			at = nil
		}
		return own.shadow.Write(shadow.File{
			Path: text(s.path), Limit: int64(s.limit), Mode: fs.FileMode(s.mode), Time: in.Now, Interval: int64(s.interval),
			Version: release.Number, Slurm: text(s.slurm), Settings: text(s.settings),
		}, lines, at)
	}))
}

func runLine(r *C.struct_aucsched_run) shadow.Line {
	l := shadow.Line{
		Job: int64(r.job), Restarts: int64(r.restarts), User: int64(r.user), Submit: int64(r.submit), Eligible: int64(r.eligible),
		CPUs: int64(r.cpus), Nodes: int64(r.nodes), Partition: text(r.partition), Left: text(r.left),
		Would: placeAt(&r.would), Slurm: placeAt(&r.slurm), End: int64(r.end), State: text(r.state),
	}
	if r.task != C.AUCSCHED_NO_JOB {
		task := int64(r.task)
		l.Task = &task
	}
	if l.Would != nil {
		l.Would.Class, l.Would.Victims = string(rune(r.bid_class)), int64(r.victims)
	}
	if l.Slurm != nil {
		if l.Slurm.Before = text(r.before_word); r.before > 0 {
			l.Slurm.Before = engine.Word(uint8(r.before) - 1)
		}
	}
	return l
}

func placeAt(p *C.struct_aucsched_at) *shadow.At {
	if p.nodes == nil {
		return nil
	}
	return &shadow.At{Time: int64(p.time), CPUs: int64(p.cpus), GPUs: int64(p.gpus), Nodes: text(p.nodes)}
}

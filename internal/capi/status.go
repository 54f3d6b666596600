// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"encoding/json"
	"math"
	"time"
	"unsafe"

	"github.com/aucsched/aucsched/internal/engine"
	release "github.com/aucsched/aucsched/internal/version"
)

/*
#include "aucsched.h"

typedef const char aucsched_text;
typedef const struct aucsched_status aucsched_figures;
*/
import "C"

// figure is an [C.struct_aucsched_figure] as the status has it.
type figure struct {
	Last  int64   `json:"last"`
	Mean  float64 `json:"mean"`
	Max   int64   `json:"max"`
	Sum   float64 `json:"sum"`
	Count uint64  `json:"count"`
}

func figureOf(f *C.struct_aucsched_figure) figure {
	return figure{int64(f.last), to(1, float64(f.sum)/float64(f.count)), int64(f.max), to(1, float64(f.sum)), uint64(f.count)}
}

// to rounds to so many parts of 1; what is no number is 0.
func to(parts, x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return math.Round(x*parts) / parts
}

//export aucsched_status
func aucsched_status(handle C.int64_t, s *C.aucsched_figures, buf *C.char, length C.size_t) (c C.int) {
	defer recovered(&c)
	return code(table.Do(int64(handle), func(h *engine.Handle) error { return ownOf(h).last.tell(s, buf, length) }))
}

// tell writes the status.
func (last *last) tell(s *C.aucsched_figures, buf *C.char, length C.size_t) error {
	if s == nil || s.left_len > 1<<16 {
		return badCall("status is NULL, or has too many words")
	}
	scale := math.Exp2(float64(last.out.shift))
	type object map[string]any // json sorts its names
	waits, missed, handed := object{}, object{}, object{}
	for why := 1; why < len(last.waits); why++ {
		waits[engine.Word(uint8(why))] = last.waits[why]
	}
	for i := range min(int(s.misses.len), len(s.misses.of)) {
		missed[C.GoString(&s.misses.of[i].why[0])] = uint64(s.misses.of[i].count)
	}
	for _, left := range unsafe.Slice(s.left, int(s.left_len)) {
		handed[text(left.why)] = uint32(left.jobs)
	}
	status := object{
		"version": release.Number, "slurm": text(s.slurm), "pid": uint32(s.pid), "engine_pid": uint32(s.engine_pid),
		"began": int64(s.began), "time": time.Now().Unix(),
		"interval_s": uint32(s.interval), "state": text(s.state), "state_text": text(s.state_text),
		"library": text(s.library), "settings": text(s.settings),
		"cycles": uint64(s.cycles), "cycles_skipped": uint64(s.skipped), "cycles_failed": uint64(s.cycles_failed),
		"cycles_late": uint64(s.late_cycles), "last_failure": text(s.last_failure),
		"cycle_us": figureOf(&s.cycle_us), "snapshot_us": figureOf(&s.snapshot_us), "decide_us": figureOf(&s.decide_us),
		"start_us": figureOf(&s.start_us), "lock_us": figureOf(&s.lock_us),
		"nodes": uint32(s.nodes), "queue": uint32(s.queue), "window": uint32(last.out.window), "running": uint32(s.running),
		"waits": waits, "started": uint64(s.started), "starts_failed": uint64(s.starts_failed), "missed": missed,
		"overdue": uint64(s.overdue), "preempted": uint64(s.preempted), "journal": text(s.journal),
		"saves_failed": uint64(s.saves_failed), "handed_jobs": uint32(s.left_jobs), "handed": handed,
		"left_waits": object{
			"started": uint64(s.left_wait_s.count), "sum_s": to(1, float64(s.left_wait_s.sum)),
			"mean_s":    to(10, float64(s.left_wait_s.sum)/float64(s.left_wait_s.count)),
			"longest_s": int64(s.left_wait_s.max), "pending_longest_s": uint32(s.left_longest_s),
		},
		"solver": object{
			"status":    map[bool]string{true: "optimal", false: "feasible"}[last.out.optimal != 0],
			"objective": to(1, float64(last.out.objective)/scale), "bound": to(1, float64(last.out.bound)/scale),
			"bids": uint32(last.out.bids),
		},
		"fallbacks": uint64(s.fallbacks),
	}
	if s.locality != 0 {
		status["files"] = object{"known": uint32(last.out.files), "copies": uint32(last.out.copies), "starts": uint64(s.readers),
			"on_holders": uint64(s.holders)}
	}
	line, err := json.Marshal(status)
	if err != nil || C.size_t(len(line)+2) > length {
		return badCall("the status takes %d bytes", len(line)+2)
	}
	copyText(buf, length, string(line)+"\n")
	return nil
}

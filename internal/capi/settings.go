// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/aucsched/aucsched/internal/slurm/alternatives"
	"github.com/aucsched/aucsched/internal/slurm/inputs"
	"github.com/aucsched/aucsched/internal/slurm/invasic"
	"github.com/aucsched/aucsched/internal/slurm/params"
)

/*
#include "aucsched.h"

typedef const char aucsched_text;
typedef const struct aucsched_invasic aucsched_invasic_in;
*/
import "C"

//export aucsched_settings
func aucsched_settings(list *C.aucsched_text, out *C.struct_aucsched_settings, buf *C.char, length C.size_t) (c C.int) {
	defer recovered(&c)
	p := params.Read(text(list))
	*out = C.struct_aucsched_settings{
		enabled: C.int32_t(p.Enabled), shadow: C.int32_t(p.Shadow), interval: C.int32_t(p.Interval),
		delay_ms: C.int32_t(p.DelayMs), deadline_ms: C.int32_t(p.DeadlineMs), net_s: C.int32_t(p.NetS),
		at_once: C.int32_t(p.AtOnce), locality: C.int32_t(p.Locality), preempt: C.int32_t(p.Preempt),
		limit: C.int32_t(p.Limit), users_share: C.int32_t(p.UsersShare), max_rpcs: C.int32_t(p.MaxRPCs),
	}
	said := ""
	for _, s := range p.Said {
		said += map[bool]string{true: "!"}[s.Error] + s.Text + "\n"
	}
	if !putTexts(buf, length, []placed{
		{&out.engine, p.Engine, false}, {&out.status, p.Status, false}, {&out.partitions, p.Partitions, false}, {&out.said, said, true},
	}) {
		return C.AUCSCHED_EINVAL
	}
	return C.AUCSCHED_OK
}

// placed is where a text is to be found; cut: as much of it as there is room for.
type placed struct {
	field **C.char
	text  string
	cut   bool
}

// putTexts puts those that are not empty into a buffer. It reports whether there was room.
func putTexts(buf *C.char, length C.size_t, texts []placed) bool {
	for _, t := range texts {
		n := C.size_t(len(t.text)) + 1
		switch {
		case t.text == "":
			continue
		case n > length && (!t.cut || length == 0):
			return false
		}
		n = min(n, length)
		copyText(buf, n, t.text)
		*t.field = buf
		buf, length = (*C.char)(unsafe.Add(unsafe.Pointer(buf), n)), length-n
	}
	return true
}

//export aucsched_invasic
func aucsched_invasic(in *C.aucsched_invasic_in, out *C.struct_aucsched_invasic_answer, buf *C.char, length C.size_t) (c C.int) {
	defer recovered(&c)
	a, err := invasic.Judge(&invasic.Job{
		Params: text(in.settings), Partition: text(in.partition), Comment: text(in.comment), Before: text(in.job_comment),
		QOS: text(in.qos), MostCores: uint32(in.most_cores), Nodes: uint32(in.nodes), Tasks: uint32(in.tasks),
		CPUsPerTask: uint32(in.cpus_per_task), Nice: int64(in.nice), Priority: int64(in.priority), Change: in.change != 0,
		Elsewhere: in.elsewhere != 0, NoScript: in.no_script != 0, Array: in.array != 0, Het: in.het != 0, Begins: in.begins != 0,
		QOSCounts: in.enforces_qos != 0, Comments: in.comment != nil, Qualifies: in.qualifies != 0, Held: in.held != 0,
		ByUser: in.user_held != 0, Operator: in.operator_ != 0, Owner: in.owner != 0,
	})
	*out = C.struct_aucsched_invasic_answer{min_cpus: C.uint32_t(a.MinCPUs), released: C.uint32_t(flag(a.Released))}
	if err == nil && !putTexts(buf, length, []placed{
		{&out.comment, a.Comment, false}, {&out.job_comment, a.Was, false}, {&out.socket, a.Socket, false},
	}) {
		err = badCall("the comment is too long")
	}
	if err != nil {
		copyText(buf, length, err.Error())
		return C.AUCSCHED_EINVAL
	}
	return C.AUCSCHED_OK
}

//export aucsched_alternatives
func aucsched_alternatives(list, script *C.aucsched_text, cpus C.uint32_t, nodes *C.aucsched_text, buf *C.char,
	length C.size_t) (c C.int) {
	defer recovered(&c)
	p := params.Read(text(list))
	note, err := alternatives.Note(text(script), int(cpus), alternatives.ReadGPUs(text(nodes)), p.GPURanges != 0)
	if p.Alternatives == 0 && note != "" {
		err = errors.New("aucsched: this cluster takes no alternative requests (auc_alternatives=no)")
	}
	if err != nil {
		copyText(buf, length, err.Error())
		return C.AUCSCHED_EINVAL
	}
	copyText(buf, length, note)
	return C.AUCSCHED_OK
}

//export aucsched_range
func aucsched_range(list, gres, nodes *C.aucsched_text, out *C.struct_aucsched_gpus, buf *C.char, length C.size_t) (c C.int) {
	defer recovered(&c)
	*out = C.struct_aucsched_gpus{}
	r, err := alternatives.ReadGPUs(text(nodes)).Range(text(gres))
	if err == nil && r.High > 0 && params.Read(text(list)).GPURanges == 0 {
		err = errors.New("aucsched: this cluster takes no ranges of GPUs (auc_gpu_ranges=no)")
	}
	if err != nil {
		copyText(buf, length, err.Error())
		return C.AUCSCHED_EINVAL
	}
	out.low, out.high = C.uint32_t(r.Low), C.uint32_t(r.High)
	copyText(&out._type[0], C.size_t(len(out._type)), r.Type)
	return C.AUCSCHED_OK
}

//export aucsched_noted
func aucsched_noted(note *C.aucsched_text, cpus C.uint32_t, out *C.struct_aucsched_noted) (n C.int) {
	defer recovered(&n)
	if out == nil {
		return C.AUCSCHED_EINVAL
	}
	to := unsafe.Slice((*alternatives.Noted)(unsafe.Pointer(out)), alternatives.Most)
	return C.int(copy(to, alternatives.Read(text(note), int(cpus))))
}

//export aucsched_input_file
func aucsched_input_file(comment *C.aucsched_text, out *C.struct_aucsched_read, buf *C.char, length C.size_t) (c C.int) {
	defer recovered(&c)
	in, err := inputs.Read(text(comment))
	if err != nil || out == nil {
		copyText(buf, length, fmt.Sprint(err))
		return C.AUCSCHED_EINVAL
	}
	out.file, out.bytes = C.uint64_t(in.File), C.uint64_t(in.Bytes)
	return C.AUCSCHED_OK
}

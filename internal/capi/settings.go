// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/aucsched/aucsched/internal/slurm/alternatives"
	"github.com/aucsched/aucsched/internal/slurm/inputs"
	"github.com/aucsched/aucsched/internal/slurm/invasic"
	"github.com/aucsched/aucsched/internal/slurm/params"
)

/*
#include "aucsched.h"

typedef const char aucsched_text;
typedef const struct aucsched_submission aucsched_submission_in;
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
	texts := []placed{
		{&out.engine, p.Engine, false}, {&out.status, p.Status, false}, {&out.partitions, p.Partitions, false}, {&out.said, said, true},
	}
	if !putTexts(buf, length, slices.DeleteFunc(texts, func(t placed) bool { return t.text == "" })) {
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

// putTexts puts texts into a buffer. It reports whether there was room.
func putTexts(buf *C.char, length C.size_t, texts []placed) bool {
	for _, t := range texts {
		n := C.size_t(len(t.text)) + 1
		if n > length && (!t.cut || length == 0) {
			return false
		}
		n = min(n, length)
		copyText(buf, n, t.text)
		*t.field = buf
		buf, length = (*C.char)(unsafe.Add(unsafe.Pointer(buf), n)), length-n
	}
	return true
}

//export aucsched_submission
func aucsched_submission(in *C.aucsched_submission_in, out *C.struct_aucsched_submission_answer, buf *C.char, length C.size_t) (c C.int) {
	defer recovered(&c)
	*out = C.struct_aucsched_submission_answer{}
	s := alternatives.Submission{
		Params: text(in.settings), Script: text(in.script), Gres: text(in.gres), Prefix: text(in.gres_prefix),
		Comment: text(in.comment), AdminComment: text(in.admin_comment), Nodes: text(in.nodes),
		CPUsPerTask: int(in.cpus_per_task), Change: in.change != 0,
	}
	r, err := s.Take()
	out.wrong_gres = C.uint32_t(flag(s.WrongGres))
	out.gpus.low, out.gpus.high = C.uint32_t(r.Low), C.uint32_t(r.High)
	copyText(&out.gpus._type[0], C.size_t(len(out.gpus._type)), r.Type)
	var texts []placed
	add := func(field **C.char, before *C.char, now string) {
		if now != text(before) {
			texts = append(texts, placed{field, now, false})
		}
	}
	if err == nil && in.partition != nil {
		var a invasic.Answer
		a, err = invasic.Judge(&invasic.Job{
			Params: s.Params, Partition: text(in.partition), Comment: s.Comment, Before: text(in.job_comment),
			QOS: text(in.qos), MostCores: uint32(in.most_cores), Nodes: uint32(in.nodes_least), Tasks: uint32(in.tasks),
			CPUsPerTask: uint32(in.cpus_per_task), Nice: int64(in.nice), Priority: int64(in.priority), Change: s.Change,
			Elsewhere: in.elsewhere != 0, NoScript: in.script == nil && !s.Change, Array: in.array != 0, Het: in.het != 0,
			Begins: in.begins != 0, QOSCounts: in.enforces_qos != 0, Comments: in.comment != nil, Qualifies: in.qualifies != 0,
			Held: in.held != 0, ByUser: in.user_held != 0, Operator: in.operator_ != 0, Owner: in.owner != 0,
		})
		out.min_cpus, out.released = C.uint32_t(a.MinCPUs), C.uint32_t(flag(a.Released))
		s.Comment = cmp.Or(a.Comment, s.Comment)
		add(&out.job_comment, in.job_comment, cmp.Or(a.Was, text(in.job_comment)))
		add(&out.socket, nil, a.Socket)
	}
	add(&out.gres, in.gres, s.Gres)
	add(&out.comment, in.comment, s.Comment)
	add(&out.admin_comment, in.admin_comment, s.AdminComment)
	if err == nil && !putTexts(buf, length, texts) {
		err = badCall("a text is too long")
	}
	if err != nil {
		copyText(buf, length, err.Error())
		return C.AUCSCHED_EINVAL
	}
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

// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"strings"
	"unsafe"

	"github.com/aucsched/aucsched/internal/slurm/alternatives"
	"github.com/aucsched/aucsched/internal/slurm/params"
)

/*
#include "aucsched.h"

typedef const char aucsched_text;
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
	for _, t := range []struct {
		field **C.char
		text  string
	}{{&out.engine, p.Engine}, {&out.status, p.Status}, {&out.partitions, p.Partitions}, {&out.said, said}} {
		n := C.size_t(len(t.text)) + 1
		switch {
		case t.text == "":
			continue
		case n > length && (t.field != &out.said || length == 0):
			return C.AUCSCHED_EINVAL
		}
		copyText(buf, length, t.text)
		*t.field = buf
		n = min(n, length)
		buf, length = (*C.char)(unsafe.Add(unsafe.Pointer(buf), n)), length-n
	}
	return C.AUCSCHED_OK
}

//export aucsched_alternatives
func aucsched_alternatives(script *C.aucsched_text, cpus C.uint32_t, types *C.aucsched_text, buf *C.char, length C.size_t) (c C.int) {
	defer recovered(&c)
	note, err := alternatives.Note(text(script), int(cpus), strings.Fields(text(types)))
	if err != nil {
		copyText(buf, length, err.Error())
		return C.AUCSCHED_EINVAL
	}
	copyText(buf, length, note)
	return C.AUCSCHED_OK
}

// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"strings"
	"unsafe"

	"github.com/aucsched/aucsched/internal/engine"
	"github.com/aucsched/aucsched/internal/slurm/shapes"
	"github.com/aucsched/aucsched/internal/slurm/standing"
)

/*
#include "aucsched.h"

typedef const char aucsched_text;
typedef const struct aucsched_numbers aucsched_numbers_in;
*/
import "C"

//export aucsched_topology
func aucsched_topology(handle C.int64_t, nodes *C.aucsched_text, n C.uint32_t, sizes *C.aucsched_text,
	out *C.struct_aucsched_topology) (c C.int) {
	defer recovered(&c)
	return code(table.Do(int64(handle), func(h *engine.Handle) error {
		lines := strings.SplitAfter(text(nodes), "\n")
		if len(lines) != int(n)+1 || out == nil {
			return badCall("topology: %d lines of %d nodes, or out is NULL", len(lines)-1, n)
		}
		places := make([]standing.Node, n)
		for i := range places {
			name, rest, _ := strings.Cut(strings.TrimSuffix(lines[i], "\n"), " ")
			address, pattern, _ := strings.Cut(rest, " ")
			places[i] = standing.Node{Name: name, Address: address, Pattern: pattern}
		}
		x := standing.Read(places, text(sizes))
		all := make([]engine.Switch, len(x.Parents))
		for i, parent := range x.Parents {
			all[i].Parent = parent
		}
		b := ownOf(h)
		b.tree = *x
		*out = C.struct_aucsched_topology{
			switches: (*C.struct_aucsched_switch)(b.switches.set(all)), leaves: (*C.uint32_t)(b.leaves.set(x.Leaves)),
			switches_len: C.uint32_t(len(all)), roots: C.uint32_t(x.Roots), blocks: flag(x.Blocks), other: flag(x.Other),
		}
		return nil
	}))
}

//export aucsched_shape
func aucsched_shape(handle C.int64_t, numbers *C.aucsched_numbers_in, out *C.struct_aucsched_shape) (c C.int) {
	defer recovered(&c)
	return code(table.Do(int64(handle), func(h *engine.Handle) error {
		if numbers == nil || out == nil {
			return badCall("numbers or out is NULL")
		}
		*(*shapes.Shape)(unsafe.Pointer(out)) = shapes.Of((*shapes.Numbers)(unsafe.Pointer(numbers)), &ownOf(h).tree)
		return nil
	}))
}

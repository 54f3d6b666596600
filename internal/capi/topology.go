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
func aucsched_topology(handle C.int64_t, nodes *C.aucsched_text, n C.uint32_t, sizes *C.aucsched_text) (c C.int) {
	defer recovered(&c)
	err := table.Do(int64(handle), func(h *engine.Handle) error {
		lines := strings.SplitAfter(text(nodes), "\n")
		if len(lines) != int(n)+1 {
			return badCall("topology: %d lines of %d nodes", len(lines)-1, n)
		}
		places := make([]standing.Node, n)
		for i := range places {
			name, rest, _ := strings.Cut(strings.TrimSuffix(lines[i], "\n"), " ")
			address, pattern, _ := strings.Cut(rest, " ")
			places[i] = standing.Node{Name: name, Address: address, Pattern: pattern}
		}
		b := ownOf(h)
		b.tree = *standing.Read(places, text(sizes))
		all := make([]engine.Switch, len(b.tree.Parents))
		for i, parent := range b.tree.Parents {
			all[i].Parent = parent
		}
		b.switches.set(all)
		b.leaves.set(b.tree.Leaves)
		if b.tree.Blocks {
			c = 1
		}
		return nil
	})
	if err != nil {
		return code(err)
	}
	return c
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

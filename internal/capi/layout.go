// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/engine"
	"github.com/aucsched/aucsched/internal/slurm/alternatives"
	"github.com/aucsched/aucsched/internal/slurm/shapes"
)

// #include "aucsched.h"
import "C"

// layouts are the structures that both sides read where they are: C's, and Go's.
var layouts = [][2]any{
	{C.struct_aucsched_node{}, engine.Node{}},
	{C.struct_aucsched_segment{}, engine.Segment{}},
	{C.struct_aucsched_running{}, engine.Running{}},
	{C.struct_aucsched_job{}, engine.Job{}},
	{C.struct_aucsched_alternative{}, engine.Alternative{}},
	{C.struct_aucsched_decision{}, engine.Decision{}},
	{C.struct_aucsched_store{}, engine.Store{}},
	{C.struct_aucsched_read{}, engine.Read{}},
	{C.struct_aucsched_amount{}, engine.Amount{}},
	{C.struct_aucsched_use{}, engine.Use{}},
	{C.struct_aucsched_charge{}, engine.Charge{}},
	{C.struct_aucsched_switch{}, engine.Switch{}},
	{C.struct_aucsched_shared_gpu{}, engine.SharedGPU{}},
	{C.struct_aucsched_preference{}, engine.Preference{}},
	{C.struct_aucsched_stake{}, engine.Stake{}},
	{C.struct_aucsched_gres{}, shapes.Gres{}},
	{C.struct_aucsched_numbers{}, shapes.Numbers{}},
	{C.struct_aucsched_layout{}, shapes.Layout{}},
	{C.struct_aucsched_shape{}, shapes.Shape{}},
}

// A library that reads other fields than its caller writes is of no use to anybody.
func init() {
	for _, l := range layouts {
		if err := sameLayout(reflect.TypeOf(l[0]), reflect.TypeOf(l[1])); err != nil {
			panic(err)
		}
	}
}

// sameLayout returns an error unless each field of C is one of Go, of the same place and size, whose name
// has no underscores.
func sameLayout(c, g reflect.Type) error {
	if c.Size() != g.Size() {
		return fmt.Errorf("%v has %d bytes, %v has %d", c, c.Size(), g, g.Size())
	}
	for i := range c.NumField() {
		in := c.Field(i)
		name := strings.ReplaceAll(in.Name, "_", "")
		if strings.HasPrefix(name, "reserved") {
			continue
		}
		of, ok := g.FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, name) })
		if name != "" && (!ok || of.Offset != in.Offset || of.Type.Size() != in.Type.Size()) {
			return fmt.Errorf("%v.%s is not as %v.%s", c, in.Name, g, of.Name)
		}
	}
	return nil
}

// Every line compiles only if its index is 0: if C and Go agree.
var (
	_ = [1]int{}[C.AUCSCHED_ABI-engine.ABI]
	_ = [1]int{}[C.AUCSCHED_MAX_QUOTAS-engine.MaxQuotas]
	_ = [1]int{}[C.AUCSCHED_MAX_CHARGE-bids.MaxRate]
	_ = [1]int{}[C.AUCSCHED_WAITS_QUOTA-engine.WaitsQuota]
	_ = [1]int{}[C.AUCSCHED_MAX_RESOURCES-engine.MaxResources]
	_ = [1]int{}[C.AUCSCHED_MAX_CLASS-engine.MaxClass]
	_ = [1]int{}[C.AUCSCHED_MAX_NODES-engine.MaxNodes]
	_ = [1]int{}[C.AUCSCHED_MAX_JOBS-engine.MaxJobs]
	_ = [1]int{}[C.AUCSCHED_MAX_LAYOUTS-shapes.MostLayouts]
	_ = [1]int{}[C.AUCSCHED_MAX_GRES-shapes.MostGres]
	_ = [1]int{}[C.AUCSCHED_MAX_ALTERNATIVES-alternatives.Most]
	_ = [1]int{}[C.sizeof_struct_aucsched_noted-unsafe.Sizeof(alternatives.Noted{})]
	_ = [1]int{}[C.AUCSCHED_MAX_ALTERNATIVES-engine.MaxAlternatives]
	_ = [1]int{}[C.AUCSCHED_MAX_FILE-engine.MaxFile]
	_ = [1]int{}[C.AUCSCHED_MAX_PRIORITY-engine.MaxPriority]
	_ = [1]int{}[C.AUCSCHED_NO_LIMIT-engine.NoLimit]
	_ = [1]int{}[C.AUCSCHED_NO_SWITCH-engine.NoSwitch]
	_ = [1]int{}[C.AUCSCHED_ROOT-engine.Root]
	_ = [1]int{}[C.AUCSCHED_CONTIGUOUS-engine.Contiguous]
	_ = [1]int{}[C.AUCSCHED_STARTS-engine.Starts]
	_ = [1]int{}[C.AUCSCHED_WAITS_FIT-engine.WaitsFit]
	_ = [1]int{}[C.AUCSCHED_WAITS_LOST-engine.WaitsLost]
	_ = [1]int{}[C.AUCSCHED_WAITS_RESERVED-engine.WaitsReserved]
	_ = [1]int{}[C.AUCSCHED_WAITS_NEVER-engine.WaitsNever]
	_ = [1]int{}[C.AUCSCHED_NOT_LOOKED_AT-engine.NotLookedAt]
	_ = [1]int{}[C.AUCSCHED_TIMED_OUT-engine.TimedOut]
	_ = [1]int{}[C.AUCSCHED_FAULTY-engine.Faulty]
)

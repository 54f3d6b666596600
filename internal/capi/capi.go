// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
	"unsafe"

	"github.com/aucsched/aucsched/internal/engine"
	"github.com/aucsched/aucsched/internal/slurm/shadow"
	"github.com/aucsched/aucsched/internal/slurm/standing"
	release "github.com/aucsched/aucsched/internal/version"
)

/*
#cgo CFLAGS: -I${SRCDIR}/../../cshim

#include <stdlib.h>
#include <string.h>

#include "aucsched.h"

// Go has no const: these let the exports have the header's signatures.
typedef const char aucsched_text;
typedef const struct aucsched_input aucsched_in;
*/
import "C"

// mostProcessors is how many processors the library uses at once: a cycle has two things to do at a
// time, and the collector helps itself to the rest.
const mostProcessors = 4

// A thread that can't be started ends the process. So those that a cycle needs are there before the
// first call: one for each processor, and for each of as many calls of the system.
func init() {
	runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), mostProcessors))
	startThreads(2 * mostProcessors)
}

// startThreads has the runtime have so many threads. It keeps those that nobody uses.
func startThreads(n int) {
	var there, gone sync.WaitGroup
	end := make(chan struct{})
	for range n {
		there.Add(1)
		gone.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			there.Done()
			<-end
		})
	}
	there.Wait()
	close(end)
	gone.Wait()
}

// configured goes by the settings that a handle has now.
func configured(h *engine.Handle, settings string) {
	ownOf(h).settings = repeatable(settings)
	limitMemory(h)
}

// limitMemory has the collector work harder when all handles together come near what h may take.
// The highest limit of any handle counts; one that the process has set is raised, and not lowered.
func limitMemory(h *engine.Handle) {
	most := h.Settings().Memory << 20
	if now := debug.SetMemoryLimit(-1); most > 0 && (now == math.MaxInt64 || now < most) {
		debug.SetMemoryLimit(most)
	}
}

var (
	table   engine.Table
	version = C.CString(release.Number) // for ever
)

// code is what a function returns for err.
func code(err error) C.int {
	var input *engine.InputError
	var setting *engine.SettingError
	var bug *engine.PanicError
	var files *engine.FilesError
	switch {
	case err == nil:
		return C.AUCSCHED_OK
	case errors.Is(err, engine.ErrHandle):
		return C.AUCSCHED_EHANDLE
	case errors.Is(err, engine.ErrBusy):
		return C.AUCSCHED_EBUSY
	case errors.As(err, &input), errors.As(err, &setting), errors.As(err, &files), errors.Is(err, errCall):
		return C.AUCSCHED_EINVAL
	case errors.As(err, &bug):
		return C.AUCSCHED_EPANIC
	}
	return C.AUCSCHED_EFAILED
}

// errCall is wrapped by faults of the structs that a caller hands over.
var errCall = errors.New("call")

func badCall(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errCall, fmt.Sprintf(format, args...))
}

//export aucsched_abi
func aucsched_abi() C.int { return engine.ABI }

//export aucsched_version
func aucsched_version() *C.aucsched_text { return (*C.aucsched_text)(unsafe.Pointer(version)) }

//export aucsched_open
func aucsched_open(settings *C.aucsched_text, err *C.char, errlen C.size_t) (id C.int64_t) {
	defer func() {
		if v := recover(); v != nil {
			id = C.AUCSCHED_EPANIC
		}
	}()
	if err == nil && errlen > 0 {
		return C.AUCSCHED_EINVAL
	}
	n, fault := table.Open(text(settings), engine.Options{Now: now, Older: Older})
	if fault == nil {
		fault = table.Do(n, func(h *engine.Handle) error { configured(h, text(settings)); return nil })
	}
	if fault != nil {
		copyText(err, errlen, fault.Error())
		return C.int64_t(code(fault))
	}
	copyText(err, errlen, "")
	return C.int64_t(n)
}

//export aucsched_configure
func aucsched_configure(handle C.int64_t, settings *C.aucsched_text) (c C.int) {
	defer recovered(&c)
	return code(table.Do(int64(handle), func(h *engine.Handle) error {
		err := h.Configure(text(settings))
		if err == nil {
			configured(h, text(settings))
		}
		return err
	}))
}

//export aucsched_cycle
func aucsched_cycle(handle C.int64_t, in *C.aucsched_in, out *C.struct_aucsched_output) (c C.int) {
	defer recovered(&c)
	return code(table.Do(int64(handle), func(h *engine.Handle) error { return cycle(h, in, out) }))
}

//export aucsched_keep_files
func aucsched_keep_files(handle C.int64_t, path *C.aucsched_text, end C.int) (c C.int) {
	defer recovered(&c)
	return code(table.Do(int64(handle), func(h *engine.Handle) error {
		if path == nil {
			return badCall("path is NULL")
		}
		return ownOf(h).kept.keep(h, text(path), end != 0)
	}))
}

//export aucsched_last_error
func aucsched_last_error(handle C.int64_t, buf *C.char, length C.size_t) C.size_t {
	return words(handle, buf, length, table.LastError)
}

//export aucsched_close
func aucsched_close(handle C.int64_t) (c C.int) {
	defer recovered(&c)
	return code(table.Close(int64(handle), func(h *engine.Handle) {
		if b, ok := h.Foreign.(*buffers); ok {
			b.decisions.free()
			b.segments.free()
			b.victims.free()
			b.switches.free()
			b.leaves.free()
			b.shadow.Close()
			b.record.end()
		}
	}))
}

//export aucsched_handles
func aucsched_handles() C.int { return C.int(table.Len()) }

// recovered is the last resort of an export: what goes wrong beside the engine.
func recovered(c *C.int) {
	if v := recover(); v != nil {
		*c = C.AUCSCHED_EPANIC
	}
}

func text(s *C.aucsched_text) string {
	if s == nil {
		return ""
	}
	return C.GoString((*C.char)(unsafe.Pointer(s)))
}

// words copies what of says of a handle to a buffer of length bytes, and returns how long it is.
func words(handle C.int64_t, buf *C.char, length C.size_t, of func(int64) string) (n C.size_t) {
	defer func() {
		if v := recover(); v != nil {
			n = 0
		}
	}()
	s := of(int64(handle))
	copyText(buf, length, s)
	return C.size_t(len(s))
}

// copyText copies s to a buffer of n bytes, cut to fit with its NUL.
func copyText(buf *C.char, n C.size_t, s string) {
	if buf == nil || n == 0 {
		return
	}
	k := len(s)
	if C.size_t(k) > n-1 {
		k = int(n - 1)
	}
	to := unsafe.Slice((*byte)(unsafe.Pointer(buf)), k+1)
	copy(to, s[:k])
	to[k] = 0
}

// buffers are a handle's output: Go's, and its copy in C memory; and its files.
type buffers struct {
	out       engine.Output
	decisions array[engine.Decision]
	segments  array[engine.Segment]
	victims   array[uint32]
	switches  array[engine.Switch]
	leaves    array[uint32]
	tree      standing.Tree // of the topology
	shadow    shadow.Writer
	kept      kept
	record    record
	settings  string // as they were given, for the record
	last      last
}

// last is what the status says of the last cycle with jobs, and of files of any.
type last struct {
	out   C.struct_aucsched_output // without its arrays
	waits [C.AUCSCHED_WHYS]uint32
}

// note takes over what the status says of a cycle with so many jobs.
func (l *last) note(out *C.struct_aucsched_output, decisions []engine.Decision) {
	if len(decisions) == 0 {
		l.out.files, l.out.copies = out.files, out.copies
		return
	}
	*l = last{out: *out}
	for i := range decisions {
		l.waits[decisions[i].Why]++
	}
}

// ownOf are the buffers of a handle.
func ownOf(h *engine.Handle) *buffers {
	b, ok := h.Foreign.(*buffers)
	if !ok {
		b = &buffers{}
		h.Foreign = b
	}
	return b
}

// array is an array in C memory that grows.
type array[T any] struct {
	at  unsafe.Pointer
	cap int
}

// set makes the array a copy of s and returns its address, which is nil for an empty one. As with memory of
// Go's, the process ends where there is none: cgo sees to that.
func (a *array[T]) set(s []T) unsafe.Pointer {
	if len(s) == 0 {
		return nil
	}
	var zero T
	if len(s) > a.cap {
		a.free()
		a.cap = len(s) + len(s)/2
		a.at = C.malloc(C.size_t(a.cap) * C.size_t(unsafe.Sizeof(zero)))
	}
	copy(unsafe.Slice((*T)(a.at), len(s)), s)
	return a.at
}

func (a *array[T]) free() {
	C.free(a.at)
	a.at, a.cap = nil, 0
}

func cycle(h *engine.Handle, in *C.aucsched_in, out *C.struct_aucsched_output) error {
	if err := checkCall(in, out); err != nil {
		return err
	}
	*out = C.struct_aucsched_output{abi: out.abi, size: out.size}
	b := ownOf(h)
	in = b.placed(in)
	input, err := view(in)
	if err != nil {
		return err
	}
	preferences := slice[engine.Preference](unsafe.Pointer(in.preferences), uint64(in.preferences_len), "preferences", &err)
	stakes := slice[engine.Stake](unsafe.Pointer(in.stakes), uint64(in.stakes_len), "stakes", &err)
	if err != nil {
		return err
	}
	shift, err := input.Value(preferences, stakes)
	if err != nil {
		return err
	}
	input.TakeLeaves()
	if err := h.Cycle(&input, &b.out); err != nil {
		return err
	}
	h.Note(b.out.Fault)
	b.hand(out)
	out.shift = C.uint32_t(shift)
	b.last.note(out, b.out.Decisions)
	if in.jobs_len == 0 {
		return nil
	}
	if err := b.record.add(h.Settings().Record, b.settings, in, out); err != nil {
		h.Note(err)
		out.unrecorded = 1
	}
	return nil
}

// placed is the input with the switches that the handle was told of, unless it has its own.
func (b *buffers) placed(in *C.aucsched_in) *C.aucsched_in {
	if in.switches_len > 0 || b.tree.Other || len(b.tree.Parents) == 0 || len(b.tree.Leaves) != int(in.nodes_len) {
		return in
	}
	with := *in
	with.switches, with.switches_len = (*C.struct_aucsched_switch)(b.switches.at), C.uint32_t(len(b.tree.Parents))
	with.leaves, with.leaves_len = (*C.uint32_t)(b.leaves.at), in.nodes_len
	return &with
}

func checkCall(in *C.aucsched_in, out *C.struct_aucsched_output) error {
	switch {
	case in == nil:
		return badCall("input is NULL")
	case out == nil:
		return badCall("output is NULL")
	case in.abi != C.AUCSCHED_ABI || out.abi != C.AUCSCHED_ABI:
		return badCall("abi %d of the input, %d of the output: the library has %d", in.abi, out.abi, C.AUCSCHED_ABI)
	case uintptr(in.size) != unsafe.Sizeof(*in):
		return badCall("input has %d bytes instead of %d", in.size, unsafe.Sizeof(*in))
	case uintptr(out.size) != unsafe.Sizeof(*out):
		return badCall("output has %d bytes instead of %d", out.size, unsafe.Sizeof(*out))
	case in.reserved != 0:
		return badCall("reserved of the input is %d: must be 0", in.reserved)
	}
	return nil
}

// view is the input with slices of the caller's memory.
func view(in *C.aucsched_in) (engine.Input, error) {
	var fault error
	v := engine.Input{
		Now: int64(in.now), Seed: uint64(in.seed),
		Deadline: time.Duration(in.deadline_us) * time.Microsecond,
		Nodes:    slice[engine.Node](unsafe.Pointer(in.nodes), uint64(in.nodes_len), "nodes", &fault),
		Running:  slice[engine.Running](unsafe.Pointer(in.running), uint64(in.running_len), "running", &fault),
		Segments: slice[engine.Segment](unsafe.Pointer(in.running_segments), uint64(in.running_segments_len), "running_segments", &fault),
		Jobs:     slice[engine.Job](unsafe.Pointer(in.jobs), uint64(in.jobs_len), "jobs", &fault),
		Masks:    slice[uint64](unsafe.Pointer(in.masks), uint64(in.masks_len)*uint64(in.mask_words), "masks", &fault),

		Alternatives: slice[engine.Alternative](unsafe.Pointer(in.alternatives), uint64(in.alternatives_len), "alternatives", &fault),

		Stores:       slice[engine.Store](unsafe.Pointer(in.stores), uint64(in.stores_len), "stores", &fault),
		JobReads:     slice[engine.Read](unsafe.Pointer(in.job_reads), uint64(in.job_reads_len), "job_reads", &fault),
		RunningReads: slice[engine.Read](unsafe.Pointer(in.running_reads), uint64(in.running_reads_len), "running_reads", &fault),

		Resources: int(in.resources_len),
		Amounts:   slice[engine.Amount](unsafe.Pointer(in.amounts), uint64(in.resources_len)*uint64(in.nodes_len), "amounts", &fault),
		JobUses:   slice[engine.Use](unsafe.Pointer(in.job_uses), uint64(in.job_uses_len), "job_uses", &fault),
		AlternativeUses: slice[engine.Use](unsafe.Pointer(in.alternative_uses), uint64(in.alternative_uses_len),
			"alternative_uses", &fault),
		RunningUses: slice[engine.Use](unsafe.Pointer(in.running_uses), uint64(in.running_uses_len), "running_uses", &fault),

		Quotas:     slice[uint64](unsafe.Pointer(in.quotas), uint64(in.quotas_len), "quotas", &fault),
		JobCharges: slice[engine.Charge](unsafe.Pointer(in.job_charges), uint64(in.job_charges_len), "job_charges", &fault),
		AlternativeCharges: slice[engine.Charge](unsafe.Pointer(in.alternative_charges), uint64(in.alternative_charges_len),
			"alternative_charges", &fault),
		RunningCharges: slice[engine.Charge](unsafe.Pointer(in.running_charges), uint64(in.running_charges_len),
			"running_charges", &fault),

		Switches: slice[engine.Switch](unsafe.Pointer(in.switches), uint64(in.switches_len), "switches", &fault),
		Leaves:   slice[uint32](unsafe.Pointer(in.leaves), uint64(in.leaves_len), "leaves", &fault),

		ShareSizes: slice[uint32](unsafe.Pointer(in.share_sizes), uint64(in.share_sizes_len), "share_sizes", &fault),
		SharedGPUs: slice[engine.SharedGPU](unsafe.Pointer(in.shared_gpus), uint64(in.shared_gpus_len), "shared_gpus", &fault),

		MaskCount: int(in.masks_len), MaskWords: int(in.mask_words),
	}
	return v, fault
}

// slice is the array of n elements at p; fault says what is wrong with it.
func slice[T any](p unsafe.Pointer, n uint64, name string, fault *error) []T {
	var zero T
	switch {
	case n == 0 || *fault != nil:
		return nil
	case p == nil:
		*fault = badCall("%s is NULL, but has %d elements", name, n)
		return nil
	case uintptr(p)%unsafe.Alignof(zero) != 0:
		*fault = badCall("%s is not aligned to %d bytes", name, unsafe.Alignof(zero))
		return nil
	case n > math.MaxInt64/8/uint64(unsafe.Sizeof(zero)):
		*fault = badCall("%s has %d elements", name, n)
		return nil
	}
	return unsafe.Slice((*T)(p), int(n))
}

// hand puts the outcome into out.
func (b *buffers) hand(out *C.struct_aucsched_output) {
	o := &b.out
	out.victims_len, out.victims = C.uint32_t(len(o.Victims)), (*C.uint32_t)(b.victims.set(o.Victims))
	out.preempted = C.uint32_t(o.Preempted)
	out.decisions_len, out.decisions = C.uint32_t(len(o.Decisions)), (*C.struct_aucsched_decision)(b.decisions.set(o.Decisions))
	out.segments_len, out.segments = C.uint32_t(len(o.Segments)), (*C.struct_aucsched_segment)(b.segments.set(o.Segments))
	out.objective, out.bound = C.double(o.Objective), C.double(o.Bound)
	out.starts, out.window, out.bids = C.uint32_t(o.Starts), C.uint32_t(o.Window), C.uint32_t(o.Bids)
	out.cycle_us = C.uint32_t(min(o.Elapsed.Microseconds(), math.MaxUint32))
	out.optimal, out.late = flag(o.Optimal), flag(o.Late)
	out.files, out.copies, out.file_changes = C.uint32_t(o.Files), C.uint32_t(o.Copies), C.uint64_t(o.FileChanges)
	out.timed_out, out.faults, out.left_out = C.uint32_t(o.TimedOut),
		C.uint32_t(min(uint64(o.Faults), math.MaxUint32)), C.uint32_t(o.LeftOut)
	if out.first_fault = C.AUCSCHED_NO_JOB; o.FirstFault >= 0 {
		out.first_fault = C.uint32_t(o.FirstFault)
	}
}

func flag(b bool) C.uint8_t {
	if b {
		return 1
	}
	return 0
}

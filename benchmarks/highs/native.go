// SPDX-License-Identifier: BSD-3-Clause

//go:build highs

package highs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime/cgo"
	"unsafe"

	lanl "github.com/lanl/highs"
)

// #cgo pkg-config: highs
// #include "native.h"
import "C"

const built = true

// run is a solve under way: what HiGHS's callbacks turn into messages.
type run struct {
	request
	scaling
	rows  int
	emit  func(frame) error
	err   error // of emit, which ends the solve
	bound int64
	end   endFrame
}

// solve solves q and emits solutions and bounds as they come, and the verdict.
// It calls HiGHS, for which the process has to be expendable.
func solve(q request, emit func(frame) error) error {
	s := newScaling(q.Model)
	p := newProgram(q.Model, s)
	if len(p.lower) == 0 {
		return errors.New("a model without a row that can bind is none for HiGHS")
	}
	r := &run{request: q, scaling: s, rows: len(p.lower), emit: emit, bound: math.MaxInt64}
	model, err := load(p, q)
	if err != nil {
		return err
	}
	highs, err := handleOf(model)
	if err != nil {
		return err
	}
	self := cgo.NewHandle(r)
	defer self.Delete()
	if C.aucsched_watch(highs, C.uintptr_t(self)) != 0 {
		return errors.New("HiGHS refuses callbacks")
	}
	r.giveStart(highs)
	solution, err := model.Solve()
	return r.finish(highs, solution, err)
}

// load passes the program to HiGHS with the options that the answer depends on.
func load(p *program, q request) (*lanl.RawModel, error) {
	m := lanl.NewRawModel()
	columns := len(p.cost)
	zeros, ones, kinds := make([]float64, columns), make([]float64, columns), make([]lanl.VariableType, columns)
	for i := range ones {
		ones[i], kinds[i] = 1, lanl.IntegerType
	}
	for _, err := range []error{
		m.SetBoolOption("output_flag", false), // standard output belongs to the messages
		m.SetIntOption("threads", 1),
		m.SetIntOption("random_seed", int(q.Seed%math.MaxInt32)),
		m.SetFloat64Option("mip_rel_gap", 0),
		m.SetFloat64Option("mip_abs_gap", 0),
		m.AddColumnBounds(zeros, ones),
		m.SetColumnCosts(p.cost),
		m.SetIntegrality(kinds),
		m.AddCompSparseRows(p.lower, p.start, p.index, p.value, p.upper),
	} {
		if status := (lanl.CallStatus{}); errors.As(err, &status) && status.IsWarning() {
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	if q.Limit > 0 {
		if err := m.SetFloat64Option("time_limit", q.Limit.Seconds()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// handleOf is the C interface's handle of a model, which lanl/highs keeps to itself.
func handleOf(m *lanl.RawModel) (unsafe.Pointer, error) {
	field := reflect.ValueOf(m).Elem().FieldByName("obj")
	if !field.IsValid() || field.Kind() != reflect.UnsafePointer || field.UnsafePointer() == nil {
		return nil, errors.New("this version of github.com/lanl/highs has no handle where v1.0.0 has one")
	}
	return field.UnsafePointer(), nil
}

// giveStart hands over the choice to begin with. A refusal costs time, and nothing else.
func (r *run) giveStart(highs unsafe.Pointer) {
	if r.Start == nil {
		return
	}
	x := make([]C.double, len(r.Model.Value))
	for _, i := range r.Start {
		x[i] = 1
	}
	C.aucsched_start(highs, &x[0])
}

//export aucschedImproved
func aucschedImproved(self C.uintptr_t, x *C.double) C.int {
	r := cgo.Handle(self).Value().(*run)
	return r.solution(unsafe.Slice((*float64)(unsafe.Pointer(x)), len(r.Model.Value)))
}

//export aucschedProgress
func aucschedProgress(self C.uintptr_t, bound C.double, nodes, iterations C.int64_t) C.int {
	r := cgo.Handle(self).Value().(*run)
	return r.progress(float64(bound), int64(nodes), int64(iterations))
}

// solution sends an improving solution; not 0 asks HiGHS to stop.
func (r *run) solution(x []float64) C.int {
	f := frame{kind: kindSolution}
	for i, v := range x {
		if v > 0.5 {
			f.chosen = append(f.chosen, int32(i))
		}
	}
	return r.send(f)
}

// progress sends HiGHS's lower bound on the cost if it helps, and holds the work against its limit.
func (r *run) progress(cost float64, nodes, iterations int64) C.int {
	r.end.Nodes = nodes
	r.end.Work = iterations * int64(r.rows)
	if worth, ok := r.scaling.bound(-cost); ok && worth < r.bound {
		r.bound = worth
		if stop := r.send(frame{kind: kindBound, bound: worth}); stop != 0 {
			return stop
		}
	}
	if r.Work > 0 && r.end.Work >= r.Work {
		return 1
	}
	return 0
}

func (r *run) send(f frame) C.int {
	if r.err = r.emit(f); r.err != nil {
		return 1
	}
	return 0
}

// finish sends what is left to say when HiGHS has returned. lanl/highs makes an
// error without a solution of every limit that struck.
func (r *run) finish(highs unsafe.Pointer, solution *lanl.RawSolution, err error) error {
	var info C.aucsched_info
	C.aucsched_get(highs, &info)
	r.end.Verdict = verdictStopped
	switch status := (lanl.CallStatus{}); {
	case errors.As(err, &status) && status.IsWarning():
	case err != nil:
		return fmt.Errorf("HiGHS failed: %w", err)
	case solution.Status == lanl.Optimal:
		r.solution(solution.ColumnPrimal)
		r.end.Verdict = verdictDone
	case solution.Status == lanl.Infeasible:
		r.end.Verdict = verdictInfeasible
	}
	if r.end.Verdict != verdictInfeasible {
		r.progress(float64(info.bound), max(r.end.Nodes, int64(info.nodes)), r.end.Work/int64(r.rows))
	}
	if r.err != nil {
		return r.err
	}
	return r.emit(frame{kind: kindEnd, end: r.end})
}

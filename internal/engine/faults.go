// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
)

// A flaw is what is wrong with an element of an input. It has no words yet: there may be as many as
// jobs, and one is told. Its array is "" if nothing is wrong.
type flaw struct {
	array  string // as in aucsched.h
	index  int
	field  string
	value  uint64
	signed bool   // value is an int64
	why    string // with a verb for each of the numbers
	with   [maxWith]uint64
	n      int // of these

	request *bids.FieldError // what is wrong with the request as a whole, in place of the above
}

// maxWith is how many numbers the words of a flaw may have.
const maxWith = 4

// flawed is a flaw of element i: with are the numbers of why.
func flawed[T ~uint8 | ~uint16 | ~uint32 | ~uint64](array string, i int, field string, value T, why string, with ...uint64) flaw {
	f := flaw{array: array, index: i, field: field, value: uint64(value), why: why}
	f.n = copy(f.with[:], with)
	return f
}

// error puts it into words.
func (f *flaw) error() *InputError {
	if r := f.request; r != nil {
		return &InputError{f.array, f.index, r.Field, r.Value, r.Why}
	}
	var value any = f.value
	if f.signed {
		value = int64(f.value)
	}
	var with []any
	for _, n := range f.with[:f.n] {
		with = append(with, n)
	}
	return &InputError{f.array, f.index, f.field, value, fmt.Sprintf(f.why, with...)}
}

// faults are what is wrong with single elements of an input. They cost their job its part in the
// cycle, or the element itself; the cycle goes on, so that one user's odd job does not stop it for all.
type faults struct {
	count int
	// an [*InputError], of the first job at fault, or of the first other element if
	// there is no such job
	first error
	job   int // of the queue: the one that first is about, or -1
}

func (f *faults) reset() { *f = faults{job: -1} }

// add counts a fault of job j of the queue, -1 if it is of none.
func (f *faults) add(fault flaw, j int) {
	f.count++
	if f.first == nil || (f.job < 0 && j >= 0) {
		f.first, f.job = fault.error(), j
	}
}

// jobOr is the index of one of so many jobs, or -1 if there is no such job.
func jobOr(j uint32, jobs int) int {
	if uint64(j) >= uint64(jobs) {
		return -1
	}
	return int(j)
}

// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
)

// Way is one of the job's requests, numbered as Decision.Alternative is; false if
// there is none of that number.
func (j *Job) Way(k int) (r bids.Request, ok bool) {
	switch {
	case k == 0:
		return j.Request, true
	case k < 0 || k > len(j.Alternatives):
		return bids.Request{}, false
	}
	r = j.Alternatives[k-1]
	if r.Eligible == nil {
		r.Eligible = j.Eligible
	}
	return r, true
}

// Validate reports the first fault of the job's time limit and requests as a [*bids.FieldError];
// those of an alternative are named alternatives[1].cores, counted from 0. Its priority is for
// [Snapshot.Validate].
func (j *Job) Validate() error {
	if f := j.limitFault(); f != nil {
		return f
	}
	if err := place.Validate(&j.Request); err != nil {
		return err
	}
	if n := len(j.Alternatives); n > MaxAlternatives {
		return &bids.FieldError{Field: "alternatives", Value: n, Why: fmt.Sprintf("must be at most %d", MaxAlternatives)}
	}
	for k := range j.Alternatives {
		if err := place.Validate(&j.Alternatives[k]); err != nil {
			var f *bids.FieldError
			if errors.As(err, &f) {
				return &bids.FieldError{Field: fmt.Sprintf("alternatives[%d].%s", k, f.Field), Value: f.Value, Why: f.Why}
			}
			return fmt.Errorf("alternatives[%d]: %w", k, err)
		}
	}
	return nil
}

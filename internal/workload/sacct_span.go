// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"errors"
	"io"
	"strings"
)

// SacctSpan reads what "sacct --parsable2" prints for its times alone: the first submission and the
// last time that is known, in seconds since 1970, and how many lines have a job that began.
func SacctSpan(r io.Reader, name string) (first, last int64, jobs int, err error) {
	s := &sacctReader{Lines: NewLines(r, name), Builder: NewBuilder(name)}
	err = s.readAll(func(string) error {
		if strings.Contains(s.Get("jobid"), ".") {
			return nil
		}
		submit, submitted := s.instant("submit")
		start, started := s.instant("start")
		end, ended := s.instant("end")
		if s.Fault != nil {
			return s.Fault
		}
		if submitted && (first == 0 || submit < first) {
			first = submit
		}
		last = max(last, submit)
		if started {
			jobs++
			last = max(last, start)
		}
		if ended {
			last = max(last, end)
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, 0, 0, err
	case jobs == 0 && s.first != nil:
		return 0, 0, 0, s.first
	case jobs == 0:
		return 0, 0, 0, &InputError{File: name, Err: errors.New("no job that began")}
	}
	return first, last, jobs, nil
}

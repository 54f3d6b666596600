// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"fmt"
	"io"
	"strings"
)

// SacctSpan reads what "sacct --parsable2" prints for its times alone: the first submission and the
// last time that is known, in seconds since 1970, and how many lines have a job that began.
func SacctSpan(r io.Reader, name string) (first, last int64, jobs int, err error) {
	s := &sacctReader{lines: newLines(r, name), builder: newBuilder(name)}
	for s.next() {
		text := string(s.text())
		switch {
		case text == "":
			continue
		case s.column == nil:
			if err := s.readNames(text); err != nil {
				return 0, 0, 0, s.locate(err)
			}
			continue
		}
		if err := s.split(text); err != nil {
			return 0, 0, 0, s.locate(err)
		}
		if strings.Contains(s.get("jobid"), ".") {
			continue
		}
		submit, submitted := s.instant("submit")
		start, started := s.instant("start")
		end, ended := s.instant("end")
		if s.fault != nil {
			return 0, 0, 0, s.locate(s.fault)
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
	}
	if s.lines.err == nil && jobs == 0 {
		return 0, 0, 0, &InputError{File: name, Err: fmt.Errorf("no job that began")}
	}
	return first, last, jobs, s.lines.err
}

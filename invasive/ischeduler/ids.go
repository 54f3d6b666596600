// SPDX-License-Identifier: BSD-3-Clause

package ischeduler

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/invasive"
)

// idBlock is how many IDs are set aside with one write.
const idBlock = 1000

// ids gives every ID once, also over crashes: the file names the first that was never set aside.
type ids struct {
	path        string
	next, bound invasive.JobID
}

// openIDs goes on after whatever may have been given, and after the last job of the journal.
func openIDs(path string, last invasive.JobID) (*ids, error) {
	text, err := os.ReadFile(path)
	first := uint64(1)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if first, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 63); err != nil || first == 0 {
			return nil, fmt.Errorf("%s:1: %q is no ID", path, text)
		}
	}
	next := max(invasive.JobID(first), last+1)
	return &ids{path, next, next}, nil
}

// take returns an ID that was never given.
func (s *ids) take() (invasive.JobID, error) {
	if s.next == s.bound {
		if err := durable.Write(s.path, fmt.Appendln(nil, s.bound+idBlock)); err != nil {
			return 0, err
		}
		s.bound += idBlock
	}
	s.next++
	return s.next - 1, nil
}

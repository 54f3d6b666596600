// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aucsched/aucsched/core"
)

// Window is a machine and its queue.
type Window struct {
	// Names has the name of each node.
	Names []string
	// Snapshot is what a policy decides on; Now is 0.
	Snapshot core.Snapshot
}

// Read reads a window, as that of a [core.Cluster] at its time; name is the file's name in errors.
func Read(r io.Reader, name string) (*Window, error) {
	stopped := func() time.Time { return time.Unix(0, 0) }
	c, err := core.ReadWindow(r, name, core.ClusterOptions{Clock: stopped})
	if err != nil {
		return nil, err
	}
	s, names, err := c.Snapshot()
	if len(names) == 0 {
		err = errors.New("the machine has no node")
	}
	if err != nil {
		return nil, fmt.Errorf("%s:1: nodes: %w", name, err)
	}
	return &Window{names, *s}, nil
}

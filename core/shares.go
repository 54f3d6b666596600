// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// checkShare reports what is wrong with a request for a share of a GPU: it is for one node, and for
// no GPUs beside.
func checkShare(t *nodeset.Table, s *place.Spec) error {
	for _, u := range s.More() {
		r, _ := t.Shares()
		switch {
		case u.Row != r:
		case u.PerNode > 0 && s.Nodes.Max != 1:
			return fmt.Errorf("%s: a share of a GPU is on one node: ask for no other number of nodes", t.ResourceName(r))
		case u.PerNode > 0 && s.GPUs.PerNode.Max > 0:
			return fmt.Errorf("%s: a job with a share of a GPU asks for no GPUs beside", t.ResourceName(r))
		case u.PerCore != 0 || u.PerGPU != 0:
			return fmt.Errorf("resource %s: a share of a GPU is by node, not by core or by GPU", t.ResourceName(r))
		}
	}
	return nil
}

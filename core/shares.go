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
	uses := s.More()
	if len(uses) == 0 {
		return nil
	}
	if t.ShareOf(uses) == 0 {
		return t.CheckShares(uses)
	}
	r, _ := t.Shares()
	switch {
	case s.Nodes.Max != 1:
		return fmt.Errorf("%s: a share of a GPU is on one node: ask for no other number of nodes", t.ResourceName(r))
	case s.GPUs.PerNode.Max > 0:
		return fmt.Errorf("%s: a job with a share of a GPU asks for no GPUs beside", t.ResourceName(r))
	}
	return t.CheckShares(uses)
}

// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"fmt"
	"slices"
	"strings"
)

// Names of the policies that are told apart below.
const (
	random     = "random"
	clustered  = "gpuclustering"
	fgd        = "fgd"
	usualShare = 0.95 // of the pods are typical (paper, section 6.1)
)

// Auction is the policy that Run knows beside [Policies]: the product's own auction, of which each
// batch is the queue of a cycle.
const Auction = "auction2"

// PublishedName is what the paper's artifact calls a policy, "" for Auction.
func PublishedName(policy string) string {
	switch policy {
	case random:
		return "01-Random"
	case "dotprod":
		return "02-DotProd"
	case clustered:
		return "03-GpuClustering"
	case "gpupacking":
		return "04-GpuPacking"
	case "bestfit":
		return "05-BestFit"
	case fgd:
		return "06-FGD"
	}
	return ""
}

// Policies are the names of the paper's six.
func Policies() []string {
	return []string{random, "dotprod", clustered, "gpupacking", "bestfit", fgd}
}

// scorerOf makes a policy's scorer; random and the auction have none.
func scorerOf(policy string, c *Cluster, requests []Request) (scorer, error) {
	switch policy {
	case random, Auction:
		return stateless(nil), nil
	case "dotprod":
		return stateless(dotProduct), nil
	case clustered:
		return &clustering{here: make([][MaxGPUs + 1]int, len(c.Nodes))}, nil
	case "gpupacking":
		return stateless(gpuPacking), nil
	case "bestfit":
		return stateless(bestFit), nil
	case fgd:
		mix := NewMix(requests, usualShare)
		return &gradient{mix: mix, before: make([]float64, len(c.Nodes))}, nil
	}
	return nil, fmt.Errorf("policy %q: must be one of %s", policy, strings.Join(Policies(), ", "))
}

// distinct numbers the requests that differ, and says which one each pod has.
func distinct(pods []Pod) (kinds []Request, of []int) {
	known := map[Request]int{}
	for i := range pods {
		k, ok := known[pods[i].Request]
		if !ok {
			k = len(kinds)
			known[pods[i].Request] = k
			kinds = append(kinds, pods[i].Request)
		}
		of = append(of, k)
	}
	return slices.Clip(kinds), of
}

// SPDX-License-Identifier: BSD-3-Clause

package pods

import "math/rand/v2"

// Arrivals is the order in which pods come, as indices into pods, and the rank of each node: of
// equal nodes the one of lowest rank is taken.
//
// All pods come once, shuffled. Then pods are drawn again, each as likely as any, until the next
// one would ask for more than inflate times the cluster's GPUs. If the list asks for more than
// that, random pods are left out. This is the paper's workload inflation, as its simulator has it
// (hkust-adsl/kubernetes-scheduler-simulator, pkg/simulator): whether a pod still comes is told by
// one of its GPUs, not by all of them.
func Arrivals(c *Cluster, pods []Pod, inflate float64, seed uint64) (order, ranks []int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	order = rng.Perm(len(pods))
	asked, target := 0, inflate*float64(c.Thousandths())
	for i := range pods {
		asked += pods[i].Thousandths()
	}
	if float64(asked) > target {
		for float64(asked) > target {
			i := rng.IntN(len(order))
			asked -= pods[order[i]].Thousandths()
			order = append(order[:i], order[i+1:]...)
		}
	} else {
		for {
			i := rng.IntN(len(pods))
			if float64(asked+int(pods[i].Share)) > target {
				break
			}
			asked += pods[i].Thousandths()
			order = append(order, i)
		}
	}
	return order, rng.Perm(len(c.Nodes))
}

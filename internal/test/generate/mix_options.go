// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/workload"
)

// settle fills in the defaults, checks the options and finds workload and version.
func (o *MixOptions) settle() (m *mixWorkload, contiguous float64, err error) {
	all, err := allCores(o.Nodes)
	if err != nil {
		return nil, 0, err
	}
	o.setDefaults(all)
	if err := checkTimes(o.MinDuration, o.MaxDuration, o.LimitFactor, o.Arrivals); err != nil {
		return nil, 0, err
	}
	if least := leastCores(o.Nodes); o.MaxCores < least || o.MaxCores > all {
		return nil, 0, fmt.Errorf("most cores of a job: %d: must be in %d..%d, a node's and all", o.MaxCores, least, all)
	}
	if o.Runtime < 1 || o.Runtime > 1<<31 {
		return nil, 0, fmt.Errorf("runtime: %d s: must be in 1..%d", o.Runtime, int64(1<<31))
	}
	if o.jobs() > workload.MaxJobs {
		return nil, 0, fmt.Errorf("runtime: %d s: more than %d jobs", o.Runtime, workload.MaxJobs)
	}
	for i := range mixWorkloads {
		for v := range mixVersions {
			if m := &mixWorkloads[i]; mixName(*m, v) == o.Variant {
				return m, mixVersions[v], o.checkKinds(m)
			}
		}
	}
	return nil, 0, fmt.Errorf("variant %.60q: must be one of %v", o.Variant, mixVariants())
}

func (o *MixOptions) setDefaults(all int) {
	least, arrivals := leastCores(o.Nodes), DefaultMixArrivals
	setDefault(&o.Runtime, DefaultMixRuntime)
	setDefault(&o.MaxCores, max(int(DefaultMixMaxShare*float64(all)), least))
	if len(o.CoresPerNode) == 0 {
		o.CoresPerNode = []int{max(least/2, 1), least}
	}
	if len(o.CoresPerGPU) == 0 {
		o.CoresPerGPU = []int{1, 2}
	}
	setDefault(&o.MinDuration, DefaultMinDuration)
	setDefault(&o.MaxDuration, DefaultMaxDuration)
	setDefault(&o.LimitFactor, DefaultLimitFactor)
	setDefault(&o.Arrivals, &arrivals)
}

// checkKinds makes sure that the machine has nodes for every kind of a workload's jobs.
func (o *MixOptions) checkKinds(m *mixWorkload) error {
	rooms := o.rooms()
	for i, k := range mixKinds {
		if !k.nodes || m.shares[i] == 0 {
			continue
		}
		for _, cores := range o.perNode(k) {
			if cores < 1 {
				return fmt.Errorf("cores on a node: %d: must be at least 1", cores)
			}
			if rooms[[2]int{cores, k.gpus}] == 0 {
				return fmt.Errorf("no node has the %d cores and %d GPUs that jobs of workload %s need", cores, k.gpus, m.name)
			}
		}
	}
	return nil
}

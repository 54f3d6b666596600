// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/aucsched/aucsched/locality"
)

// dryRun is what --dry-run has checked: all input, but not that outputs can be written.
type dryRun struct {
	Policies []string `json:"policies"`
	Nodes    int      `json:"nodes"`
	Cores    int      `json:"cores"`
	GPUs     int      `json:"gpus"`
	Workload string   `json:"workload"`
	Jobs     int      `json:"jobs"`
}

// checked sums up the input, of which the machine is that of the configuration.
func (f *simulateFlags) checked(jobs int, name string) *dryRun {
	d := &dryRun{Policies: strings.Split(f.policy.Policy, ","), Workload: name, Jobs: jobs}
	for _, c := range f.replay.Config.Nodes {
		d.Nodes++
		d.Cores += int(c.Cores)
		d.GPUs += int(c.GPUs)
	}
	return d
}

// count takes the machine of a policy of data locality.
func (d *dryRun) count(nodes []locality.Node) {
	d.Nodes, d.Cores, d.GPUs = len(nodes), 0, 0
	for _, n := range nodes {
		d.Cores += n.Cores
	}
}

func (d *dryRun) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(d)
	}
	machine := fmt.Sprintf("%d nodes with %d cores and %d GPUs", d.Nodes, d.Cores, d.GPUs)
	_, err := fmt.Fprintf(out, "the input is valid: %d jobs of %s, %s, under %s; nothing was run\n",
		d.Jobs, d.Workload, machine, strings.Join(d.Policies, ", "))
	return err
}

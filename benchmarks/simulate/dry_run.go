// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/aucsched/aucsched/internal/cli"
)

// DryRun is what --dry-run has checked: all input, but not whether jobs fit the machine, nor that
// outputs can be written.
type DryRun struct {
	Policies []string `json:"policies"`
	Nodes    int      `json:"nodes"`
	Cores    int      `json:"cores"`
	GPUs     int      `json:"gpus"`
	Workload string   `json:"workload"`
	Jobs     int      `json:"jobs"`
}

// Checked sums up the input, of which the machine is that of the configuration.
func (f *Flags) Checked(jobs int, name string) *DryRun {
	d := &DryRun{Policies: f.labels(), Workload: name, Jobs: jobs}
	for _, c := range f.Replay.Config.Nodes {
		d.Nodes++
		d.Cores += int(c.Cores)
		d.GPUs += int(c.GPUs)
	}
	return d
}

// Print prints it as JSON or in a line.
func (d *DryRun) Print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(d)
	}
	_, err := fmt.Fprintf(out, "read without a fault: %s of %s; %s with %s and %s; policies %s; not tried: whether jobs fit, and output\n",
		cli.Count(d.Jobs, "job"), d.Workload, cli.Count(d.Nodes, "node"), cli.Count(d.Cores, "core"), cli.Count(d.GPUs, "GPU"),
		strings.Join(d.Policies, ", "))
	return err
}

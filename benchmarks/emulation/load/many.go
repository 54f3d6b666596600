// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
)

// submitMany submits the jobs from number first on by some vsubmits, each of which has every so
// manieth.
func (o *Options) submitMany(ctx context.Context, c *slurmtest.Cluster, jobs []workload.Job, first int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var errs [submitters]error
	var all sync.WaitGroup
	for k := range submitters {
		all.Go(func() {
			if errs[k] = o.vsubmit(ctx, c, jobs, first+k); errs[k] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	return errors.Join(errs[:]...)
}

func (o *Options) vsubmit(ctx context.Context, c *slurmtest.Cluster, jobs []workload.Job, first int) error {
	cmd := exec.CommandContext(ctx, filepath.Join(o.Tools, "vsubmit"), "-f", filepath.Join(c.Dir, "slurm.conf"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	wrote := writeJobs(in, jobs, first)
	wrote = errors.Join(wrote, in.Close())
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %.300s", err, errs.String())
	}
	return wrote
}

// writeJobs writes every so manieth job from number first on, as vsubmit reads them.
func writeJobs(out io.Writer, jobs []workload.Job, first int) error {
	w := bufio.NewWriter(out)
	for i := first; i < len(jobs); i += submitters {
		j := &jobs[i]
		if j.Contiguous || j.MaxGPUs > j.MinGPUs {
			return fmt.Errorf("job %d: vsubmit submits neither contiguous jobs nor ranges of GPUs", i)
		}
		fmt.Fprintf(w, "%d %d %d %d %d %d %d %d %d\n", i, firstPriority-i, (j.TimeLimit+59)/60, j.Cores,
			max(j.MinNodes, 1), j.MaxNodes, j.TasksPerNode, j.MinGPUs, min(j.Duration, j.TimeLimit))
	}
	return w.Flush()
}

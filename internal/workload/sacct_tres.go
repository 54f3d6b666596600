// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aucsched/aucsched/internal/slurm/conf"
)

// tres is what a list of trackable resources says of a job: totals, 0 where it
// says nothing. memory is in MiB. kind is the type of all the GPUs, empty if there are several or
// some without.
type tres struct {
	cpus, nodes, gpus, memory int64
	kind                      string
}

// tres is the value of a field such as "cpu=8,gres/gpu=4,mem=32G,node=2".
func (s *sacctReader) tres(name string) tres {
	t, err := parseTRES(s.Get(name))
	if err != nil {
		s.Bad(name, err)
	}
	return t
}

func parseTRES(text string) (tres, error) {
	var t tres
	var typed int64 // GPUs by type, which an untyped total includes
	kinds := 0
	if text == "" {
		return t, nil
	}
	for _, item := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(item, "=")
		if !ok {
			return tres{}, fmt.Errorf("%s is not NAME=COUNT", Quote(item))
		}
		to, parse := (*int64)(nil), ParseCount
		switch {
		case key == "cpu":
			to = &t.cpus
		case key == "node":
			to = &t.nodes
		case key == "mem":
			to, parse = &t.memory, parseMemory
		case key == "gres/gpu":
			to = &t.gpus
		case strings.HasPrefix(key, "gres/gpu:"):
			to, t.kind = &typed, strings.TrimPrefix(key, "gres/gpu:")
			kinds++
		default:
			continue
		}
		n, err := parse(value)
		if err != nil {
			return tres{}, fmt.Errorf("%s: %w", Quote(item), err)
		}
		*to += n
	}
	if t.gpus == 0 {
		t.gpus = typed
	}
	if kinds != 1 || typed != t.gpus {
		t.kind = ""
	}
	return t, nil
}

// gpuPlugin stands for gpu in AllocGRES of old versions: gres_build_id("gpu") of Slurm's gres.c.
const gpuPlugin = "7696487"

// parseGRES gives the number of GPUs in a list of generic resources as users and
// slurm.conf write it: gpu, gpu:2, gpu:a100:4(S:0-1), shard:8, also gres:gpu:2.
// Other resources count for nothing.
func parseGRES(text string) (int64, error) {
	var total int64
	for _, item := range strings.Split(conf.WithoutSockets(text), ",") {
		item = strings.TrimPrefix(strings.TrimPrefix(item, "gres:"), "gres/")
		parts := strings.Split(item, ":")
		if parts[0] != "gpu" && parts[0] != gpuPlugin {
			continue
		}
		n := int64(1)
		if len(parts) > 1 {
			var err error
			n, err = ParseCount(parts[len(parts)-1])
			switch {
			case errors.Is(err, ErrNotNumber) && len(parts) == 2:
				n = 1 // gpu:a100
			case err != nil:
				return 0, fmt.Errorf("%s: %w", Quote(item), err)
			}
		}
		total += n
	}
	return total, nil
}

// SPDX-License-Identifier: BSD-3-Clause

package schemas

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

// What an embedder's cluster writes of itself is a window, whatever it has been through.
func TestClusterWritesWindows(t *testing.T) {
	windows := compiled(t, "window")
	clock := func() time.Time { return time.Unix(1_700_000_000, 0) }
	rapid.Check(t, func(t *rapid.T) {
		number := func(least, most int, name string) int { return rapid.IntRange(least, most).Draw(t, name) }
		c, err := core.NewCluster(core.ClusterOptions{Clock: clock})
		require.NoError(t, err)
		for n := range number(1, 6, "nodes") {
			capacity := nodeset.Capacity{Cores: uint16(number(1, 8, "cores")), GPUs: uint8(number(0, 2, "gpus"))}
			require.NoError(t, c.SetNode(core.Node{Name: fmt.Sprint("n", n), Capacity: capacity, Down: number(0, 3, "up") == 0}))
		}
		write := func() {
			var b bytes.Buffer
			require.NoError(t, c.WriteWindow(&b))
			require.NoError(t, judge(windows, b.Bytes()), "%s", b.String())
			_, err := window.Read(&b, "w.json")
			require.NoError(t, err)
		}
		for j := range number(0, 6, "jobs") {
			job := core.JobSpec{ID: fmt.Sprint("j", j), Priority: 1, TimeLimit: time.Hour}
			job.Cores, job.MinGPUs = number(1, 9, "asks"), number(0, 2, "asks for gpus")
			if number(0, 1, "alternative") == 1 {
				job.Alternatives = []core.Way{{Request: bids.Request{Cores: 1}}}
			}
			require.NoError(t, c.Submit(job))
		}
		write()
		_, err = c.Decide(context.Background())
		require.NoError(t, err)
		write()
	})
}

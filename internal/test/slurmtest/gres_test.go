// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Generic resources are counted on each node, those of a type too, and so are GPUs of several
// types: jobs for which there is enough start at once, and one for which there is not when others
// have ended.
func TestGenericResources(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: []Group{
			{Nodes: 2, Cores: 16, GPUTypes: []GPUType{{"a", 2}, {"b", 3}}, Gres: []Gres{
				{Name: "nic", Count: 4}, {Name: "fpga", Type: "x", Count: 2}, {Name: "fpga", Type: "y", Count: 2},
			}},
		}})
		w := watch(t, c)
		asked := []string{"nic:2", "nic:2", "nic:1", "nic:1,fpga:x:2", "fpga:y:1", "fpga:1",
			"gpu:a:1,gpu:b:1", "gpu:a:1,gpu:b:2", "gpu:b:1"}
		rand.Shuffle(len(asked), func(i, k int) { asked[i], asked[k] = asked[k], asked[i] })
		var ids []uint32
		for _, gres := range asked {
			ids = append(ids, submit(t, c, "sleep 60", "-N1", "-n1", "--gres="+gres, "--time=2", "-H"))
		}
		release(t, c, ids...)
		running(t, c, patience, ids...)
		late := submit(t, c, "sleep 60", "-N1", "-n1", "--gres=nic:3", "--time=2")
		time.Sleep(5 * time.Second)
		j, err := c.ShowJob(t.Context(), late)
		require.NoError(t, err)
		require.Equal(t, "PENDING", j.State)
		for i, id := range ids {
			if asked[i] == "nic:2" {
				require.NoError(t, c.Scancel(t.Context(), numbers([]uint32{id})...))
			}
		}
		ids = append(ids, late)
		running(t, c, patience, late)
		if m.name != "stock" {
			for _, id := range ids {
				requireByAuction(t, c, id)
			}
			requireNoMisses(t, c)
		}
		require.NoError(t, c.Scancel(t.Context(), numbers(ids)...))
		_, err = w.Look(t.Context())
		require.NoError(t, err)
	})
}

// GPUs of any type are given from what those who name a type leave, whoever comes first.
func TestAnyTypeIsWhatIsLeft(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: []Group{
			{Nodes: 1, Cores: 16, GPUTypes: []GPUType{{"a", 2}, {"b", 2}}},
		}})
		w := watch(t, c)
		type request struct {
			args        string
			alternative []string
		}
		anyType := request{args: "-n1 --gres=gpu:1"}
		for _, named := range []request{
			{args: "-n1 --gres=gpu:a:2"}, {args: "-n1 --gres=gpu:b:2"}, {args: "-n1 --gres=gpu:a:1,gpu:b:1"},
			{"-n16", []string{"-N1 -n1 --gres=gpu:a:2"}}, {"-n16", []string{"-N1 -n1 --gres=gpu:b:2"}},
		} {
			if named.alternative != nil && m.name == "stock" {
				continue
			}
			var ids []uint32
			for i, r := range []request{anyType, anyType, named} {
				args := append(strings.Fields(r.args), "-N1", "--time=2", "-H")
				ids = append(ids, submitWith(t, c, "sleep 60", r.alternative, args...))
				w.Expect(ids[i], Ask{MinCPUs: 1, GPUs: []int{1, 1, 2}[i]})
			}
			together(t, c, func() { release(t, c, ids...) })
			if m.name != "stock" { // which gives the first two any, and lets the third wait
				running(t, c, patience, ids...)
				for _, id := range ids {
					requireByAuction(t, c, id)
				}
				requireNoMisses(t, c)
			}
			_, err := w.Look(t.Context())
			require.NoError(t, err)
			require.NoError(t, c.Scancel(t.Context(), numbers(ids)...))
			require.NoError(t, c.WaitEmpty(t.Context(), patience))
		}
	})
}

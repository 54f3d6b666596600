// SPDX-License-Identifier: BSD-3-Clause

package residence

import (
	"fmt"
	"testing"

	"github.com/aucsched/aucsched/nodeset"
)

// BenchmarkCycle is what a cycle does with files: half of the nodes read one, 700 jobs of the queue
// want 200, and half of the free cores are looked at for them.
func BenchmarkCycle(b *testing.B) {
	for _, count := range []int{1000, 20_000, 200_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			s := New(86400)
			nodes := make([]Node, count)
			for n := range nodes {
				nodes[n] = Node{uint64(n + 1), 100}
			}
			table, err := nodeset.NewUniform(count, nodeset.Capacity{Cores: 64})
			if err != nil {
				b.Fatal(err)
			}
			var m Masks
			b.ReportAllocs()
			now := int64(0)
			for b.Loop() {
				now++
				s.SetMachine(nodes)
				for n := 0; n < count; n += 2 {
					s.Read(n, 1+uint64(n)%1000, 10, now)
				}
				s.Expire(now)
				m.Reset(s)
				for j := range 700 {
					m.Want(1+uint64(j)%200, 8, false)
				}
				m.Settle(table)
			}
		})
	}
}

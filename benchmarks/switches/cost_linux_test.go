// SPDX-License-Identifier: BSD-3-Clause

package switches

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/costtest"
)

// A topology.conf is read, and made a topology, in time that grows with its text.
func TestCost(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"continued lines": func(n int) string { return "SwitchName=s \\\n" + strings.Repeat("  \\\n", 20*n) + " Nodes=n[0-3]\n" },
		"leaves": func(n int) string {
			var text strings.Builder
			for i := range n {
				fmt.Fprintf(&text, "SwitchName=s%d Nodes=n%d\n", i, i)
			}
			return text.String() + fmt.Sprintf("SwitchName=root Switches=s[0-%d]\n", n-1)
		},
		"blocks": func(n int) string {
			var text strings.Builder
			for i := range n {
				fmt.Fprintf(&text, "BlockName=b%d Nodes=n%d\n", i, i)
			}
			return text.String() + "BlockSizes=1,2,4,8,16\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			costtest.Linear(t, 2_000, func(n int) func() {
				conf := text(n)
				return func() {
					lines, err := ReadConf(strings.NewReader(conf), "topology.conf")
					require.NoError(t, err)
					_, err = Topology(lines, 16_000, finder(16_000))
					require.NoError(t, err)
				}
			})
		})
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package conf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/costtest"
)

// What is read takes time in proportion to its length.
func TestCost(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"continued lines": func(n int) string { return strings.Repeat("A=bbbbbbbbbbbbbbbbbbbb,\\\n", n) },
		"fields":          func(n int) string { return "NodeName=a " + strings.Repeat("b=c ", n) },
		"quotes":          func(n int) string { return "NodeName=a " + strings.Repeat("b=\"c ", n) },
		"partitions":      func(n int) string { return "NodeName=a\n" + lines(n, "PartitionName=p%d Nodes=ALL\n") },
		"node sets":       func(n int) string { return "NodeName=a Feature=f\n" + lines(n, "NodeSet=s%d Feature=f\n") },
		"switches":        func(n int) string { return lines(n, "SwitchName=s%d Nodes=n\n") },
	} {
		t.Run(name, func(t *testing.T) {
			costtest.Linear(t, 10_000, func(n int) func() {
				text := text(n)
				return func() {
					c, err := ReadFrom(strings.NewReader(text), "/no/such/slurm.conf")
					require.NoError(t, err)
					_, _ = c.Machine()
				}
			})
		})
	}
}

func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

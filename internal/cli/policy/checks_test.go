// SPDX-License-Identifier: BSD-3-Clause

package policy

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// lookAt names flags that there are, and policies that there are.
func TestLookAt(t *testing.T) {
	var f Flags
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Register(flags)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "policy" {
			require.Equal(t, Names(), LookAt(flag.Name))
			return
		}
		some := LookAt(flag.Name)
		require.Subset(t, Names(), some)
		require.Less(t, len(some), len(Names()), "--%s is a setting of some policies", flag.Name)
	})
}

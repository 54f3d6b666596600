// SPDX-License-Identifier: BSD-3-Clause

package golden

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	require.Equal(t, []testCase{{"# One. More.\na\nb", "x\ny"}, {"c", ""}, {"# Three\nd", "z"}},
		split("# One. More.\na\nb\n----\nx\ny\n\nc\n----\n\n\n\n# Three\nd\n----\nz\n"))
	require.Equal(t, "One", title("# One. More.\na"))
	require.Equal(t, "a\nb", uncommented("# One\na\n# more\nb"))
}

// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An error names the file that was asked for, and not the one that it is written as.
func TestCreateOutputNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "x.html")
	_, err := CreateOutput(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, "open "+path+": no such file or directory", err.Error())
}

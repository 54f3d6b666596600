// SPDX-License-Identifier: BSD-3-Clause

package locality_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/localitylog"
)

func init() {
	locality.AuthorsLog = func(t testing.TB, dir string) ([]locality.Node, []locality.Job) {
		t.Helper()
		return read(t, filepath.Join(dir, "cluster_486x20.txt"), localitylog.ReadCluster),
			read(t, filepath.Join(dir, "workload_2022-09-10.txt"), localitylog.ReadWorkload)
	}
}

// read reads a file of the authors' data, or skips the test.
func read[T any](t testing.TB, path string, parse func(io.Reader, string) (T, error)) T {
	t.Helper()
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		t.Skipf("the authors' data are not there: %v", err)
	}
	require.NoError(t, err)
	defer f.Close()
	v, err := parse(f, path)
	require.NoError(t, err)
	return v
}

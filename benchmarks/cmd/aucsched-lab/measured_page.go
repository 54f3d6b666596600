// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"path/filepath"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/results"
)

// writePage writes a measured page. A finding on the page that is there stays; if there is a
// directory csv/ beside it, the page's long tables go there.
func writePage(file, page string) error {
	dir, base := filepath.Split(filepath.Clean(file))
	return results.Write(filepath.Clean(dir), strings.TrimSuffix(base, ".md"), page)
}

// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/results"
)

// writePage writes a measured page. If a finding on the page lies in findings/ beside the file, it
// goes on top; if there is a directory csv/, the page's long tables go into it.
func writePage(file, page string) error {
	dir, base := filepath.Split(file)
	if dir == "" {
		dir = "."
	}
	return results.Write(dir, strings.TrimSuffix(base, ".md"), page, os.DirFS(filepath.Join(dir, "findings")))
}

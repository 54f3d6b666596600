// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/reproduce"
	"github.com/aucsched/aucsched/benchmarks/results"
)

// writePage writes a measured page. If a finding on the page lies in findings/ beside the file, it
// goes on top.
func writePage(file, page string) error {
	name := strings.TrimSuffix(filepath.Base(file), ".md")
	page, err := results.OnTop(page, name, os.DirFS(filepath.Join(filepath.Dir(file), "findings")))
	if err != nil {
		return err
	}
	return reproduce.WriteFile(file, []byte(page))
}

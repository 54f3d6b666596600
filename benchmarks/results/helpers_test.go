// SPDX-License-Identifier: BSD-3-Clause

package results

import (
	"os"
	"path/filepath"
	"strings"
)

// pagesOfDirectory are the measured pages, by name. README.md is the list of them.
func pagesOfDirectory() (map[string]string, error) {
	files, err := filepath.Glob("*.md")
	if err != nil {
		return nil, err
	}
	pages := make(map[string]string)
	for _, file := range files {
		if file == "README.md" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		pages[strings.TrimSuffix(file, ".md")] = string(text)
	}
	return pages, nil
}

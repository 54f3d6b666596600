// SPDX-License-Identifier: BSD-3-Clause

// Package results holds the measured pages, which programs write: NAME.md, its long tables in
// csv/, and the finding on top of it, findings/NAME.md, which a person writes.
//
// A finding quotes figures of its page and tables alone. The checker of the docs
// (benchmarks/cmd/docscheck) looks each of them up there, so that a page that was measured anew
// can't contradict it unseen.
package results

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed findings
var embedded embed.FS

// Findings are the texts of this package's directory.
func Findings() fs.FS {
	sub, err := fs.Sub(embedded, "findings")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}

// OnTop puts the finding NAME.md of findings below the title of a page. A page without a
// finding stays as it is.
func OnTop(page, name string, findings fs.FS) (string, error) {
	finding, err := fs.ReadFile(findings, name+".md")
	if errors.Is(err, fs.ErrNotExist) {
		return page, nil
	}
	if err != nil {
		return "", fmt.Errorf("the finding of page %s: %w", name, err)
	}
	title, rest, found := strings.Cut(page, "\n")
	if !found || !strings.HasPrefix(title, "# ") {
		return "", fmt.Errorf("page %s begins with no title, and has no place for its finding", name)
	}
	return title + "\n\n" + strings.TrimSpace(string(finding)) + "\n" + rest, nil
}

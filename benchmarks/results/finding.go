// SPDX-License-Identifier: BSD-3-Clause

// Package results holds the measured pages: NAME.md, and its long tables in csv/. Programs write
// both, but for the finding on top of a page, which a person writes into the page, and which the
// programs leave there.
//
// A finding quotes figures of its page and tables alone. The checker of the docs
// (benchmarks/cmd/docscheck) looks each of them up there, so that a page that was measured anew
// can't contradict it unseen.
package results

import (
	"fmt"
	"strings"
)

// Marker ends the finding of a page.
const Marker = "<!-- The finding above is written by hand, all below by a program. -->"

// Finding is what stands between a page's title and the marker, and rest is the page without both.
// A page without a marker has no finding.
func Finding(page string) (finding, rest string) {
	title, text, _ := strings.Cut(page, "\n")
	finding, rest, found := strings.Cut(text, Marker)
	if !found {
		return "", page
	}
	return strings.TrimSpace(finding), title + rest
}

// withFinding puts a finding and the marker below the title of a page.
func withFinding(page, finding string) (string, error) {
	title, rest, found := strings.Cut(page, "\n")
	if !found || !strings.HasPrefix(title, "# ") {
		return "", fmt.Errorf("the page begins with no title, and has no place for its finding")
	}
	if finding != "" {
		finding += "\n\n"
	}
	return title + "\n\n" + finding + Marker + "\n" + rest, nil
}

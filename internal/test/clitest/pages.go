// SPDX-License-Identifier: BSD-3-Clause

package clitest

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	slips    = regexp.MustCompile(`\b0x[0-9a-f]{6,}|%!|<nil>|&lt;nil&gt;|\bmap\[|\bNaN\b|[+-]Inf\b|\{\{`)
	scripts  = regexp.MustCompile(`(?s)<script>.*?</script>|<style>.*?</style>`)
	tags     = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:"[^"]*"|[^">])*)>`)
	outside  = regexp.MustCompile(`(?i)https?:|\bsrc=|\bhref=|url\(|@import|<link|<img`)
	unclosed = regexp.MustCompile(`^(?i:meta|br|hr|input|col|link|img|!doctype)$`)
)

// Words fails the test if a text that a command wrote has what Go prints for a value that was not
// meant for people: a pointer, a verb without its value, and the like.
func Words(t *testing.T, name, text string) {
	t.Helper()
	require.Empty(t, slips.FindAllString(text, -1), name)
}

// Page fails the test unless a page is one that people can read anywhere: with the words
// of [Words], tags that are closed, a size for telephones, colours for the dark, and
// nothing from elsewhere.
func Page(t *testing.T, name, page string) {
	t.Helper()
	require.Contains(t, page, `<meta name="viewport" content="width=device-width`, name)
	require.Contains(t, page, dark, name)
	markup := scripts.ReplaceAllString(page, "")
	Words(t, name, markup)
	require.Empty(t, outside.FindAllString(page, -1), name)
	require.Empty(t, unbalanced(markup), name)
}

// unbalanced is the first tag that another one ends, or that none does; empty for none.
func unbalanced(markup string) string {
	var open []string
	for _, m := range tags.FindAllStringSubmatch(markup, -1) {
		last := len(open) - 1
		switch {
		case unclosed.MatchString(m[2]) || strings.HasSuffix(m[3], "/"):
		case m[1] == "":
			open = append(open, m[2])
		case last < 0 || open[last] != m[2]:
			return m[0]
		default:
			open = open[:last]
		}
	}
	return strings.Join(open, " ")
}

const dark = "@media (prefers-color-scheme: dark)"

//go:embed browse.html
var browse string

// Browse fails the test if a browser finds a page wider than its window, or a text too
// faint, at the widths of a screen and of a telephone, by day and in the dark. One
// browser looks at all pages.
func Browse(t *testing.T, pages map[string]string) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium: sh scripts/packages.sh pages")
	}
	type view struct{ Name, Text string }
	var views []view
	for name, page := range pages {
		Page(t, name, page)
		views = append(views, view{name + ", light", page}, view{name + ", dark", strings.ReplaceAll(page, dark, "@media all")})
	}
	text, err := json.Marshal(views) // in which no < is left
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "browse.html")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(browse, "VIEWS", string(text), 1)), 0o600))
	dom, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--window-size=1400,1000", "--virtual-time-budget=60000", "--dump-dom", "file://"+path).Output()
	require.NoError(t, err)
	_, found, ok := strings.Cut(string(dom), "<pre>")
	require.True(t, ok, "the browser has not looked at the pages: %s", dom)
	found, _, _ = strings.Cut(found, "</pre>")
	require.Equal(t, "looked", strings.TrimSpace(found))
}

// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTidy(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("word ", 30))
	wrapped := strings.Repeat("word ", 19) + "word\n" + strings.TrimSpace(strings.Repeat("word ", 10))
	for _, c := range []struct{ name, text, want string }{
		{"paragraphs", "\n\na\nb\n\n\n\nc\n", "a b\n\nc\n"},
		{"long ones", words, wrapped + "\n"},
		{"a table", "a\n\n| a | b |\n| - | - |\n", "a\n\n| a | b |\n| - | - |\n"},
		{"a heading", "# " + words + "\n\na", "# " + words + "\n\na\n"},
		{"a list", "- a\n  b\n- c\n\nd - e", "- a b\n- c\n\nd - e\n"},
		{"a list of long items", "- a\n- " + words, "- a\n- " + strings.Repeat("word ", 18) + "word\n  " +
			strings.TrimSpace(strings.Repeat("word ", 11)) + "\n"},
		{"blanks alone", "a\n\n \n\nb", "a\n\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, tidy(c.text)) })
	}
}

// A figure that a page has no name for is an error, not a hole in a sentence.
func TestRenderWithoutFigures(t *testing.T) {
	for _, page := range pageTexts.Templates() {
		if name, ok := strings.CutSuffix(page.Name(), ".md.tmpl"); ok && name != "shared" {
			_, err := render(name, map[string]any{})
			require.Error(t, err, name)
		}
	}
}

func TestLinesOfPages(t *testing.T) {
	files, err := fs.Glob(pageFiles, "pages/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := pageFiles.ReadFile(file)
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 100, "%s:%d", file, i+1)
		}
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed pages
var pageFiles embed.FS

// pageTexts are the texts of the pages, with places for figures.
var pageTexts = template.Must(template.New("").Option("missingkey=error").Funcs(template.FuncMap{
	"count": count, "digits": digits, "duration": duration, "plural": plural, "points": points,
	"spaced": func(list string) string { return strings.ReplaceAll(list, ",", ", ") }, "times": times,
}).ParseFS(pageFiles, "pages/*.md.tmpl"))

// render is pages/NAME.md.tmpl with figures in it.
func render(name string, figures any) (string, error) {
	var b strings.Builder
	if err := pageTexts.ExecuteTemplate(&b, name+".md.tmpl", figures); err != nil {
		return "", fmt.Errorf("the page: %w", err)
	}
	return tidy(b.String()), nil
}

// tidy wraps the paragraphs and the items of a text in Markdown, and leaves one blank line
// between its parts. Headings and tables stay as they are.
func tidy(text string) string {
	var parts []string
	for _, part := range strings.Split(text, "\n\n") {
		part = strings.Trim(part, "\n")
		switch {
		case strings.TrimSpace(part) == "":
			continue
		case part[0] == '|' || part[0] == '#':
		case strings.HasPrefix(part, "- "):
			var items []string
			for _, item := range strings.Split(part[len("- "):], "\n- ") {
				items = append(items, "- "+wrap(item, "  "))
			}
			part = strings.Join(items, "\n")
		default:
			part = wrap(part, "")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n\n") + "\n"
}

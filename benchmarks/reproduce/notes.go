// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"embed"
	"strings"
)

//go:embed notes
var noteFiles embed.FS

// notesOf are the paragraphs of files of notes.
func notesOf(names ...string) (all []string) {
	for _, name := range names {
		text, err := noteFiles.ReadFile("notes/" + name + ".md.tmpl")
		if err != nil {
			panic(err) // names are constants
		}
		for _, paragraph := range strings.Split(string(text), "\n\n") {
			all = append(all, strings.Join(strings.Fields(paragraph), " "))
		}
	}
	return all
}

// howToRead explains the tables.
func howToRead() string { return notesOf("reading")[0] }

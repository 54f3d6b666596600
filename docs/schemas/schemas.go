// SPDX-License-Identifier: BSD-3-Clause

// Package schemas has the JSON Schemas (draft 2020-12) of what aucsched reads and prints, for
// "aucsched schema" and for tests.
package schemas

import (
	"embed"
	"strings"
)

//go:embed *.json
var files embed.FS

// Names are those of all schemas, in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // what is embedded is there
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Text is the schema of that name, and whether there is one.
func Text(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + ".json")
	return text, err == nil
}

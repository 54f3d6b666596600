// SPDX-License-Identifier: BSD-3-Clause

package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Write writes the page NAME.md into a directory, with its finding on top. If the directory has one
// named csv, the page's long tables go there, and those that it had there before are removed.
func Write(dir, name, page string, findings fs.FS) error {
	page, err := OnTop(page, name, findings)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, name+".md")
	if _, err := os.Stat(filepath.Join(dir, csvDir)); err != nil {
		return replace(file, []byte(page))
	}
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	page, files := Split(name, page)
	for csvName, text := range files {
		if err := replace(filepath.Join(dir, csvDir, csvName), text); err != nil {
			return err
		}
	}
	for _, csvName := range Linked(string(before)) {
		if files[csvName] == nil {
			if err := os.Remove(filepath.Join(dir, csvDir, csvName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return replace(file, []byte(page))
}

var csvLink = regexp.MustCompile(`\]\(` + csvDir + `/([^)]+\.csv)\)`)

// Linked are the names of the CSV files with tables that a page links to.
func Linked(page string) (names []string) {
	for _, m := range csvLink.FindAllStringSubmatch(page, -1) {
		names = append(names, m[1])
	}
	return names
}

// replace writes a file by way of another one beside it: the one before is there or all of the new
// one.
func replace(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// SPDX-License-Identifier: BSD-3-Clause

package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Write writes the page NAME.md into a directory; the finding on the page that is there is kept. If
// the directory has one named csv, the page's long tables go there, and those that it had there
// before are removed.
func Write(dir, name, page string) error {
	file := filepath.Join(dir, name+".md")
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	finding, _ := Finding(string(before))
	_, err = os.Stat(filepath.Join(dir, csvDir))
	kept := err == nil
	var files map[string][]byte
	if kept {
		page, files = Split(name, page)
	}
	if kept || finding != "" {
		if page, err = withFinding(page, finding); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for csvName, text := range files {
		if err := replace(filepath.Join(dir, csvDir, csvName), text); err != nil {
			return err
		}
	}
	if err := replace(file, []byte(page)); err != nil || !kept {
		return err
	}
	for _, csvName := range Linked(string(before)) {
		if files[csvName] == nil {
			if err := os.Remove(filepath.Join(dir, csvDir, csvName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
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

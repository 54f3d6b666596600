// SPDX-License-Identifier: BSD-3-Clause

// Command longlines finds lines of Go that are too long: those with a comment over 100 columns,
// those of code over 140. A tab is 4 columns wide. Generated files and testdata are left out.
//
//	go run ./internal/longlines [-fix] [FILE|DIRECTORY ...]
//
// With -fix it wraps the comments anew. Of a paragraph with a line that is too long all lines are
// filled again. A long comment behind code moves to a line of its own. Code, preformatted text,
// directives and the expected output of examples stay as they are.
//
// Not too long are a comment of one word, such as an address, a directive, expected output, the C
// in front of import "C", and the lines of a string that has several, but for its first.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The widest lines, in columns.
const (
	commentLimit = 100
	codeLimit    = 140
	tabWidth     = 4
)

func main() {
	fix := flag.Bool("fix", false, "wrap comments anew")
	flag.Parse()
	roots := flag.Args()
	if len(roots) == 0 {
		roots = []string{"."}
	}
	found, err := run(roots, *fix, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "longlines:", err)
	}
	if err != nil || found > 0 {
		os.Exit(1)
	}
}

// run writes the lines that are too long, those left over if it fixes, and returns their number.
func run(roots []string, fix bool, out io.Writer) (int, error) {
	found := 0
	each := func(file string) error {
		src, err := os.ReadFile(file)
		if err != nil || generated.Match(src) {
			return err
		}
		if fix {
			if src, err = fixFile(file, src); err != nil {
				return err
			}
		}
		f, err := parse(src)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, l := range f.tooLong() {
			fmt.Fprintf(out, "%s:%s\n", file, l)
			found++
		}
		return nil
	}
	var errs []error
	for _, root := range roots {
		errs = append(errs, walk(root, each))
	}
	return found, errors.Join(errs...)
}

func fixFile(file string, src []byte) ([]byte, error) {
	fixed, err := rewrap(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if bytes.Equal(fixed, src) {
		return src, nil
	}
	return fixed, os.WriteFile(file, fixed, 0o644)
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// walk calls each for the Go files that people write.
func walk(root string, each func(file string) error) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			hidden := strings.HasPrefix(name, ".") && len(strings.Trim(name, ".")) > 0
			if file != root && (hidden || name == "testdata" || name == "bin" || name == "build") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		return each(file)
	})
}

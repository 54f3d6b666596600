// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// little is by how many hundredths a figure may be below its budget without a word.
const little = 1

// hold reports, as an error, the figures that exceed the budget, and where the budget of a figure
// has been raised. Where it can be lowered it says so.
func hold(out io.Writer, path string, now map[string]int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	budget, err := parseBudget(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	before, err := parseBudget(previous(path, string(text)))
	if err != nil {
		return fmt.Errorf("%s, as it was: %w", path, err)
	}
	var faults []error
	fault := func(name, format string, args ...any) {
		faults = append(faults, fmt.Errorf(name+": "+format, args...))
	}
	for _, name := range slices.Sorted(maps.Keys(budget)) {
		most := budget[name]
		if now[name] > most {
			fault(name, "%d exceeds the budget of %d in %s: delete something", now[name], most, path)
		} else if 100*(most-now[name]) > little*most {
			fmt.Fprintf(out, "%s: %d; lower its budget of %d in %s\n", name, now[name], most, path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if strings.HasPrefix(name, areas) { // lines may move from one to another: the sum is held
			continue
		}
		if most, there := budget[name]; !there || most > before[name] && !strings.Contains(string(text), " "+name+" # raised: ") {
			fault(name, "its budget was %d, and only shrinks: put that back into %s, or say why: %s # raised: REASON",
				before[name], path, name)
		}
	}
	return errors.Join(faults...)
}

// parseBudget reads lines "NUMBER NAME" and "NUMBER NAME # raised: REASON".
func parseBudget(text string) (map[string]int, error) {
	budget := make(map[string]int)
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), " # ")
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		most, err := strconv.Atoi(number)
		if err != nil || name == "" {
			return nil, fmt.Errorf("line %d: %q: must be a number and the name of a figure", n, lines.Text())
		}
		budget[strings.TrimSpace(name)] = most
	}
	return budget, lines.Err()
}

// previous is the last version that git has of the file which is not text; "" if there is none.
func previous(path, text string) string {
	git := func(args ...string) string {
		c := exec.Command("git", args...)
		c.Dir = filepath.Dir(path)
		out, _ := c.Output()
		return string(out)
	}
	file := filepath.Base(path)
	for commit := range strings.FieldsSeq(git("log", "-2", "--format=%h", "--", file)) {
		if was := git("show", commit+":./"+file); was != text {
			return was
		}
	}
	return ""
}

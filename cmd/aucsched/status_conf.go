// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/bom"
)

// Limits of what is read of a slurm.conf.
const (
	confLimit    = 16 << 20 // bytes a file
	confIncludes = 64       // files
)

// confPaths are the files that SchedulerParameters may name.
var confPaths = []string{"auc_status", "auc_shadow"}

// readSlurmConf is what commands need of a slurm.conf and the files that it
// includes: the value of StateSaveLocation, and of confPaths in SchedulerParameters.
// Keys are in lower case; later lines win.
func readSlurmConf(path string) (map[string]string, error) {
	r := confReader{values: map[string]string{}}
	return r.values, r.read(path)
}

type confReader struct {
	values map[string]string
	files  int
}

func (r *confReader) read(path string) error {
	if r.files++; r.files > confIncludes {
		return fmt.Errorf("%s: more than %d files included", path, confIncludes)
	}
	text, err := readLimited(path, confLimit)
	if err != nil {
		return err
	}
	if text, err = bom.Trim(text); err != nil {
		return fmt.Errorf("%s:1: %w", path, err)
	}
	return r.parse(string(text), filepath.Dir(path))
}

// parse takes the lines of a file in dir.
func (r *confReader) parse(text, dir string) error {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\\\n", "") // a line goes on after a backslash
	for line := range strings.Lines(text) {
		fields := confFields(line)
		if len(fields) == 2 && strings.EqualFold(fields[0], "include") {
			file := fields[1]
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			if err := r.read(file); err != nil {
				return err
			}
			continue
		}
		for _, field := range fields {
			r.take(field)
		}
	}
	return nil
}

func (r *confReader) take(field string) {
	key, value, _ := strings.Cut(field, "=")
	switch strings.ToLower(key) {
	case "statesavelocation":
		r.values["statesavelocation"] = value
	case "schedulerparameters":
		for _, key := range confPaths {
			delete(r.values, key)
		}
		for option := range strings.SplitSeq(value, ",") {
			key, path, ok := strings.Cut(option, "=")
			if key = strings.ToLower(key); ok && slices.Contains(confPaths, key) {
				r.values[key] = path
			}
		}
	}
}

// confFields splits a line at white space outside double quotes, which it drops, up to a comment.
func confFields(line string) []string {
	var fields []string
	var field strings.Builder
	quoted, started := false, false
	flush := func() {
		if started {
			fields = append(fields, field.String())
		}
		field.Reset()
		started = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted, started = !quoted, true
		case c == '#' && (i == 0 || line[i-1] != '\\'):
			flush()
			return fields
		case !quoted && strings.IndexByte(" \t\r\n\v\f", c) >= 0:
			flush()
		default:
			field.WriteByte(c)
			started = true
		}
	}
	flush()
	return fields
}

// SPDX-License-Identifier: BSD-3-Clause

// Package version says which release this is, and which commit it was built from.
package version

import (
	"runtime/debug"
	"strings"
)

// Number is the version of the library and of the programs.
const Number = "0.9.0"

// stamp is what scripts/commit.sh printed, which make has the linker set: "" in other builds.
var stamp string

// changed ends the stamp of a checkout with changes.
const changed = "-changed"

// Commit is the commit that the program was built from: "" if that is not known. It is clean
// if nothing had been changed since.
func Commit() (hash string, clean bool) {
	if stamp != "" {
		hash, changes := strings.CutSuffix(stamp, changed)
		return hash, !changes
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			hash = s.Value
		case "vcs.modified":
			clean = s.Value == "false"
		}
	}
	return hash, clean
}

// Text is the version as a program prints it.
func Text() string {
	hash, clean := Commit()
	switch {
	case hash == "":
		return Number
	case clean:
		return Number + " (commit " + hash + ")"
	}
	return Number + " (commit " + hash + ", with changes)"
}

// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"slices"
	"strings"
)

// restOfLine are keys whose value goes on to the end of the line, spaces and all.
var restOfLine = []string{"Command", "WorkDir", "StdErr", "StdIn", "StdOut", "Comment", "AdminComment", "SystemComment",
	"TresPerNode", "TresPerJob", "TresPerTask", "MailUser", "OS", "ExtraLines", "Extra"}

// lastOfLine are those that have it in any place: nothing comes behind them, and users fill them as
// they like.
var lastOfLine = []string{"JobName", "WCKey", "Network", "MCS_label"}

// AddFields adds the KEY=VALUE of a line that "scontrol show" prints to fields; a word without =
// belongs to the value before it. Of a key that comes twice the first value stays.
func AddFields(fields map[string]string, line string) {
	last := ""
	for line = strings.TrimSpace(line); line != ""; {
		word, rest, _ := strings.Cut(line, " ")
		key, value, ok := strings.Cut(word, "=")
		switch {
		case ok && (last == "" && slices.Contains(restOfLine, key) || slices.Contains(lastOfLine, key)):
			if _, have := fields[key]; !have {
				_, fields[key], _ = strings.Cut(line, "=")
			}
			return
		case ok:
			last = ""
			if _, have := fields[key]; !have {
				fields[key], last = value, key
			}
		case last != "":
			fields[last] += " " + word
		}
		line = strings.TrimSpace(rest)
	}
}

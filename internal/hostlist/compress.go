// SPDX-License-Identifier: BSD-3-Clause

package hostlist

import (
	"errors"
	"fmt"
	"strconv"
)

// Compress returns the hostlist of names in their order. Neighbours in the list whose names differ
// only in the number at the end share a bracket, in which consecutive numbers of one width form a
// range: n[1-64,81-144]. The result for no name at all is the empty string, which Expand refuses.
// Compress fails for a name that could not be read back and for more than [MaxNames] names.
func Compress(names []string) (string, error) {
	if len(names) > MaxNames {
		return "", fmt.Errorf("hostlist: more than %d names", MaxNames)
	}
	var out []byte
	var group []span // spans of the current bracket
	var prefix string
	for i, name := range names {
		if err := checkName(name); err != nil {
			return "", fmt.Errorf("hostlist: name %d, %s: %w", i+1, quote(name), err)
		}
		p, s, numbered := splitNumber(name)
		if numbered && len(group) > 0 && p == prefix {
			group = addNumber(group, s)
			continue
		}
		out = appendGroup(out, prefix, group)
		group = group[:0]
		if numbered {
			prefix, group = p, append(group, s)
		} else {
			out = append(appendComma(out), name...)
		}
	}
	return string(appendGroup(out, prefix, group)), nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("empty")
	case len(name) > MaxNameLen:
		return fmt.Errorf("longer than %d bytes", MaxNameLen)
	}
	return checkText(name)
}

// splitNumber cuts the number off the end of name. Numbers too long for a range
// are left with the name.
func splitNumber(name string) (prefix string, s span, ok bool) {
	i := len(name)
	for i > 0 && '0' <= name[i-1] && name[i-1] <= '9' {
		i--
	}
	n, err := parseNumber(name[i:], name)
	if err != nil {
		return "", span{}, false
	}
	return name[:i], span{n, n, len(name) - i}, true
}

// addNumber adds the one number of s to a bracket, in the last range if Expand
// would then print it as it stands.
func addNumber(group []span, s span) []span {
	last := &group[len(group)-1]
	if s.lo == last.hi+1 && s.width == max(last.width, len(strconv.FormatInt(s.lo, 10))) {
		last.hi = s.lo
		return group
	}
	return append(group, s)
}

func appendGroup(out []byte, prefix string, group []span) []byte {
	if len(group) == 0 {
		return out
	}
	out = append(appendComma(out), prefix...)
	if len(group) == 1 && group[0].count() == 1 {
		return appendPadded(out, group[0].lo, group[0].width)
	}
	sep := byte('[')
	for _, s := range group {
		out = append(out, sep)
		out = appendPadded(out, s.lo, s.width)
		if s.hi > s.lo {
			out = append(out, '-')
			out = appendPadded(out, s.hi, s.width)
		}
		sep = ','
	}
	return append(out, ']')
}

func appendComma(out []byte) []byte {
	if len(out) > 0 {
		out = append(out, ',')
	}
	return out
}

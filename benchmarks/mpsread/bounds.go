// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import "strings"

// boundLine reads TYPE [SET] COLUMN [NUMBER].
func (f *source) boundLine() error {
	kind := strings.ToUpper(string(f.fields[0]))
	valued := false
	switch kind {
	case "UP", "LO", "FX", "UI", "LI":
		valued = true
	case "BV", "FR", "MI", "PL":
	default:
		return f.fail("BOUNDS: type %s is not one of UP, LO, FX, BV, UI, LI, FR, MI, PL", excerpt(f.fields[0]))
	}
	set, column, number, ok := f.boundFields(valued)
	if !ok {
		return f.fail("BOUNDS: a line of type %s has %d fields", kind, len(f.fields))
	}
	if err := f.checkSet("BOUNDS", set); err != nil {
		return err
	}
	c, ok := f.colIndex[string(column)]
	if !ok {
		return f.fail("BOUNDS: there is no column %s", excerpt(column))
	}
	var value bound
	if valued {
		var err error
		if value, err = parseBound(number); err != nil {
			return f.fail("BOUNDS, column %q: %s: %w", column, excerpt(number), err)
		}
	}
	return f.setBound(&f.cols[c], kind, value)
}

// boundFields tells a line's fields apart. The set's name may be left out, and
// types without a number may have one, which says nothing.
func (f *source) boundFields(valued bool) (set, column, number []byte, ok bool) {
	rest := f.fields[1:]
	switch {
	case len(rest) == 3:
		return rest[0], rest[1], rest[2], true
	case len(rest) == 2 && valued:
		return nil, rest[0], rest[1], true
	case len(rest) == 2:
		if _, known := f.colIndex[string(rest[1])]; known {
			return rest[0], rest[1], nil, true
		}
		return nil, rest[0], nil, true
	case len(rest) == 1 && !valued:
		return nil, rest[0], nil, true
	}
	return nil, nil, nil, false
}

func parseBound(s []byte) (bound, error) {
	sign := 1
	word := strings.ToLower(string(s))
	if rest, ok := strings.CutPrefix(word, "-"); ok {
		sign, word = -1, rest
	} else {
		word = strings.TrimPrefix(word, "+")
	}
	if word == "inf" || word == "infinity" {
		return bound{infinite: true, value: decimal{mant: int64(sign)}}, nil
	}
	value, err := parseDecimal(s)
	return bound{value: value}, err
}

func (f *source) setBound(c *column, kind string, value bound) error {
	lower, upper := true, true
	switch kind {
	case "UP", "UI", "PL":
		lower = false
	case "LO", "LI", "MI":
		upper = false
	}
	if (lower && c.lower.set) || (upper && c.upper.set) {
		return f.fail("BOUNDS: column %q: %s after a bound on the same side", c.name, kind)
	}
	switch kind {
	case "BV", "UI", "LI":
		c.integer = true
	}
	low, high := value, value
	switch kind {
	case "BV":
		high.value = decimal{mant: 1}
	case "FR", "MI", "PL":
		low = bound{infinite: true, value: decimal{mant: -1}}
		high = bound{infinite: true, value: decimal{mant: 1}}
	}
	if lower {
		c.lower = low
		c.lower.set = true
	}
	if upper {
		c.upper = high
		c.upper.set = true
	}
	return nil
}

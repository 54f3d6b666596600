// SPDX-License-Identifier: BSD-3-Clause

package hostlist

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// span is the numbers lo..hi, printed with at least width digits.
type span struct {
	lo, hi int64
	width  int
}

func (s span) count() int64 { return s.hi - s.lo + 1 }

// part is a piece of an element: literal text, or a bracket's spans.
type part struct {
	text  string
	spans []span
}

// element is what stands between two separators.
type element []part

// Count is the number of names that Expand would return; it costs time and memory in the length of
// expr, not in the number of names. It fails for the same input as Expand.
func Count(expr string) (int, error) {
	_, n, err := parse(expr)
	return n, err
}

func parse(expr string) ([]element, int, error) {
	elems, n, err := parseList(expr)
	if err != nil {
		return nil, 0, fmt.Errorf("hostlist %s: %w", quote(expr), err)
	}
	return elems, n, nil
}

func parseList(expr string) ([]element, int, error) {
	var elems []element
	var total int64
	for text, rest := cutElement(expr); text != ""; text, rest = cutElement(rest) {
		e, err := parseElement(text)
		if err != nil {
			return nil, 0, err
		}
		n := e.count()
		if total += n; total > MaxNames {
			return nil, 0, fmt.Errorf("more than %d names", MaxNames)
		}
		elems = append(elems, e)
	}
	if elems == nil {
		return nil, 0, errors.New("no name")
	}
	return elems, int(total), nil
}

// separators stand between elements, any number of them, and before and behind all.
const separators = ", \t\n"

// cutElement takes the first element off s, which ends at a separator outside brackets; it is empty
// if there is none.
func cutElement(s string) (elem, rest string) {
	s = strings.TrimLeft(s, separators)
	inside := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case !inside && strings.IndexByte(separators, c) >= 0:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// parseElement takes an element apart, which is not empty.
func parseElement(s string) (element, error) {
	var e element
	length := 0 // of the element's longest name
	for s != "" {
		p, n, rest, err := parsePart(s)
		if err != nil {
			return nil, err
		}
		if length += n; length > MaxNameLen {
			return nil, fmt.Errorf("a name of more than %d bytes", MaxNameLen)
		}
		e, s = append(e, p), rest
	}
	return e, nil
}

// parsePart takes the first part off s, which is not empty. It returns the most
// bytes that the part adds to a name.
func parsePart(s string) (p part, length int, rest string, err error) {
	if s[0] != '[' {
		end := strings.IndexByte(s, '[')
		if end < 0 {
			end = len(s)
		}
		return part{text: s[:end]}, end, s[end:], checkText(s[:end])
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return part{}, 0, "", errors.New("a [ without ]")
	}
	for _, item := range strings.Split(s[1:end], ",") {
		sp, err := parseSpan(item)
		if err != nil {
			return part{}, 0, "", err
		}
		p.spans = append(p.spans, sp)
		length = max(length, sp.width, len(strconv.FormatInt(sp.hi, 10)))
	}
	return p, length, s[end+1:], nil
}

func parseSpan(s string) (span, error) {
	low, high, isRange := strings.Cut(s, "-")
	lo, err := parseNumber(low, s)
	if err != nil {
		return span{}, err
	}
	sp := span{lo, lo, len(low)}
	if !isRange {
		return sp, nil
	}
	if sp.hi, err = parseNumber(high, s); err != nil {
		return span{}, err
	}
	if sp.hi < sp.lo {
		return span{}, fmt.Errorf("range %s is empty", abbreviate(s))
	}
	return sp, nil
}

func parseNumber(s, item string) (int64, error) {
	if len(s) > maxDigits {
		return 0, fmt.Errorf("a number of more than %d digits in brackets", maxDigits)
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%s in brackets is neither a number nor a range of numbers", quote(item))
	}
	return int64(n), nil
}

// checkText admits what may stand in a name: printable ASCII except for the
// characters that have a meaning in a list.
func checkText(s string) error {
	for _, r := range s {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune("[],", r) {
			return fmt.Errorf("%q is not allowed in a name", r)
		}
	}
	return nil
}

// count is the number of names of e, or some number above MaxNames.
func (e element) count() int64 {
	n := int64(1)
	for _, p := range e {
		if p.spans == nil {
			continue
		}
		var c int64
		for _, s := range p.spans {
			if c += min(s.count(), MaxNames+1); c > MaxNames {
				return c
			}
		}
		if n *= c; n > MaxNames {
			return n
		}
	}
	return n
}

func quote(s string) string { return strconv.Quote(abbreviate(s)) }

// abbreviate keeps error messages to a line.
func abbreviate(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// Expand returns the names that expr stands for, in its order; a name may occur more than once. It
// fails for a malformed expression and beyond [MaxNames] or [MaxNameLen], before it makes any name.
func Expand(expr string) ([]string, error) {
	elems, n, err := parse(expr)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, n)
	buf := make([]byte, 0, MaxNameLen)
	for _, e := range elems {
		names = e.appendNames(names, buf)
	}
	return names, nil
}

// appendNames appends the names that begin with prefix and go on as e says.
func (e element) appendNames(names []string, prefix []byte) []string {
	if len(e) == 0 {
		return append(names, string(prefix))
	}
	if e[0].spans == nil {
		return e[1:].appendNames(names, append(prefix, e[0].text...))
	}
	for _, s := range e[0].spans {
		for n := s.lo; n <= s.hi; n++ {
			names = e[1:].appendNames(names, appendPadded(prefix, n, s.width))
		}
	}
	return names
}

// appendPadded appends n, which is not negative, in at least width digits.
func appendPadded(b []byte, n int64, width int) []byte {
	var digits [maxDigits + 1]byte
	i := len(digits)
	for ; n > 0 || i == len(digits); n /= 10 {
		i--
		digits[i] = byte('0' + n%10)
	}
	for ; len(digits)-i < width; width-- {
		b = append(b, '0')
	}
	return append(b, digits[i:]...)
}

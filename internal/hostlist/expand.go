// SPDX-License-Identifier: BSD-3-Clause

package hostlist

// Expand returns the names that expr stands for, in its order; a name may occur
// more than once. It fails for a malformed expression and beyond [MaxNames] or
// [MaxNameLen], before it makes any name.
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

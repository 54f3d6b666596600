// SPDX-License-Identifier: BSD-3-Clause

// Package input has what readers of texts by people share: the byte order mark that editors put at
// the beginning, and what a mistyped word was meant to be.
package input

import (
	"bufio"
	"bytes"
	"errors"
)

// ErrUTF16 is the error of a text that is not in UTF-8.
var ErrUTF16 = errors.New("the text is in UTF-16: save it as UTF-8")

var (
	utf8Mark = []byte("\xef\xbb\xbf")
	// A mark says that a text is in UTF-16, and so do zeros in its first two characters.
	utf16Marks = [][]byte{{0xfe, 0xff}, {0xff, 0xfe}}
)

// SkipMark drops the byte order mark of UTF-8 at the beginning of r, if there is one. It fails with
// ErrUTF16 for a text in UTF-16. Errors of reading are left to the next read.
func SkipMark(r *bufio.Reader) error {
	begin, _ := r.Peek(4)
	rest, err := TrimMark(begin)
	if err != nil {
		return err
	}
	_, _ = r.Discard(len(begin) - len(rest)) // they have been peeked at
	return nil
}

// TrimMark is SkipMark for a text at hand.
func TrimMark(text []byte) ([]byte, error) {
	for i, mark := range utf16Marks {
		if bytes.HasPrefix(text, mark) {
			return nil, ErrUTF16
		}
		if len(text) >= 4 && text[i] == 0 && text[i+2] == 0 && text[1-i] != 0 && text[3-i] != 0 {
			return nil, ErrUTF16
		}
	}
	return bytes.TrimPrefix(text, utf8Mark), nil
}

// SPDX-License-Identifier: BSD-3-Clause

package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// scan counts messages, strings and elements of lists down from left, without any memory, and
// returns whether they can be decoded: left is negative if they are too many. No message of ours
// contains itself, so that the recursion has its end.
func scan(d protoreflect.MessageDescriptor, b []byte, left *int) bool {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return false
		}
		value := b[:n]
		b = b[n:]
		f := d.Fields().ByNumber(number)
		if f == nil {
			continue
		}
		if kind != protowire.BytesType {
			*left--
		} else {
			value, _ = protowire.ConsumeBytes(value)
			*left -= elements(f, value)
		}
		if *left < 0 || kind == protowire.BytesType && f.Message() != nil && !scan(f.Message(), value, left) {
			return false
		}
	}
	return true
}

// elements is 1, and for a packed list of numbers their number.
func elements(f protoreflect.FieldDescriptor, value []byte) int {
	if !f.IsPacked() {
		return 1
	}
	n := 0
	for _, b := range value {
		if b < 0x80 {
			n++
		}
	}
	return n
}

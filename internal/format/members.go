// SPDX-License-Identifier: BSD-3-Clause

package format

import (
	"bytes"
	"encoding/json"
	"strings"
)

// member is a field of an object, and where it and its value begin, from the object's beginning.
type member struct {
	at    int
	begin int
	key   string
	value []byte
}

// members calls see for each member of an object in valid JSON.
func members(object []byte, see func(member) error) error {
	for i := 1; ; {
		i = skipSpace(object, i)
		if object[i] == '}' {
			return nil
		}
		m, end := member{at: i}, skipValue(object, i)
		if m.key = string(object[i+1 : end-1]); strings.Contains(m.key, `\`) {
			if err := json.Unmarshal(object[i:end], &m.key); err != nil {
				return err
			}
		}
		m.begin = skipSpace(object, 1+skipSpace(object, end)) // after the colon
		i = skipValue(object, m.begin)
		m.value = object[m.begin:i]
		if err := see(m); err != nil {
			return err
		}
		if i = skipSpace(object, i); object[i] == ',' {
			i++
		}
	}
}

func skipSpace(text []byte, i int) int {
	for text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n' {
		i++
	}
	return i
}

// skipValue is where the value ends that begins at i.
func skipValue(text []byte, i int) int {
	for depth := 0; ; {
		switch c := text[i]; c {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
		default:
			for i < len(text) && bytes.IndexByte([]byte(",]} \t\r\n"), text[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// hasNull reports whether a value is null, or a list that has one.
func hasNull(value []byte) bool {
	if value[0] != '[' {
		return value[0] == 'n'
	}
	for i := 1; ; {
		switch i = skipSpace(value, i); value[i] {
		case ']':
			return false
		case ',':
			i++
		case 'n':
			return true
		default:
			i = skipValue(value, i)
		}
	}
}

// kindOf names the kind of a value in valid JSON.
func kindOf(value []byte) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

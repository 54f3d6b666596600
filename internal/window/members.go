// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/input"
)

// element decodes one object strictly: every field is known, in its own case, is there once, and is
// not null, which could mean what an absent field does, or nothing at all.
func (p *parser) element(what string, raw json.RawMessage, into any) error {
	from, known := p.at, p.fieldsOf(reflect.TypeOf(into).Elem())
	err := p.object(what, from, raw, func(m member) error {
		if !slices.Contains(known, m.key) {
			return p.fail("%s: unknown field %q%s", what, m.key, input.Hint(m.key, known))
		}
		return p.nested(what, m)
	})
	if err != nil {
		return err
	}
	if p.at = from; json.Unmarshal(raw, into) == nil {
		return nil
	}
	return members(raw, func(m member) error { return p.decode(what, m, from, into) })
}

// object calls see for each member of an object that begins at at: p.at is where the member does.
// It makes sure that it is an object, with no name twice, and none that is null.
func (p *parser) object(what string, at int64, raw []byte, see func(member) error) error {
	if p.at = at; raw[0] != '{' {
		return p.fail("%s: expected an object, found %s", what, kindOf(raw))
	}
	names := memberNames{p: p, from: len(p.seen)}
	defer func() { p.seen = p.seen[:names.from] }()
	return members(raw, func(m member) error {
		p.at = at + int64(m.at)
		if names.has(m.key) {
			return p.fail("%s: %s: is there twice", what, m.key)
		}
		names.add(m.key)
		if hasNull(m.value) {
			return p.fail("%s: %s: is null: leave a field out that has no value", what, m.key)
		}
		return see(m)
	})
}

// fewNames is up to how many names of an object are compared one by one: most objects have fewer.
const fewNames = 32

// memberNames are the names of an object's members so far: the first few are in p.seen.
type memberNames struct {
	p    *parser
	from int
	more map[string]bool
}

func (m *memberNames) has(name string) bool {
	return slices.Contains(m.p.seen[m.from:], name) || m.more[name]
}

func (m *memberNames) add(name string) {
	switch {
	case len(m.p.seen)-m.from < fewNames:
		m.p.seen = append(m.p.seen, name)
	case m.more == nil:
		m.more = map[string]bool{name: true}
	default:
		m.more[name] = true
	}
}

// decode says what is wrong with a field, if anything is.
func (p *parser) decode(what string, m member, from int64, into any) error {
	err := json.Unmarshal(fmt.Appendf(nil, `{%q:%s}`, m.key, m.value), into)
	if err == nil {
		return nil
	}
	p.at = from + int64(m.at)
	var typ *json.UnmarshalTypeError
	if !errors.As(err, &typ) {
		return p.fail("%s: %s: %s", what, m.key, strings.TrimPrefix(err.Error(), "json: "))
	}
	want := "a whole number in range"
	switch typ.Type.Kind() {
	case reflect.Bool:
		want = "true or false"
	case reflect.String:
		want = "a text in quotes"
	case reflect.Slice:
		want = "a list"
	}
	return p.fail("%s: %s: %s is not %s", what, m.key, typ.Value, want)
}

// fieldsOf are the names of a struct's fields in JSON.
func (p *parser) fieldsOf(t reflect.Type) []string {
	if names, ok := p.fields[t]; ok {
		return names
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	p.fields[t] = names
	return names
}

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

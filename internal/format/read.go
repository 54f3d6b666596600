// SPDX-License-Identifier: BSD-3-Clause

package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/input"
)

// MaxBytes is the greatest size of a window file.
const MaxBytes = 256 << 20

// File is a window that was read, with where its elements are in the text.
type File struct {
	Window
	name   string
	text   []byte
	at     map[string][]int // by list: where its elements begin
	fields map[reflect.Type]map[string][]int
}

// Read reads a window; name is the file's name in errors. Form is checked: every field is known, in
// its own case, is there once, and has a value of its kind. What values mean is not.
func Read(r io.Reader, name string) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, MaxBytes)
	}
	if text, err = input.TrimMark(text); err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	f := &File{name: name, text: text, at: make(map[string][]int), fields: make(map[reflect.Type]map[string][]int)}
	if err := f.syntax(); err != nil {
		return nil, err
	}
	begin := skipSpace(text, 0)
	if kind := kindOf(text[begin:]); kind != "an object" {
		return nil, f.fail(begin, "a window is an object: found %s", kind)
	}
	if err := f.value(nil, begin, reflect.ValueOf(&f.Window).Elem()); err != nil {
		return nil, err
	}
	return f, nil
}

// syntax reports where the text is no JSON.
func (f *File) syntax() error {
	d := json.NewDecoder(bytes.NewReader(f.text))
	var raw json.RawMessage
	err := d.Decode(&raw)
	var syn *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return f.fail(len(f.text), "the file ends too early")
	case errors.As(err, &syn):
		return f.fail(int(max(syn.Offset-1, 0)), "%v", err)
	case err != nil:
		return f.fail(0, "%v", err)
	}
	if end := int(d.InputOffset()); len(bytes.TrimLeft(f.text[end:], " \t\r\n")) > 0 {
		return f.fail(end, "something follows the window")
	}
	return nil
}

// fail is an error about what is at an offset of the text.
func (f *File) fail(at int, format string, args ...any) error {
	return &fault{f.line(at) + fmt.Sprintf(format, args...), nil}
}

func (f *File) line(at int) string {
	return fmt.Sprintf("%s:%d: ", f.name, 1+bytes.Count(f.text[:min(at, len(f.text))], []byte{'\n'}))
}

// fault is an error in the words of a file.
type fault struct {
	text  string
	cause error
}

func (e *fault) Error() string { return e.text }
func (e *fault) Unwrap() error { return e.cause }

// Fault is what is wrong with element i of a list, in the words of err, with its line, or that of the
// field at fault; of the list as such if i is below 0. own is what err says of the element itself.
func (f *File) Fault(list string, i int, own *bids.FieldError, err error) error {
	switch {
	case i < 0:
		return &fault{f.line(0) + list + ": " + err.Error(), err}
	case own == nil:
		return &fault{f.line(f.at[list][i]) + list + f.label(i, f.at[list][i]) + ": " + err.Error(), err}
	}
	at := f.at[list][i]
	return &fault{f.line(f.locate(at, own.Field)) + list + f.label(i, at) + ": " + own.Error(), err}
}

// label is the number of an element that begins at an offset, and its id or name.
func (f *File) label(n, at int) string {
	if name := f.nameOf(at); name != "" {
		return fmt.Sprintf("[%d] (%.60s)", n, name)
	}
	return fmt.Sprintf("[%d]", n)
}

// nameOf is the id or the name of the element at an offset, "" if it has none.
func (f *File) nameOf(at int) (name string) {
	if f.text[at] != '{' {
		return ""
	}
	_ = members(f.text[at:], func(m member) error {
		if m.key == "id" || m.key == "name" {
			_ = json.Unmarshal(m.value, &name)
		}
		return nil
	})
	return name
}

// locate is where a field is of the object at an offset, or the innermost that there is around it.
func (f *File) locate(at int, path string) int {
	for path != "" && f.text[at] == '{' {
		key, rest := path, ""
		if i := strings.IndexAny(path, ".["); i >= 0 {
			key, rest = path[:i], path[i:]
		}
		begin := -1
		_ = members(f.text[at:], func(m member) error {
			if m.key == key {
				begin = m.begin
				if rest == "" {
					begin = m.at
				}
			}
			return nil
		})
		if begin < 0 {
			return at
		}
		at += begin
		var k int
		if n, _ := fmt.Sscanf(rest, "[%d]", &k); n == 1 {
			if at = f.item(at, k); f.text[at] != '{' {
				return at
			}
			_, rest, _ = strings.Cut(rest, "]")
		}
		path = strings.TrimPrefix(rest, ".")
	}
	return at
}

// item is where element k of the list at an offset begins, or the list where it has none.
func (f *File) item(at, k int) int {
	found := at
	_ = elements(f.text, at, func(n, i int) error {
		if n == k {
			found = i
		}
		return nil
	})
	return found
}

// elements calls see for each element of a list in valid JSON that begins at an offset.
func elements(text []byte, at int, see func(n, i int) error) error {
	if text[at] != '[' {
		return nil
	}
	for n, i := 0, at+1; ; n++ {
		if i = skipSpace(text, i); text[i] == ',' {
			i = skipSpace(text, i+1)
		}
		if text[i] == ']' {
			return nil
		}
		if err := see(n, i); err != nil {
			return err
		}
		i = skipValue(text, i)
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// structured reports whether a value of the type is an object, or a list of such, whose members are
// checked one by one.
func structured(t reflect.Type) bool {
	return !reflect.PointerTo(t).Implements(unmarshaler) && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map ||
		(t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer) && structured(t.Elem()))
}

// path is where a value is in a window: a member of what is above, or an element of it.
type path struct {
	above *path
	name  string // of a member
	n     int    // of an element
	at    int    // where the element of a list of the window begins
}

// list reports whether p is one of the window's lists.
func (p *path) list() bool { return p != nil && p.above == nil }

// in puts a path before an error's text.
func (f *File) in(p *path, text string) string {
	switch {
	case p == nil:
		return text
	case p.name != "":
		if strings.HasPrefix(text, "[") {
			return f.in(p.above, p.name+text)
		}
		return f.in(p.above, p.name+": "+text)
	case p.above.list():
		return fmt.Sprintf("%s%s: %s", p.above.name, f.label(p.n, p.at), text)
	}
	return f.in(p.above, fmt.Sprintf("[%d]: %s", p.n, text))
}

// value decodes an object, or a list of such. It reports the first member that is not known, that is
// there twice or null, and a value that is not of its kind.
func (f *File) value(p *path, at int, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice {
		if f.text[at] != '[' {
			return f.fail(at, "%s", f.in(p, "expected a list, found "+kindOf(f.text[at:])))
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return elements(f.text, at, func(n, i int) error {
			if p.list() {
				f.at[p.name] = append(f.at[p.name], i)
			}
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			return f.value(&path{p, "", n, i}, i, v.Index(n))
		})
	}
	if f.text[at] != '{' {
		return f.fail(at, "%s", f.in(p, "expected an object, found "+kindOf(f.text[at:])))
	}
	seen := make(map[string]bool)
	return members(f.text[at:], func(m member) error { return f.member(p, seen, at, &m, v) })
}

// member decodes a member of an object v that begins at at.
func (f *File) member(p *path, seen map[string]bool, at int, m *member, v reflect.Value) error {
	fail := func(format string, args ...any) error {
		return f.fail(at+m.at, "%s", f.in(p, fmt.Sprintf(format, args...)))
	}
	var of reflect.Value
	if v.Kind() == reflect.Map {
		of = reflect.New(v.Type().Elem()).Elem()
	} else if index, ok := f.fieldsOf(v.Type())[m.key]; ok {
		of = v.FieldByIndex(index)
	} else {
		return fail("unknown field %q%s", m.key, input.Hint(m.key, slices.Sorted(maps.Keys(f.fieldsOf(v.Type())))))
	}
	if seen[m.key] {
		return fail("%s: is there twice", m.key)
	}
	if seen[m.key] = true; hasNull(m.value) {
		return fail("%s: is null: leave a field out that has no value", m.key)
	}
	if structured(of.Type()) {
		if err := f.value(&path{above: p, name: m.key}, at+m.begin, of); err != nil {
			return err
		}
	} else if why := wrong(json.Unmarshal(m.value, of.Addr().Interface())); why != "" {
		return fail("%s: %s", m.key, why)
	}
	if v.Kind() == reflect.Map {
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(m.key), of)
	}
	return nil
}

// wrong is what is wrong with a value that could not be decoded, or "".
func wrong(err error) string {
	if err == nil {
		return ""
	}
	var typ *json.UnmarshalTypeError
	if !errors.As(err, &typ) {
		return strings.TrimPrefix(err.Error(), "json: ")
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
	return fmt.Sprintf("%s is not %s", typ.Value, want)
}

// fieldsOf are a struct's fields by their names in JSON.
func (f *File) fieldsOf(t reflect.Type) map[string][]int {
	known, ok := f.fields[t]
	if !ok {
		known = make(map[string][]int)
		for _, field := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
				known[name] = field.Index
			}
		}
		f.fields[t] = known
	}
	return known
}

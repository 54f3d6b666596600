// SPDX-License-Identifier: BSD-3-Clause

package format

import (
	"bytes"
	"cmp"
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
	tokens *json.Decoder    // of text
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
	begin := f.next(0)
	if kind := kindOf(text[begin:]); kind != "an object" {
		return nil, f.fail(begin, "a window is an object: found %s", kind)
	}
	f.tokens = json.NewDecoder(bytes.NewReader(text))
	return f, f.value(nil, reflect.ValueOf(&f.Window).Elem())
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

// Fault is what is wrong with element i of a list, in the words of err, with its line or that of
// the field at fault. If i is below 0 it is of the list. own is what err says of the element
// itself.
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
func (f *File) nameOf(at int) string {
	var x struct{ ID, Name string }
	_ = json.NewDecoder(bytes.NewReader(f.text[at:])).Decode(&x) // an element of another kind has none
	return cmp.Or(x.ID, x.Name)
}

// locate is where a field is of the object at an offset, or the innermost that there is around it.
func (f *File) locate(at int, path string) int {
	for path != "" {
		end := len(path)
		if i := strings.IndexAny(path[1:], ".["); i >= 0 {
			end = i + 1
		}
		found, begin := -1, 0
		f.each(at, func(key string, from, value int) {
			if key == path[:end] {
				found, begin = from, value
			}
		})
		path = strings.TrimPrefix(path[end:], ".")
		if found < 0 {
			return at
		}
		if at = begin; path == "" {
			return found
		}
	}
	return at
}

// each calls see for each member of an object or element of a list, of which the offset is given.
// key is the name, or the number in brackets; from and value are where it and its value begin.
func (f *File) each(at int, see func(key string, from, value int)) {
	d := json.NewDecoder(bytes.NewReader(f.text[at:]))
	open, _ := d.Token()
	if _, ok := open.(json.Delim); !ok {
		return
	}
	for n := 0; d.More(); n++ {
		key, from := fmt.Sprintf("[%d]", n), f.next(at+int(d.InputOffset()))
		value := from
		if open == json.Delim('{') {
			name, _ := d.Token()
			key, value = fmt.Sprint(name), f.next(at+int(d.InputOffset()))
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return
		}
		see(key, from, value)
	}
}

// next is where the next value or key begins, from the end of one before it on.
func (f *File) next(i int) int {
	for i < len(f.text) && strings.IndexByte(" \t\r\n,:", f.text[i]) >= 0 {
		i++
	}
	return i
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

const isNull = "is null: leave a field out that has no value"

// value decodes the object, or the list of such, that comes next. It reports the first member that is
// not known, that is there twice or null, and a value that is not of its kind.
func (f *File) value(p *path, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	at, open, kind := f.next(int(f.tokens.InputOffset())), byte('{'), "an object"
	if v.Kind() == reflect.Slice {
		open, kind = '[', "a list"
	}
	if f.text[at] != open {
		return f.fail(at, "%s", f.in(p, "expected "+kind+", found "+kindOf(f.text[at:])))
	}
	read := f.members
	if open == '[' {
		read = f.elements
	}
	_, err := f.tokens.Token()
	if err == nil {
		err = read(p, v)
	}
	if err == nil {
		_, err = f.tokens.Token()
	}
	return err
}

// elements decodes those of a list up to its end.
func (f *File) elements(p *path, v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for n := 0; f.tokens.More(); n++ {
		at := f.next(int(f.tokens.InputOffset()))
		if p.list() {
			f.at[p.name] = append(f.at[p.name], at)
		}
		if f.text[at] == 'n' {
			return f.fail(at, "%s", f.in(p, isNull))
		}
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		if err := f.value(&path{p, "", n, at}, v.Index(n)); err != nil {
			return err
		}
	}
	return nil
}

// members decodes those of an object up to its end.
func (f *File) members(p *path, v reflect.Value) error {
	seen := make(map[string]bool)
	for f.tokens.More() {
		at := f.next(int(f.tokens.InputOffset()))
		key, err := f.tokens.Token()
		if err != nil {
			return err
		}
		if err := f.member(p, at, key.(string), seen, v); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere are hints for what other schedulers call fields of windows.
var elsewhere = map[string]string{
	"memory": `; did you mean "resources" of a node, or "uses" of a job?`,
	"tres":   `; did you mean "resources" of a node, or "uses" of a job?`,
	"gres":   `; did you mean "gpus" of a node, or "gpus_per_node" of a job?`,
	"ncpus":  `; did you mean "cores"?`,
}

// member decodes the value of a member that begins at an offset.
func (f *File) member(p *path, at int, key string, seen map[string]bool, v reflect.Value) error {
	fail := func(format string, args ...any) error {
		return f.fail(at, "%s", f.in(p, fmt.Sprintf(format, args...)))
	}
	var of reflect.Value
	if v.Kind() == reflect.Map {
		of = reflect.New(v.Type().Elem()).Elem()
	} else if index, ok := f.fieldsOf(v.Type())[key]; ok {
		of = v.FieldByIndex(index)
	} else {
		near := input.Hint(key, slices.Sorted(maps.Keys(f.fieldsOf(v.Type()))))
		return fail("unknown field %q%s", key, cmp.Or(elsewhere[key], near))
	}
	if seen[key] {
		return fail("%s: is there twice", key)
	}
	seen[key] = true
	if f.text[f.next(int(f.tokens.InputOffset()))] == 'n' {
		return fail("%s: %s", key, isNull)
	}
	if structured(of.Type()) {
		if err := f.value(&path{above: p, name: key}, of); err != nil {
			return err
		}
	} else {
		var raw json.RawMessage
		var list []json.RawMessage
		if err := f.tokens.Decode(&raw); err != nil {
			return err
		}
		_ = json.Unmarshal(raw, &list) // or there are no elements
		if slices.ContainsFunc(list, func(x json.RawMessage) bool { return x[0] == 'n' }) {
			return fail("%s: %s", key, isNull)
		}
		if why := wrong(json.Unmarshal(raw, of.Addr().Interface())); why != "" {
			return fail("%s: %s", key, why)
		}
	}
	if v.Kind() == reflect.Map {
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(key), of)
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
	want := "a whole number in range, in digits alone"
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

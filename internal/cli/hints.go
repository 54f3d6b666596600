// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/input"
)

// Unknown is the error of a value that is not in known.
func Unknown(what, value string, known []string) error {
	list, hint := strings.Join(known, ", "), input.Hint(value, known)
	return BadInput(fmt.Errorf("%s: %q is unknown; known are %s%s", what, value, list, hint))
}

// Did adds to an error of a value what the value was meant to be. Of nil it makes nil.
func Did(err error, value string, known []string) error {
	if hint := input.Hint(value, known); err != nil && hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}

// seeHelp adds to an error where it is said how the command is used. Of nil it makes nil.
func seeHelp(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return BadInput(fmt.Errorf("%w (see %s --help)", err, c.CommandPath()))
}

// noCommand is the error of a word that is no command below c.
func noCommand(c *cobra.Command, word string) error {
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	hint := input.Hint(word, known)
	return seeHelp(c, fmt.Errorf("unknown command %q for %q%s", word, c.CommandPath(), hint))
}

// What pflag says of mistakes.
var (
	noFlag   = regexp.MustCompile(`^unknown (?:flag: (--\S+)|shorthand flag: .* in (-\S+))$`)
	noValue  = regexp.MustCompile(`^flag needs an argument: (?:(--\S+)|'(.)' in -\S+)$`)
	badValue = regexp.MustCompile(`(?s)^invalid argument (".*") for "(?:-., )?--(\S+)" flag: (.*)$`)
	badFlag  = regexp.MustCompile(`(?s)^bad flag syntax: (.*)$`)
)

// flagError is what is said of a mistake in the flags of c.
func flagError(c *cobra.Command, err error) error {
	said := err.Error()
	if m := noValue.FindStringSubmatch(said); m != nil {
		if f := c.Flags().ShorthandLookup(m[2]); m[2] != "" && f != nil {
			m[1] = "--" + f.Name
		}
		return seeHelp(c, fmt.Errorf("%s: its value is missing", m[1]))
	}
	if m := badValue.FindStringSubmatch(said); m != nil {
		return seeHelp(c, fmt.Errorf("--%s: %s: %s", m[2], m[1], Expected(c.Flags().Lookup(m[2]), m[3])))
	}
	if m := badFlag.FindStringSubmatch(said); m != nil {
		return seeHelp(c, fmt.Errorf("%q is no flag", m[1]))
	}
	m := noFlag.FindStringSubmatch(said)
	if m == nil {
		return seeHelp(c, err)
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	return seeHelp(c, fmt.Errorf("unknown flag: %s%s", m[1]+m[2], input.Hint(m[1]+m[2], known)))
}

// Expected is what a value of a flag must be, where why is what Go's parser says, or else why.
func Expected(f *pflag.Flag, why string) string {
	if strings.HasSuffix(why, "value out of range") {
		return "is out of range"
	}
	for kind, must := range map[string]string{"uint": "a whole number, 0 or more", "int": "a whole number", "count": "a whole number",
		"float": "a number", "duration": "a time with its unit, such as 500ms, 10s, 5m, or 24h for a day", "bool": "true or false"} {
		if f != nil && strings.HasPrefix(f.Value.Type(), kind) {
			return "must be " + must
		}
	}
	return why
}

// Words is the text of err. Errors of files say in it what was asked for, not by which call:
// "w.json: there is no such file" in place of "open w.json: no such file or directory".
func Words(err error) string {
	text := err.Error()
	for err != nil {
		if of, ok := err.(*fs.PathError); ok {
			before, after, found := strings.Cut(text, of.Error())
			if found {
				return strings.TrimSuffix(before, of.Path+": ") + aboutFile(of, after == "") + after
			}
			return text
		}
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range several.Unwrap() {
				text = strings.Replace(text, one.Error(), Words(one), 1)
			}
			return text
		}
		err = errors.Unwrap(err)
	}
	return text
}

// aboutFile is an error of a file, with what may help unless others say that.
func aboutFile(of *fs.PathError, helps bool) string {
	switch {
	case errors.Is(of, fs.ErrNotExist):
		return of.Path + ": there is no such file"
	case errors.Is(of, syscall.EISDIR):
		return of.Path + ": is a directory: name a file"
	case errors.Is(of, fs.ErrPermission) && helps:
		return of.Path + ": permission denied: its owner or root may allow it"
	}
	return fmt.Sprintf("%s: %v", of.Path, of.Err)
}

// inputError is the user's mistake: a flag, an argument or what a file says.
type inputError struct{ err error }

func (e inputError) Error() string { return e.err.Error() }
func (e inputError) Unwrap() error { return e.err }

// BadInput marks err as the user's mistake. Of nil it makes nil.
func BadInput(err error) error {
	if err == nil {
		return nil
	}
	return inputError{err}
}

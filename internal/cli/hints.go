// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/nearest"
)

// Unknown is the error of a value that is none of known.
func Unknown(what, value string, known []string) error {
	list, hint := strings.Join(known, ", "), nearest.Hint(value, known)
	return BadInput(fmt.Errorf("%s: %q is unknown; known are %s%s", what, value, list, hint))
}

// Did adds to an error of a value what the value was meant to be. Of nil it makes nil.
func Did(err error, value string, known []string) error {
	if hint := nearest.Hint(value, known); err != nil && hint != "" {
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
	hint := nearest.Hint(word, known)
	return seeHelp(c, fmt.Errorf("unknown command %q for %q%s", word, c.CommandPath(), hint))
}

// noFlag finds the flag that pflag's errors say is unknown.
var noFlag = regexp.MustCompile(`^unknown (?:flag: (--\S+)|shorthand flag: .* in (-\S+))$`)

// flagError is what is said of a mistake in the flags of c.
func flagError(c *cobra.Command, err error) error {
	m := noFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return seeHelp(c, err)
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	return seeHelp(c, fmt.Errorf("%w%s", err, nearest.Hint(m[1]+m[2], known)))
}

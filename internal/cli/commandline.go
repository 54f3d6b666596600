// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CommandLine is the command with the flags that decide what comes out, in
// alphabetical order.
func CommandLine(c *cobra.Command) string {
	line := c.CommandPath()
	c.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "html", "jobs-csv", "json", "verbose":
			return
		}
		value := f.Value.String()
		if strings.ContainsAny(value, " \t\n'\"\\$&;<>()|*?#~`") {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		line += " --" + f.Name
		if f.Value.Type() != "bool" || value != "true" {
			line += "=" + value
		}
	})
	return line
}

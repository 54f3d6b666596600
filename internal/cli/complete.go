// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CompleteFlag has the shell offer these values of a flag, if the command has it.
func CompleteFlag(c *cobra.Command, flag string, values ...string) {
	complete(c, flag, func(_ *cobra.Command, _ []string, begun string,
	) ([]string, cobra.ShellCompDirective) {
		return beginning(values, begun), cobra.ShellCompDirectiveNoFileComp
	})
}

// CompleteArgs has the shell offer words as arguments, each once.
func CompleteArgs(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string,
	) ([]string, cobra.ShellCompDirective) {
		given := func(w string) bool { return slices.Contains(args, w) }
		left := slices.DeleteFunc(slices.Clone(words), given)
		return beginning(left, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFile has the shell offer files whose names end so as the only argument.
func CompleteFile(endings ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// beginning are the words that begin so, which not every shell looks at itself.
func beginning(words []string, begun string) (list []string) {
	for _, w := range words {
		if strings.HasPrefix(w, begun) {
			list = append(list, w)
		}
	}
	return list
}

// complete registers how a flag is completed, if the command has it.
func complete(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if c.Flags().Lookup(flag) != nil {
		_ = c.RegisterFlagCompletionFunc(flag, f) // fails for flags that there are not
	}
}

// noFiles keeps the shell from offering files for numbers, and as arguments that nobody has said
// how to complete.
func noFiles(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "string", "stringSlice", "bool":
			return
		}
		if _, ok := c.GetFlagCompletionFunc(f.Name); !ok {
			complete(c, f.Name, cobra.NoFileCompletions)
		}
	})
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range c.Commands() {
		noFiles(sub)
	}
}

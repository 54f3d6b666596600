// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"cmp"
	"os"
	"path/filepath"
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

// CompleteFlagList is CompleteFlag for a flag that takes several values, with commas.
func CompleteFlagList(c *cobra.Command, flag string, values ...string) {
	complete(c, flag, func(_ *cobra.Command, _ []string, begun string,
	) ([]string, cobra.ShellCompDirective) {
		given := begun[:strings.LastIndexByte(begun, ',')+1]
		var list []string
		for _, v := range values {
			if !slices.Contains(strings.Split(given, ","), v) {
				list = append(list, given+v)
			}
		}
		return beginning(list, begun), cobra.ShellCompDirectiveNoFileComp |
			cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
	})
}

// CompleteFlagFile has the shell offer some values of a flag and files whose names end in one of
// endings, without a dot at the beginning.
func CompleteFlagFile(c *cobra.Command, flag string, values []string, endings ...string) {
	complete(c, flag, func(_ *cobra.Command, _ []string, begun string,
	) ([]string, cobra.ShellCompDirective) {
		return offered(begun, values, endings)
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
	return func(_ *cobra.Command, args []string, begun string,
	) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offered(begun, nil, endings)
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

// offered are the values and files that begin so. A directory is gone into, so that no space may
// follow where there is one.
func offered(begun string, values, endings []string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	list := beginning(values, begun)
	dir, name := filepath.Split(begun)
	entries, _ := os.ReadDir(cmp.Or(dir, ".")) // if that fails there are no files to offer
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".")
		info, err := os.Stat(filepath.Join(dir, e.Name())) // of what a link leads to
		switch {
		case err != nil || hidden || !strings.HasPrefix(e.Name(), name):
		case info.IsDir():
			list = append(list, dir+e.Name()+string(filepath.Separator))
			directive |= cobra.ShellCompDirectiveNoSpace
		case slices.ContainsFunc(endings, func(end string) bool {
			return strings.HasSuffix(strings.ToLower(e.Name()), "."+end)
		}):
			list = append(list, dir+e.Name())
		}
	}
	return list, directive
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

// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/docs/schemas"
	"github.com/aucsched/aucsched/internal/cli"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema NAME",
		Short: "Print the JSON Schema of what aucsched reads or prints",
		Long: `schema prints a JSON Schema (draft 2020-12) of the window that plan and explain read, or of
what a command prints with --json.

NAME is ` + strings.Join(schemas.Names(), ", ") + `.`,
		Example: "  aucsched schema window >window.schema.json",
		Args:    cli.ExactArgs(1),

		ValidArgsFunction: func(c *cobra.Command, args []string, begun string,
		) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return cli.CompleteArgs(schemas.Names()...)(c, args, begun)
		},
		RunE: func(c *cobra.Command, args []string) error {
			text, ok := schemas.Text(args[0])
			if !ok {
				return cli.Unknown("schema", args[0], schemas.Names())
			}
			_, err := c.OutOrStdout().Write(text)
			return err
		},
	}
}

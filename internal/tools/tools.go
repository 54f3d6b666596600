//go:build tools

// Package tools names the modules that only some builds import.
package tools

import (
	_ "github.com/bartolsthoorn/gohighs/highs"
	_ "github.com/lanl/highs"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/cobra"
	_ "github.com/stretchr/testify/require"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "pgregory.net/rapid"
)

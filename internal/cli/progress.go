// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// IsTerminal tells whether what is written to w is seen at once.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// NewBar draws a bar of most steps on a terminal, for what takes long; elsewhere it is nil. It
// goes when it is full, or cleared.
func NewBar(errs io.Writer, most int, of string, more ...progressbar.Option) *progressbar.ProgressBar {
	if !IsTerminal(errs) {
		return nil
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(errs), progressbar.OptionSetDescription(of), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(200 * time.Millisecond), progressbar.OptionClearOnFinish(),
	}
	return progressbar.NewOptions(most, append(options, more...)...)
}

// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// Daemon is the annotation of a command that runs on its own, and whose log programs read: it has
// slog's form, with the time. Other commands print warnings as they print errors.
const Daemon = "daemon"

// setLog makes the log that the command c writes to standard error.
func setLog(c *cobra.Command, level slog.Level) {
	if _, daemon := c.Annotations[Daemon]; daemon {
		slog.SetDefault(slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: level})))
		return
	}
	slog.SetDefault(slog.New(&warnings{out: c.ErrOrStderr(), level: level, mu: new(sync.Mutex)}))
}

// warnings is a log for people: "aucsched: warning: MESSAGE (KEY VALUE, ...)", a line each.
type warnings struct {
	out   io.Writer
	level slog.Level
	mu    *sync.Mutex
	attrs []slog.Attr
}

func (w *warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= w.level }

func (w *warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *w
	with.attrs = append(attrs, w.attrs...)
	return &with
}

// WithGroup has no groups: nobody here makes one.
func (w *warnings) WithGroup(string) slog.Handler { return w }

func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	var details []string
	add := func(a slog.Attr) bool {
		details = append(details, a.Key+" "+a.Value.String())
		return true
	}
	for _, a := range w.attrs {
		add(a)
	}
	r.Attrs(add)
	text := r.Message
	if len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	if r.Level >= slog.LevelWarn {
		text = "warning: " + text
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := fmt.Fprintf(w.out, "aucsched: %s\n", Plain(strings.ReplaceAll(text, "\n", " ")))
	return err
}

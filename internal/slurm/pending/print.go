// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// maxPrinted is how many holders are printed; JSON has all.
const maxPrinted = 12

// Print prints an answer; plain makes other people's text safe for a terminal.
func (x *Answer) Print(out io.Writer, plain func(string) string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "job %s (%s, %s, partition %s)", plain(x.Job), plain(x.Name), plain(x.User), plain(x.Partition))
	if x.Kind == NotWaiting {
		fmt.Fprintf(&b, ": %s\n", plain(x.Means))
		_, err := io.WriteString(out, b.String())
		return err
	}
	fmt.Fprintf(&b, " waits\n  Slurm says:    %s\n  that is:       %s\n", plain(x.Reason), plain(x.Means))
	for _, f := range x.Facts {
		fmt.Fprintf(&b, "                 %s\n", plain(f))
	}
	if v := x.Auction; v != nil {
		said := v.Word
		if v.Left != "" {
			said += " (" + v.Left + ")"
		}
		fmt.Fprintf(&b, "  auction says:  %s%s: %s\n", plain(said), since(v.Since), plain(v.Meaning))
		if len(v.LostTo) > 0 {
			fmt.Fprintf(&b, "                 lost at %s to %s\n", clock(v.LostAt), plain(strings.Join(v.LostTo, ", ")))
		}
	}
	var held []string
	for _, h := range x.Holders[:min(len(x.Holders), maxPrinted)] {
		held = append(held, fmt.Sprintf("job %s of %s on %s, %s", h.Job, h.User, h.Nodes, until(h.Until)))
	}
	if more := len(x.Holders) - maxPrinted; more > 0 {
		held = append(held, fmt.Sprintf("and %d more", more))
	}
	list := func(title string, lines []string) {
		for _, line := range lines {
			fmt.Fprintf(&b, "  %-14s %s\n", title, plain(line))
			title = ""
		}
	}
	list("held by:", held)
	if !x.Expected.IsZero() {
		list("expected:", []string{clock(x.Expected)})
	}
	list("would help:", x.Helps)
	_, err := io.WriteString(out, b.String())
	return err
}

func since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " since " + clock(t)
}

func until(t time.Time) string {
	if t.IsZero() {
		return "without a time limit"
	}
	return "until " + clock(t) + " at the latest"
}

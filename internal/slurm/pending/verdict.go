// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Verdict is what the auction says of a waiting job.
type Verdict struct {
	Word    string `json:"word"`           // fit, lost, kept, left, ...: see docs/slurm.md
	Left    string `json:"left,omitempty"` // with "left": the word of docs/slurm.md's table
	Meaning string `json:"meaning"`
	// Change is what the user can change so that the auction decides it; "" if there is nothing.
	Change string `json:"change,omitempty"`
	// LostTo are the jobs that last won nodes that it could have used, at LostAt. "others" are such
	// as can't be named, or further ones.
	LostTo []string  `json:"lost_to,omitempty"`
	LostAt time.Time `json:"lost_at,omitzero"`
	Since  time.Time `json:"since,omitzero"`
}

// noteKey begins the part of SystemComment that is the plug-in's.
const noteKey = "auc:why="

// parseVerdict reads the note in a job's SystemComment; nil if there is none.
func parseVerdict(comment string) *Verdict {
	for part := range strings.SplitSeq(comment, ";") {
		if note, ok := strings.CutPrefix(strings.TrimSpace(part), noteKey); ok {
			return readNote(strings.Fields(note))
		}
	}
	return nil
}

func readNote(words []string) *Verdict {
	if len(words) == 0 {
		return nil
	}
	v := &Verdict{Word: words[0]}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		switch {
		case !ok:
			v.Left = w
		case key == "since":
			v.Since = unix(value)
		case key == "lost":
			jobs, at, _ := strings.Cut(value, "@")
			v.LostTo, v.LostAt = strings.Split(jobs, ","), unix(at)
			v.LostTo = slices.DeleteFunc(v.LostTo, func(id string) bool { return id != "others" && !IsJobID(id) })
		}
	}
	v.Meaning, v.Change = meaning(v)
	return v
}

func unix(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// A word of the auction's, in plain words.
type word struct{ meaning, change string }

func meaning(v *Verdict) (text, change string) {
	w, ok := verdicts[v.Word]
	if v.Word == "left" {
		w, ok = left[v.Left]
		if w.meaning != "" {
			w.meaning = "it is left to Slurm's own schedulers: " + w.meaning
		}
	}
	if !ok {
		return "this aucsched does not know the word", ""
	}
	return w.meaning, w.change
}

// verdicts are the words beside "left".
var verdicts = map[string]word{
	"fit":      {"it bids, and nothing that is free suits it", ""},
	"lost":     {"its bids lost: other jobs are worth more together", ""},
	"kept":     {"nothing that is free suits it, and a place is kept for it", ""},
	"late":     {"the deadline of a decision (auc_deadline_ms) came before the job's turn; it is decided next time", ""},
	"quota":    {"with the jobs that come before it, a limit or licences would be exceeded", ""},
	"behind":   {"it is behind the jobs that take part in the auction (auc_window), and waits until it has come so far", ""},
	"nodes":    {"the nodes that it may use are kept for jobs that come before it, or can't take it now", ""},
	"preempts": {"it has won a place, and starts when the jobs there that are preempted for it have ended", ""},
}

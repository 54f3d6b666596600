// SPDX-License-Identifier: BSD-3-Clause

package alternatives

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/slurm/inputs"
	"github.com/aucsched/aucsched/internal/slurm/params"
)

// Submission is what a job asks for as it is submitted, or changed, in Slurm's texts.
type Submission struct {
	Params                string // SchedulerParameters
	Script                string
	Gres                  string // on each node
	Prefix                string // what Slurm puts before a name there
	Comment, AdminComment string
	Nodes                 string // their GPUs: see ReadGPUs
	CPUsPerTask           int
	Change                bool // and not a submission
	WrongGres             bool // the error of Take is about GPUs
}

// Notes in a job's AdminComment are parts KEY=VALUE of it, with ';' between them and what others have written there.
const (
	rangeNote        = "auc:gpu=" // in a submission's comment: the GPUs that it asks for, with a range: "1-3,a100:2"
	alternativesNote = "auc:alt="
	firstNote        = "auc:first="
	mostNotes        = 1024 // bytes, as of other texts of a job: Slurm bounds all but this one
)

// Take moves what only the auction reads into notes for the job's record: a range of GPUs, and the alternatives of
// a script. Slurm is asked for the low end of the range, which is returned. Of a change nothing is noted: Slurm
// may refuse it. An error has the words for the user.
func (s *Submission) Take() (r Range, err error) {
	p, before := params.Read(s.Params), len(s.AdminComment)
	if p.Locality != 0 { // else the word input= is not ours
		if _, err = inputs.Read(s.Comment); err != nil {
			return r, err
		}
	}
	if !s.Change {
		if err = s.takeAlternatives(p.Alternatives != 0, p.GPURanges != 0); err != nil {
			return r, err
		}
		s.fromComment()
	}
	if r, err = s.takeRange(p.GPURanges != 0); err != nil {
		s.WrongGres = true
		return Range{}, err
	}
	if more := len(s.AdminComment) - before; more > mostNotes {
		return Range{}, fmt.Errorf("aucsched: the alternatives and the range of GPUs take %d bytes of the job's AdminComment, "+
			"and can take %d: leave some out", more, mostNotes)
	}
	return r, nil
}

func (s *Submission) takeAlternatives(alternatives, ranges bool) error {
	s.AdminComment = drop(drop(s.AdminComment, alternativesNote), firstNote)
	note, err := Note(s.Script, max(s.CPUsPerTask, 1), ReadGPUs(s.Nodes), ranges)
	switch {
	case err != nil:
		return err
	case note == "":
	case !alternatives:
		return errors.New("aucsched: this cluster takes no alternative requests (auc_alternatives=no)")
	default:
		s.AdminComment = set(s.AdminComment, alternativesNote, note)
	}
	return nil
}

// fromComment adds the GPUs that a client's filter, cli_filter/aucsched, put into the comment.
func (s *Submission) fromComment() {
	for part := range strings.SplitSeq(s.Comment, ";") {
		if gpus, ok := strings.CutPrefix(part, rangeNote); ok {
			for _, each := range strings.FieldsFunc(gpus, func(r rune) bool { return r == ',' }) {
				if s.Gres != "" {
					s.Gres += ","
				}
				s.Gres += s.Prefix + "gpu:" + each
			}
			break
		}
	}
	s.Comment = drop(s.Comment, rangeNote)
}

func (s *Submission) takeRange(ranges bool) (Range, error) {
	r, err := ReadGPUs(s.Nodes).Range(s.Gres)
	if err == nil && r.High > 0 && !ranges {
		err = errors.New("aucsched: this cluster takes no ranges of GPUs (auc_gpu_ranges=no)")
	}
	if err != nil {
		return r, err
	}
	if r.High > 0 {
		s.Gres = s.Gres[:r.at] + strconv.Itoa(r.Low) + s.Gres[r.end:]
	}
	if s.Change {
		return r, nil
	}
	if s.AdminComment = drop(s.AdminComment, rangeNote); r.High > 0 {
		s.AdminComment = set(s.AdminComment, rangeNote, strings.TrimPrefix(fmt.Sprintf("%s:%d-%d", r.Type, r.Low, r.High), ":"))
	}
	return r, nil
}

// drop takes all notes with the key out of a comment.
func drop(comment, key string) string {
	parts := slices.DeleteFunc(strings.Split(comment, ";"), func(p string) bool { return strings.HasPrefix(p, key) })
	return strings.Join(parts, ";")
}

// set adds a note to a comment, in place of those with the key.
func set(comment, key, value string) string {
	if comment = drop(comment, key); comment != "" {
		comment += ";"
	}
	return comment + key + value
}

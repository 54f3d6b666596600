// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What "scontrol show job" prints has no quotes, and users may fill some fields with anything, line
// breaks too. So a job's record is read by its layout, which is the same from Slurm 22.05 to 26.05:
//
//	JobId=7 ArrayJobId=... JobName=TEXT
//	   UserId=NAME(UID) GroupId=NAME(GID) MCS_label=TEXT
//	   ...                                  the body, each line with a first key of its own
//	   Command=TEXT
//	   ...                                  the tail: texts, and what is asked for by TRES

// userTexts are such fields, as squeue names them and as they begin in scontrol, in that order.
var userTexts = []struct{ squeue, begin string }{{"Name", " JobName="}, {"WCKey", " WCKey="}, {"Network", " Network="},
	{"Command", "\n   Command="}, {"WorkDir", "\n   WorkDir="}, {"admin_comment", "\n   AdminComment="}, {"Comment", "\n   Comment="}}

// flatten replaces line breaks in texts of users. Squeue says what these are: between them it
// prints a word that nobody can know. If it says nothing the texts stay.
func flatten(ctx context.Context, run Run, id, text string) string {
	end := "x" + rand.Text()
	var format []string
	for _, t := range userTexts {
		format = append(format, t.squeue+":"+end)
	}
	out, err := run(ctx, "squeue", "-h", "-t", "all", "-j", id, "-O", strings.Join(format, ","))
	if err != nil {
		return text
	}
	values := strings.Split(out, end)
	for i, value := range values[:len(values)-1] {
		t := userTexts[i%len(userTexts)]
		if i > 0 && i%len(userTexts) == 0 {
			value = strings.TrimPrefix(value, "\n") // of the line before
		}
		if strings.Contains(value, "\n") {
			text = strings.Replace(text, t.begin+value, t.begin+strings.ReplaceAll(value, "\n", `\n`), 1)
		}
	}
	return text
}

var (
	firstLine = regexp.MustCompile(`^JobId=[0-9]{1,10} (Array|Het|JobName=)`)
	userLine  = regexp.MustCompile(`^   UserId=.+\([0-9]{1,10}\) GroupId=.+\([0-9]{1,10}\) ?`)
	lineHead  = regexp.MustCompile(`^   ([A-Za-z/:]+)=`)
)

// headOf is the first key of a line; "" if there is none.
func headOf(line string) string {
	if k := lineHead.FindStringSubmatch(line); k != nil {
		return k[1]
	}
	return ""
}

// parseJobs reads the records of the job that was asked for: of an array or a heterogeneous job
// there may be several.
func parseJobs(text, id string) (all []fields, err error) {
	lines := strings.Split(strings.TrimLeft(text, "\n"), "\n")
	if !firstLine.MatchString(lines[0]) {
		return nil, fmt.Errorf("job %s: Slurm shows no such job to you", id)
	}
	starts := []int{0}
	if several := parseHeader(lines[0]); several["ArrayJobId"] != "" || several["HetJobId"] != "" {
		for i := 1; i < len(lines); i++ {
			if lines[i-1] == "" && firstLine.MatchString(lines[i]) {
				starts = append(starts, i)
			}
		}
	}
	for k, from := range starts {
		f, err := parseJob(lines[from:append(starts, len(lines))[k+1]])
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", id, err)
		}
		asked := id[:strings.IndexFunc(id+".", func(r rune) bool { return r < '0' || r > '9' })]
		if f["JobId"] != asked && f["ArrayJobId"] != asked && f["HetJobId"] != asked {
			return nil, fmt.Errorf("job %s: Slurm shows job %s instead", id, f["JobId"])
		}
		all = append(all, f)
	}
	return all, nil
}

// parseHeader reads a first line: what comes before the name is Slurm's.
func parseHeader(line string) fields {
	f := fields{}
	AddFields(f, line)
	return f
}

// ofFirst are keys that only a first line has, and ofTail those that are wanted of the tail, where
// one that comes twice is nothing to rely on.
var (
	ofFirst = []string{"JobId", "ArrayJobId", "ArrayTaskId", "ArrayTaskThrottle", "HetJobId", "HetJobOffset", "JobName"}
	ofTail  = []string{"SystemComment", "TresPerNode", "TresPerJob"}
)

// parseJob reads the lines of one record.
func parseJob(lines []string) (fields, error) {
	f := parseHeader(lines[0])
	begin, err := bodyOf(lines)
	if err != nil {
		return nil, err
	}
	end := len(lines)
	if i := slices.IndexFunc(lines[begin:], isCommand); i >= 0 {
		end = begin + i
	}
	heads := map[string]int{}
	for _, line := range lines[begin:] {
		heads[headOf(line)]++
	}
	for i, line := range lines[begin:] {
		switch head := headOf(line); {
		case head == "":
		case heads[head] > 1 && (begin+i < end || head == "Command"):
			return nil, errTwoWays
		case begin+i < end, heads[head] == 1 && slices.Contains(ofTail, head):
			AddFields(f, line)
		}
	}
	for _, key := range ofFirst {
		f[key] = parseHeader(lines[0])[key]
	}
	if f["Priority"] == "" || f["JobState"] == "" {
		return nil, errors.New("its record has no priority or no state")
	}
	return f, nil
}

var errTwoWays = errors.New("its record can be read in two ways: somebody has put line breaks into its name or another text")

func isCommand(line string) bool { return strings.HasPrefix(line, "   Command=") }

// bodyOf is the line where the body begins. Of several that look like it the last is the right one
// if all before belongs to the name: nothing else that a user fills is there.
func bodyOf(lines []string) (int, error) {
	first, last := -1, -1
	for i, line := range lines {
		if userLine.MatchString(line) {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return 0, errors.New("its record has no user")
	}
	for _, line := range lines[1:last] {
		if first < last && (isCommand(line) || strings.HasPrefix(line, "   Partition=") || strings.Contains(line, " WCKey=")) {
			return 0, errTwoWays
		}
	}
	return last, nil
}

var jobID = regexp.MustCompile(`^[0-9]{1,10}(_[0-9]{1,10}|\+[0-9]{1,5})?$`)

// IsJobID says whether a text can be the id of a job: 12, 12_3 of an array, 12+1 of
// a heterogeneous job.
func IsJobID(text string) bool { return jobID.MatchString(text) }

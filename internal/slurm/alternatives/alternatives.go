// SPDX-License-Identifier: BSD-3-Clause

// Package alternatives reads the alternative requests of a job: lines of its script such as
//
//	#AUCSCHED --alternative --nodes=4 --ntasks-per-node=8 --gres=gpu:2
//
// before the first command, one line an alternative. job_submit/aucsched notes them on the job.
package alternatives

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Most is how many alternatives a job can have; the library takes as many.
const Most = 8

// What the auction counts with, and fields of a job's record hold.
const (
	mostNodes       = 1 << 20
	mostPerNode     = 65000
	mostGPUs        = 15
	mostCPUs        = 1<<31 - 1
	mostCPUsPerNode = 1<<16 - 1
)

const magic = "#AUCSCHED"

// mostWord is so much of a word that is wrong as is told.
const mostWord = 60

// request is an alternative: what it does not name, the job does not ask for when it starts with it.
type request struct {
	tasks, minNodes, maxNodes int // maxNodes 0: any
	perNode                   int // tasks on each node; 0: any
	low, high                 int // GPUs on each node; 0, 0: none
	kind                      string
	contiguous                bool
}

// note is what the plug-ins read; '/' is between two.
func (r *request) note() string {
	text := fmt.Sprintf("n%d,N%d-%d", r.tasks, r.minNodes, r.maxNodes)
	if r.perNode > 0 {
		text += fmt.Sprintf(",t%d", r.perNode)
	}
	if r.kind != "" {
		text += fmt.Sprintf(",gpu:%s:%d-%d", r.kind, r.low, r.high)
	} else if r.high > 0 {
		text += fmt.Sprintf(",gpu:%d-%d", r.low, r.high)
	}
	if r.contiguous {
		text += ",contiguous"
	}
	return text
}

// Noted is an alternative as the plug-ins have it: a whole request, of which aucsched.h tells. Tasks is 0 if its
// CPUs are no numbers that a job's record holds.
type Noted struct {
	Tasks, MinNodes, MaxNodes, PerNode, Contiguous uint32
	Low, High                                      uint32
	Type                                           [64]byte
}

// Read reads a note of alternatives, of a job whose tasks have so many CPUs now; none if it is not of Note.
func Read(note string, cpusPerTask int) (all []Noted) {
	for text := range strings.SplitSeq(note, "/") {
		r, ok := readNote(text)
		if !ok || len(all) == Most {
			return nil
		}
		n := Noted{MinNodes: uint32(r.minNodes), MaxNodes: uint32(r.maxNodes), PerNode: uint32(r.perNode),
			Low: uint32(r.low), High: uint32(r.high)}
		if r.counts(max(cpusPerTask, 1)) {
			n.Tasks = uint32(r.tasks)
		}
		if r.contiguous {
			n.Contiguous = 1
		}
		copy(n.Type[:], r.kind)
		all = append(all, n)
	}
	return all
}

func readNote(text string) (r request, ok bool) {
	for field := range strings.SplitSeq(text, ",") {
		var why string
		value := field[min(len(field), 1):]
		switch {
		case field == "contiguous":
			r.contiguous = true
		case strings.HasPrefix(field, "gpu:"):
			gpus := field[4:]
			at := strings.LastIndexByte(gpus, ':')
			r.kind = gpus[:max(at, 0)]
			if _, why = span(gpus[at+1:], mostGPUs, &r.low, &r.high, "no range"); at >= 0 && !typeName.MatchString(r.kind) {
				return r, false
			}
		case strings.HasPrefix(field, "n"):
			_, why = number(value, mostCPUs, &r.tasks, "no number")
		case strings.HasPrefix(field, "t"):
			_, why = number(value, mostPerNode, &r.perNode, "no number")
		case strings.HasPrefix(field, "N") && strings.HasSuffix(value, "-0"):
			_, why = number(value[:len(value)-2], mostNodes, &r.minNodes, "no number")
		case strings.HasPrefix(field, "N") && strings.Contains(value, "-"):
			_, why = span(value, mostNodes, &r.minNodes, &r.maxNodes, "no range")
		default:
			return r, false
		}
		if why != "" {
			return r, false
		}
	}
	return r, r.minNodes > 0 && r.tasks >= r.minNodes &&
		(r.perNode == 0 || r.minNodes == r.maxNodes && r.tasks == r.minNodes*r.perNode)
}

// Note reads the alternatives out of a batch script, down to its first command, as a note for the job;
// "" if there are none. cpusPerTask is the job's, at least 1, and gpus what the cluster has,
// which may take no ranges of GPUs. An error names the script's line.
func Note(script string, cpusPerTask int, gpus GPUs, ranges bool) (string, error) {
	var notes []string
	number := 0
	for line := range strings.SplitSeq(script, "\n") {
		number++
		rest, ours := strings.CutPrefix(line, magic)
		words := words(rest)
		switch {
		case !ours || rest != "" && !strings.ContainsAny(rest[:1], " \t\r\v\f"):
			if text := strings.TrimLeft(line, " \t\r\v\f"); text != "" && text[0] != '#' {
				return strings.Join(notes, "/"), nil // sbatch reads its directives down to there too
			}
			continue
		case len(notes) == Most:
			return "", bad(number, first(words), "a job can have 8 alternatives")
		case first(words) != "--alternative":
			return "", bad(number, first(words), "the directive is --alternative")
		}
		r, word, why := read(words[1:], gpus)
		if why == "" {
			word, why = words[0], r.settle(cpusPerTask)
		}
		if why == "" && !ranges && r.low < r.high {
			why = "this cluster takes no ranges of GPUs (auc_gpu_ranges=no)"
		}
		if why != "" {
			return "", bad(number, word, why)
		}
		notes = append(notes, r.note())
	}
	return strings.Join(notes, "/"), nil
}

func bad(line int, word, why string) error {
	return fmt.Errorf("%s in script line %d: %s: %s", magic, line, word[:min(len(word), mostWord)], why)
}

// words are those of a line up to a comment.
func words(line string) []string {
	all := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\v\f", r) })
	if end := slices.IndexFunc(all, func(w string) bool { return w[0] == '#' }); end >= 0 {
		all = all[:end]
	}
	return all
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// options are those of an alternative; set says what is wrong with a value, and with which word of it.
var options = []struct {
	name, letter, same string // those that say the same share the last
	valued             bool
	set                func(r *request, value string, gpus GPUs) (word, why string)
}{
	{"--ntasks", "-n", "n", true, func(r *request, value string, _ GPUs) (string, string) {
		return number(value, mostCPUs, &r.tasks, "the number of tasks must be 1 or more")
	}},
	{"--nodes", "-N", "N", true, func(r *request, value string, _ GPUs) (string, string) {
		return span(value, mostNodes, &r.minNodes, &r.maxNodes, "nodes are a number from 1 on, or a range MIN-MAX")
	}},
	{"--ntasks-per-node", "", "t", true, func(r *request, value string, _ GPUs) (string, string) {
		return number(value, mostPerNode, &r.perNode, "the number of tasks on each node must be 1 or more")
	}},
	{"--gres", "", "gpu", true, func(r *request, value string, gpus GPUs) (string, string) {
		asked, ok := strings.CutPrefix(value, "gpu:")
		if !ok && value != "gpu" {
			return value, "an alternative can ask for gpu:... only"
		}
		if !ok {
			asked = ""
		}
		return r.gpus(asked, gpus)
	}},
	{"--gpus-per-node", "", "gpu", true, (*request).gpus},
	{"--contiguous", "", "c", false, func(r *request, _ string, _ GPUs) (string, string) {
		r.contiguous = true
		return "", ""
	}},
}

// read reads the options behind --alternative.
func read(words []string, gpus GPUs) (r request, word, why string) {
	seen := map[string]bool{}
	for len(words) > 0 {
		word = words[0]
		words = words[1:]
		name, value, given := strings.Cut(word, "=")
		i := -1
		for k, o := range options {
			if short, ok := strings.CutPrefix(word, o.letter); o.letter != "" && ok {
				i, value, given = k, short, short != ""
			} else if name == o.name {
				i = k
			}
		}
		if i < 0 {
			return r, word, "is no option of an alternative, which has " +
				"-n, -N, --ntasks-per-node, --gres=gpu:..., --gpus-per-node and --contiguous"
		}
		o := &options[i]
		switch {
		case seen[o.same]:
			return r, word, "is given twice"
		case !o.valued && given:
			return r, word, "takes no value"
		case o.valued && !given && len(words) == 0:
			return r, word, "needs a value"
		case o.valued && !given:
			value, words = words[0], words[1:]
		}
		seen[o.same] = true
		if wrong, why := o.set(&r, value, gpus); why != "" {
			return r, wrong, why
		}
	}
	return r, "", ""
}

// number reads one from 1 to most, of nine digits at most.
func number(text string, most int, to *int, why string) (string, string) {
	n, err := strconv.Atoi(text)
	if err != nil || len(text) > 9 || text[0] < '0' || text[0] > '9' || n < 1 || n > most {
		return text, why
	}
	*to = n
	return "", ""
}

// span reads NUMBER or LOW-HIGH.
func span(text string, most int, low, high *int, why string) (string, string) {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	_, why1 := number(from, most, low, why)
	_, why2 := number(to, most, high, why)
	if cmp.Or(why1, why2) != "" || *low > *high {
		return text, why
	}
	return "", ""
}

var typeName = regexp.MustCompile(`^[A-Za-z0-9_.+-]{1,63}$`)

// gpus reads [TYPE:]COUNT, TYPE or nothing; COUNT is a number or a range.
func (r *request) gpus(value string, gpus GPUs) (word, why string) {
	const (
		noType = "is neither a number, a range LOW-HIGH, nor a GPU type of this cluster"
		noGPUs = "GPUs on each node are a number from 1 to 15, or a range LOW-HIGH such as 1-3"
	)
	count := value
	if at := strings.LastIndexByte(value, ':'); at >= 0 {
		r.kind, count = value[:at], value[at+1:]
		if r.kind == "" {
			return r.kind, noType
		}
	} else if value == "" || value[0]|0x20 >= 'a' && value[0]|0x20 <= 'z' {
		r.kind, count = value, "1"
	}
	if r.kind != "" && !(typeName.MatchString(r.kind) && gpus.has(r.kind)) {
		return r.kind, noType
	}
	if _, why = span(count, mostGPUs, &r.low, &r.high, noGPUs); why != "" {
		return value, why
	}
	return "", ""
}

// settle completes a request, or says what its numbers lack.
func (r *request) settle(cpusPerTask int) (why string) {
	if r.tasks == 0 && r.minNodes == 0 {
		return "an alternative needs --ntasks or --nodes"
	}
	if r.perNode > 0 {
		if why := r.settlePerNode(); why != "" {
			return why
		}
	}
	fixed := r.minNodes > 0 && r.minNodes == r.maxNodes
	if r.tasks == 0 && !fixed {
		return "a range of nodes needs --ntasks"
	}
	r.tasks = cmp.Or(r.tasks, r.minNodes)
	switch {
	case r.tasks < r.minNodes:
		return "fewer tasks than nodes"
	case !r.counts(cpusPerTask):
		return "too many CPUs, in all or on each node"
	case cpusPerTask > 1 && (!fixed || r.tasks%r.minNodes != 0):
		return "with --cpus-per-task it needs a number of nodes, and as many tasks on each"
	}
	r.minNodes, r.maxNodes = max(r.minNodes, 1), min(r.maxNodes, r.tasks)
	return ""
}

// settlePerNode has tasks on each node and nodes fix the number of tasks, or the other way round.
func (r *request) settlePerNode() (why string) {
	if r.minNodes == 0 {
		if r.tasks%r.perNode != 0 {
			return "--ntasks-per-node needs --nodes, or as many tasks as fill some nodes"
		}
		r.minNodes = r.tasks / r.perNode
		r.maxNodes = r.minNodes
	}
	switch tasks := r.minNodes * r.perNode; {
	case r.minNodes != r.maxNodes:
		return "--ntasks-per-node needs a number of nodes, not a range"
	case r.tasks > 0 && r.tasks != tasks:
		return "--ntasks is not --nodes times --ntasks-per-node"
	case tasks > mostCPUs:
		return "too many tasks"
	default:
		r.tasks = tasks
	}
	return ""
}

// counts reports whether its CPUs, in all and on each node, are numbers that a job's record holds.
func (r *request) counts(cpusPerTask int) bool {
	onNode := r.perNode
	if onNode == 0 && cpusPerTask > 1 && r.minNodes > 0 { // so many if the tasks are even over the nodes
		onNode = (r.tasks + r.minNodes - 1) / r.minNodes
	}
	return r.tasks*cpusPerTask <= mostCPUs && onNode*cpusPerTask <= mostCPUsPerNode
}

// SPDX-License-Identifier: BSD-3-Clause

package alternatives

import (
	"fmt"
	"strconv"
	"strings"
)

// GPUs are the most that one node of a cluster has: of each type, and of "" in all.
type GPUs map[string]int

// ReadGPUs reads a line for each kind of nodes: how many GPUs such a node has, then each type and how
// many of it.
func ReadGPUs(nodes string) GPUs {
	most := GPUs{}
	for line := range strings.Lines(nodes) {
		here := GPUs{}
		words := append([]string{""}, strings.Fields(line)...)
		for i := 0; i+1 < len(words); i += 2 {
			n, _ := strconv.Atoi(words[i+1])
			here[words[i]] += n
		}
		for kind, n := range here {
			most[kind] = max(most[kind], n)
		}
	}
	return most
}

func (g GPUs) has(kind string) bool {
	_, ok := g[kind]
	return ok && kind != ""
}

// Range is a range of GPUs on each node, of one type or ("") of any.
type Range struct {
	Low, High int // 0, 0: there is none
	Type      string
	at, end   int // LOW-HIGH, in the list
}

// mostRange is more GPUs than any node has.
const mostRange = 1024

// Range reads the range in what a job asks for on each node, a list of gres such as
// "gres:gpu:a100:1-3,license:2". It must be the only request of GPUs there.
func (g GPUs) Range(list string) (r Range, err error) {
	elements, end := 0, -1
	for element := range strings.SplitSeq(list, ",") {
		name := element
		end += 1 + len(element)
		if strings.HasPrefix(name, "gres:") || strings.HasPrefix(name, "gres/") {
			name = name[len("gres:"):]
		}
		rest, ok := strings.CutPrefix(name, "gpu")
		if !ok || rest != "" && rest[0] != ':' && rest[0] != '=' {
			continue
		}
		elements++
		at := strings.LastIndexAny(rest, ":=")
		if count := rest[at+1:]; !strings.Contains(count, "-") || at <= 0 && g.has(count) {
			continue
		}
		var why string
		if r, why = readRange(rest, at); why != "" {
			return Range{}, badRange(element, why)
		}
		r.at, r.end = end-len(rest[at+1:]), end
	}
	switch {
	case r.High > 0 && elements > 1:
		err = badRange(list, "a range of GPUs can't be asked for beside other GPUs")
	case r.High > 0:
		err = g.check(r)
	}
	if err != nil {
		r = Range{}
	}
	return r, err
}

// readRange reads :LOW-HIGH or :TYPE:LOW-HIGH, in which the last colon is at at.
func readRange(text string, at int) (r Range, why string) {
	low, high, ranged := strings.Cut(text[at+1:], "-")
	if at > 0 {
		r.Type = text[1:at]
	}
	switch {
	case !ranged || !digits(low, &r.Low) || !digits(high, &r.High):
		return r, "neither a range nor a GPU type of this cluster"
	case at > 0 && (r.Type == "" || len(r.Type) > 63 || strings.ContainsAny(r.Type, ":=;/ ")):
		return r, "what is before the range is no GPU type"
	case r.Low == 0:
		return r, "the range must begin at 1 or more"
	case r.Low > r.High:
		return r, "the range ends below its beginning"
	case r.High > mostRange:
		return r, "no node has so many GPUs"
	}
	return r, ""
}

// digits reads a number of at most nine.
func digits(text string, to *int) bool {
	n, err := strconv.ParseUint(text, 10, 32)
	*to = int(n)
	return err == nil && len(text) <= 9
}

func badRange(text, why string) error {
	return fmt.Errorf("%s: %s (GPUs a node are a number, or a range LOW-HIGH such as gpu:1-3 or gpu:a100:1-3)", text, why)
}

// check refuses a range as Slurm refuses a number of GPUs that no node has.
func (g GPUs) check(r Range) error {
	name, of := "gpu:", ""
	if r.Type != "" {
		name, of = "gpu:"+r.Type+":", " of this type"
	}
	switch most := g[r.Type]; {
	case r.Type != "" && !g.has(r.Type):
		return fmt.Errorf("aucsched: %s%d-%d: %s is no GPU type of this cluster", name, r.Low, r.High, r.Type)
	case r.High > most:
		return fmt.Errorf("aucsched: %s%d-%d: no node has so many GPUs%s; the most is %d", name, r.Low, r.High, of, most)
	}
	return nil
}

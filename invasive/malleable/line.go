// SPDX-License-Identifier: BSD-3-Clause

package malleable

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Variable is the environment variable with the socket's path.
	Variable = "AUCSCHED_INVASIVE"
	// MaxLine is the longest line of a job, MaxCoresLine that of an iHypervisor, in bytes.
	MaxLine      = 256
	MaxCoresLine = 1 << 20
	// MaxCores is how many cores a list may have, and one above the greatest.
	MaxCores = 1 << 24

	version = 1
)

// Verb is the first word of a job's line.
type Verb string

// What a job may say. Gone is not on the wire: the Server says it when a connection has ended.
const (
	Hello Verb = "hello"
	Done  Verb = "done"
	Keep  Verb = "keep"
	Want  Verb = "want"
	Gone  Verb = "gone"
)

// A Request is a job's line.
type Request struct {
	Verb Verb
	// Number is that of the change that Done and Keep answer, and for Want the number of cores.
	Number uint32
	// Text is why a job keeps its cores.
	Text string
}

// String is the line, without its end.
func (r Request) String() string {
	switch {
	case r.Verb == Hello:
		return "hello " + strconv.Itoa(version)
	case r.Text != "":
		return fmt.Sprintf("%s %d %s", r.Verb, r.Number, r.Text)
	}
	return fmt.Sprintf("%s %d", r.Verb, r.Number)
}

// ParseRequest reads a job's line, without its end.
func ParseRequest(line string) (Request, error) {
	if len(line) > MaxLine {
		return Request{}, fmt.Errorf("a line of %d bytes, at most %d are allowed", len(line), MaxLine)
	}
	verb, rest, _ := strings.Cut(line, " ")
	number, text, more := strings.Cut(rest, " ")
	n, err := parseNumber(number, math.MaxUint32)
	r := Request{Verb: Verb(verb), Number: uint32(n), Text: text}
	switch {
	case r.Verb != Hello && r.Verb != Done && r.Verb != Keep && r.Verb != Want:
		err = fmt.Errorf("nothing begins with %q", verb)
	case err != nil:
	case r.Verb == Hello && n != version:
		err = fmt.Errorf("version %d of the lines, this is %d", n, version)
	case r.Verb == Want && (n == 0 || n > MaxCores):
		err = fmt.Errorf("%d cores: must be 1 to %d", n, MaxCores)
	case more && (r.Verb != Keep || text == ""):
		err = fmt.Errorf("%q follows the number", text)
	case !printable(text):
		err = fmt.Errorf("%q is not text", text)
	}
	if err != nil {
		return Request{}, fmt.Errorf("line %q: %w", line, err)
	}
	if r.Verb == Hello {
		r.Number = 0
	}
	return r, nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// parseNumber takes digits only, and no zero in front.
func parseNumber(s string, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > most || strconv.FormatUint(n, 10) != s {
		return 0, fmt.Errorf("%q is no number up to %d", s, most)
	}
	return n, nil
}

// A Change is the iHypervisor's cores line: from now on these are the job's, once it has answered.
type Change struct {
	Number uint32
	// Cores are the partition's, CPUs those of the host that they are, both ascending.
	Cores, CPUs []int

	session uint64 // of a Client
}

// String is the line, without its end.
func (c Change) String() string {
	return fmt.Sprintf("cores %d %s %s", c.Number, FormatList(c.Cores), FormatList(c.CPUs))
}

// ParseChange reads an iHypervisor's cores line, without its end.
func ParseChange(line string) (Change, error) {
	if len(line) > MaxCoresLine {
		return Change{}, fmt.Errorf("a line of %d bytes, at most %d are allowed", len(line), MaxCoresLine)
	}
	f := strings.Split(line, " ")
	if len(f) != 4 || f[0] != "cores" {
		return Change{}, fmt.Errorf("line %.50q: must be cores NUMBER CORES CPUS", line)
	}
	n, err := parseNumber(f[1], math.MaxUint32)
	c := Change{Number: uint32(n)}
	if err == nil {
		c.Cores, err = ParseList(f[2])
	}
	if err == nil {
		c.CPUs, err = ParseList(f[3])
	}
	if err != nil {
		return Change{}, fmt.Errorf("line %.50q: %w", line, err)
	}
	return c, nil
}

// wholeLines is a bufio.SplitFunc: a line that breaks off, as when its writer dies, is none.
func wholeLines(data []byte, _ bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}

// FormatList writes ascending numbers as ranges: 0-3,6. None at all is the empty string,
// which ParseList refuses.
func FormatList(list []int) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		last := i
		for last+1 < len(list) && list[last+1] == list[last]+1 {
			last++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(list[i]))
		if last > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(list[last]))
		}
		i = last + 1
	}
	return b.String()
}

// ParseList reads numbers and ranges, ascending and below MaxCores, as Linux
// writes its lists of CPUs.
func ParseList(s string) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		low, err := parseNumber(from, MaxCores-1)
		high := low
		if err == nil && isRange {
			high, err = parseNumber(to, MaxCores-1)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("list %.50q: %w", s, err)
		case high < low || len(list) > 0 && int(low) <= list[len(list)-1]:
			return nil, fmt.Errorf("list %.50q: %q is not ascending", s, part)
		}
		for n := low; n <= high; n++ {
			list = append(list, int(n))
		}
	}
	return list, nil
}

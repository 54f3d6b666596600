// SPDX-License-Identifier: BSD-3-Clause

package conf

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/nodeset"
)

// record is a line of a node or of a partition, with what DEFAULT's lines before it have said.
type record struct{ line, defaults *Line }

// get is the value of a key.
func (r record) get(key string) (value string, ok bool) {
	if value, ok = r.line.Get(key); !ok {
		value, ok = r.defaults.Get(key)
	}
	return value, ok
}

// first is the value of a setting of two names: of the line, or else of DEFAULT's.
func (r record) first(name, other string) string {
	for _, l := range []*Line{r.line, r.defaults} {
		for _, key := range []string{name, other} {
			if value, ok := l.Get(key); ok {
				return value
			}
		}
	}
	return ""
}

// number is the value of a key, from 0 to most.
func (r record) number(key string, most uint64) (n uint64, given bool, err error) {
	text, given := r.get(key)
	if !given {
		return 0, false, nil
	}
	if n, err = parseNumber(text); err != nil || n > most {
		return 0, true, r.line.bad(key, text, "must be a whole number from 0 to %d", most)
	}
	return n, true, nil
}

// parseNumber reads a number as C's strtoul does, in octal behind a 0 and in hexadecimal behind 0x.
func parseNumber(text string) (uint64, error) {
	switch text = strings.TrimLeft(text, space); {
	case text == "":
		return 0, nil
	case strings.ContainsAny(text, "_bBoO+-") && !hexadecimal(text):
		return 0, errNumber
	}
	return strconv.ParseUint(text, 0, 64)
}

func hexadecimal(text string) bool {
	return len(text) > 2 && strings.EqualFold(text[:2], "0x") && !strings.Contains(text, "_")
}

var errNumber = errors.New("not a number")

// sizes are what a line says of a node's CPUs, with Slurm's defaults, which stand in for 0 too.
type sizes struct{ boards, sockets, cores, threads, cpus uint64 }

// cpus is how many CPUs of the node jobs get, by _parse_nodename of src/common/read_config.c and
// _init_node_record of node_conf.c.
func (r record) cpus() (uint64, error) {
	s, err := r.sizes()
	if err != nil {
		return 0, err
	}
	if s.cpus > math.MaxUint16 {
		return 0, r.line.bad("NodeName", r.line.Fields[0].Value, "%d CPUs: at most %d on a node", s.cpus, math.MaxUint16)
	}
	threads := s.threads // those of a core that count as CPUs
	if s.sockets*s.cores >= s.cpus {
		threads = 1
	}
	list, _ := r.get("CpuSpecList")
	if kept, ok := coresOf(list, s.cpus, threads); ok {
		return s.cpus - min(kept*threads, s.cpus), nil
	}
	kept, _, err := r.number("CoreSpecCount", math.MaxUint16)
	if kept >= s.sockets*s.cores {
		kept = 1
	}
	return s.cpus - min(kept*threads, s.cpus), err
}

func (r record) sizes() (s sizes, err error) {
	var perBoard uint64
	given := map[string]bool{}
	for _, x := range []struct {
		key string
		to  *uint64
	}{{"Boards", &s.boards}, {"SocketsPerBoard", &perBoard}, {"Sockets", &s.sockets}, {"CoresPerSocket", &s.cores},
		{"ThreadsPerCore", &s.threads}, {"CPUs", &s.cpus}, {"Procs", &s.cpus}} {
		if x.key == "Procs" && given["CPUs"] {
			continue
		}
		n, is, err := r.number(x.key, math.MaxUint16)
		if err != nil {
			return s, err
		}
		if given[x.key] = is; is || *x.to == 0 {
			*x.to = max(n, 1)
		}
	}
	hasCPUs := given["CPUs"] || given["Procs"]
	perSocket := s.cores * s.threads
	switch {
	case given["SocketsPerBoard"]:
		s.sockets = s.boards * perBoard
	case given["Sockets"]:
	case hasCPUs && s.cpus%perSocket == 0:
		s.sockets = s.cpus / perSocket
	default:
		s.sockets = s.boards
	}
	if all := s.sockets * perSocket; !hasCPUs || s.cpus != s.sockets && s.cpus != s.sockets*s.cores && s.cpus != all {
		s.cpus = all
	}
	return s, nil
}

// coresOf is how many cores of threads CPUs each a list of CPUs such as "0-3,8,16-31:4" has. ok
// says whether there is a list, and all its CPUs are below cpus.
func coresOf(list string, cpus, threads uint64) (n uint64, ok bool) {
	if list == "" {
		return 0, false
	}
	cores := map[uint64]bool{}
	for item := range strings.SplitSeq(strings.Trim(list, "[]"), ",") {
		span, step, stepped := strings.Cut(item, ":")
		low, high, isRange := strings.Cut(span, "-")
		if !isRange {
			high = low
		}
		by := uint64(1)
		from, err := strconv.ParseUint(low, 10, 16)
		to, err2 := strconv.ParseUint(high, 10, 16)
		if stepped {
			by, _ = strconv.ParseUint(step, 10, 16)
		}
		if err != nil || err2 != nil || from > to || to >= cpus || by == 0 {
			return 0, false
		}
		for cpu := from; cpu <= to; cpu += by {
			cores[cpu/threads] = true
		}
	}
	return uint64(len(cores)), true
}

// memory is what of the node's jobs get, in MiB. What the system keeps counts for nothing if it is
// all.
func (r record) memory() (int64, error) {
	all, _, err := r.number("RealMemory", nodeset.MaxAmount)
	if err != nil {
		return 0, err
	}
	kept, _, err := r.number("MemSpecLimit", math.MaxUint64)
	if kept >= all {
		kept = 0
	}
	return int64(all - kept), err
}

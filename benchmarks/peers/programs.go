// SPDX-License-Identifier: BSD-3-Clause

package peers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// program is a solver that is run as a process for each window.
type program struct {
	name, path string
	argv       func(model, solution string, seconds string) []string
	// read takes the names of the chosen columns from the solution file.
	read func(text string) (names []string, err error)
	// bound finds the bound in the program's output, in the file's sense; false if it has none.
	bound   func(output string) (float64, bool)
	optimal *regexp.Regexp // in the output
}

func find(p program, pkg string) (Peer, error) {
	path, err := exec.LookPath(p.path)
	if err != nil {
		return nil, &ErrMissing{fmt.Sprintf("%s is not installed (Debian: apt-get install %s)", p.path, pkg)}
	}
	p.path = path
	return p, nil
}

// Cbc is COIN-OR's branch and cut, one thread. The error may be an [ErrMissing].
func Cbc() (Peer, error) {
	lower := regexp.MustCompile(`(?m)^Lower bound:\s+(\S+)`)
	value := regexp.MustCompile(`(?m)^Objective value:\s+(\S+)`)
	optimal := regexp.MustCompile(`(?m)^Result - Optimal solution found`)
	return find(program{
		name: "cbc", path: "cbc", optimal: optimal,
		argv: func(model, solution, seconds string) []string {
			return []string{model, "timeMode", "elapsed", "sec", seconds, "ratioGap",
				"0", "allowableGap", "0", "threads", "0", "solve", "solution", solution}
		},
		read: readCbc,
		bound: func(out string) (float64, bool) {
			if optimal.MatchString(out) {
				return lastNumber(value, out)
			}
			return lastNumber(lower, out)
		},
	}, "coinor-cbc")
}

// Glpk is GNU's glpsol. The error may be an [ErrMissing].
func Glpk() (Peer, error) {
	bounds := regexp.MustCompile(`(?m)^\+.*[^<>]>=\s+(\S+)`)
	value := regexp.MustCompile(`(?m)^\+.*(?:mip =|>>>>>)\s+(\S+) >=`)
	optimal := regexp.MustCompile(`(?m)^INTEGER OPTIMAL SOLUTION FOUND`)
	return find(program{
		name: "glpk", path: "glpsol", optimal: optimal,
		argv: func(model, solution, seconds string) []string {
			return []string{"--freemps", model, "--tmlim", seconds, "--gomory", "--mir", "--clique", "-o", solution}
		},
		read: readGlpk,
		bound: func(out string) (float64, bool) {
			if optimal.MatchString(out) {
				return lastNumber(value, out)
			}
			return lastNumber(bounds, out)
		},
	}, "glpk-utils")
}

func (p program) Name() string { return p.name }

// graceful is how long a program may take to end beyond its own limit.
const graceful = 2 * time.Second

func (p program) Solve(ctx context.Context, w *Window, limit time.Duration) (Answer, error) {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return Answer{}, err
	}
	defer os.RemoveAll(dir)
	solution := filepath.Join(dir, "solution")
	hard, cancel := context.WithTimeout(ctx, limit+graceful)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(hard, p.path, p.argv(w.Path, solution, strconv.Itoa(max(1, int(limit.Round(time.Second)/time.Second))))...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	begin := time.Now()
	err = cmd.Run()
	a := Answer{Worth: -1, Bound: math.Inf(1), Elapsed: time.Since(begin)}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	if err != nil && hard.Err() == nil {
		return a, fmt.Errorf("%s: %s: %w: %s", p.name, w.Name, err, lastLines(out.String()))
	}
	if b, ok := p.bound(out.String()); ok {
		a.Bound = w.worth(b)
	}
	a.Optimal = p.optimal.MatchString(out.String())
	text, err := os.ReadFile(solution)
	if err != nil {
		return a, nil // it found nothing in time
	}
	names, err := p.read(string(text))
	if err != nil || names == nil {
		return a, err
	}
	if a.Worth, err = w.Check(names); err != nil {
		return a, fmt.Errorf("%s: %w", p.name, err)
	}
	return a, a.contradicts(w, p.name)
}

func lastLines(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}

// lastNumber is the last match's first group.
func lastNumber(re *regexp.Regexp, out string) (float64, bool) {
	found := re.FindAllStringSubmatch(out, -1)
	if len(found) == 0 {
		return 0, false
	}
	v, err := strconv.ParseFloat(found[len(found)-1][1], 64)
	return v, err == nil
}

// readCbc reads lines "INDEX NAME VALUE COST" after a line that says how it ended; no
// names if there is no integer solution.
func readCbc(text string) ([]string, error) {
	head, rest, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(head, "Optimal") && !strings.HasPrefix(head, "Stopped") || strings.Contains(head, "no integer solution") {
		return nil, nil
	}
	names := []string{}
	for line := range strings.SplitSeq(rest, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if fields[0] == "**" { // cbc's mark on what violates a bound by rounding
			fields = fields[1:]
		}
		if len(fields) < 3 {
			return nil, fmt.Errorf("cbc: %q is no line of a solution", line)
		}
		v, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return nil, fmt.Errorf("cbc: %q: %w", line, err)
		}
		if v > 0.5 {
			names = append(names, fields[1])
		}
	}
	return names, nil
}

// readGlpk reads the columns' part of glpsol's report; no names if it found nothing.
func readGlpk(text string) ([]string, error) {
	if strings.Contains(text, "UNDEFINED") || strings.Contains(text, "EMPTY") {
		return nil, nil
	}
	names := []string{}
	columns := false
	s := bufio.NewScanner(strings.NewReader(text))
	for s.Scan() {
		fields := strings.Fields(s.Text())
		switch {
		case len(fields) >= 2 && fields[1] == "Column":
			columns = true
		case !columns || len(fields) < 4 || fields[2] != "*":
		default:
			v, err := strconv.ParseFloat(fields[3], 64)
			if err != nil {
				return nil, fmt.Errorf("glpk: %q: %w", s.Text(), err)
			}
			if v > 0.5 {
				names = append(names, fields[1])
			}
		}
	}
	if !columns {
		return nil, nil
	}
	return names, s.Err()
}

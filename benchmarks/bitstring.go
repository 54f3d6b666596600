// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/aucsched/aucsched/nodeset"
)

//go:embed bitstring/scan.c
var bitstringSource []byte

// ErrNoSlurm is that Slurm's bit strings can't be had here; what wraps it says why.
var ErrNoSlurm = errors.New("no bit strings of Slurm")

// BuildBitstrings compiles into dir the program that asks Slurm's bit strings what a
// scan asks, against the Slurm that is installed and its source in root/build, root
// being the top of the module. It fails with ErrNoSlurm where one of them is missing.
func BuildBitstrings(ctx context.Context, root, dir string) (program string, err error) {
	version, err := installedSlurm(ctx, root, "version")
	if err != nil {
		return "", err
	}
	plugins, err := installedSlurm(ctx, root, "plugins")
	if err != nil {
		return "", err
	}
	library := filepath.Join(plugins, "libslurmfull.so")
	source := filepath.Join(root, "build", "slurm-source", version)
	for _, path := range []string{library, filepath.Join(source, "src", "common", "bitstring.h")} {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%w: Slurm %s: no %s (`make slurm-plugins` fetches Slurm's source)",
				ErrNoSlurm, version, filepath.Base(path))
		}
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	program = filepath.Join(dir, "bitstring-scan")
	cc := exec.CommandContext(ctx, compiler, "-O2", "-I"+source, "-x", "c", "-",
		"-x", "none", library, "-Wl,-rpath,"+plugins, "-o", program)
	cc.Stdin = bytes.NewReader(bitstringSource)
	if out, err := cc.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", compiler, err, out)
	}
	return program, nil
}

// installedSlurm asks scripts/slurm-installed.sh.
func installedSlurm(ctx context.Context, root, what string) (string, error) {
	out, err := exec.CommandContext(ctx, "sh", filepath.Join(root, "scripts", "slurm-installed.sh"), what).CombinedOutput()
	words := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("%w: %s", ErrNoSlurm, words)
	}
	return words, nil
}

// Bitstrings is a running program of BuildBitstrings that has the machine of a window
// and a query. Times are those that it takes itself.
type Bitstrings struct {
	w   *Window
	q   nodeset.Query
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// StartBitstrings runs the program. Close ends it, and so does ctx.
func StartBitstrings(ctx context.Context, program string, w *Window, q nodeset.Query) (*Bitstrings, error) {
	b := &Bitstrings{w: w, q: q, cmd: exec.CommandContext(ctx, program)}
	var err error
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReader(out)
	b.cmd.Stderr = os.Stderr
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	if err := b.sendMachine(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close ends the program.
func (b *Bitstrings) Close() error { return errors.Join(b.in.Close(), b.cmd.Wait()) }

func (b *Bitstrings) sendMachine() error {
	t := b.w.Snapshot.Nodes
	out := bufio.NewWriter(b.in)
	fmt.Fprintln(out, t.Len(), CoresPerNode, b.q.GPUs, max(b.q.MinCores, 1))
	for n := range t.Len() {
		up := 0
		if t.Up(n) && b.q.Eligible.Has(n) {
			up = 1
		}
		fmt.Fprintln(out, up, t.Free(n).Cores, t.Free(n).GPUs)
	}
	return out.Flush()
}

// timed has the program do something so many times.
func (b *Bitstrings) timed(what string, times int) (d time.Duration, answer int, err error) {
	if _, err := fmt.Fprintln(b.in, what, times); err != nil {
		return 0, 0, err
	}
	_, err = fmt.Fscan(b.out, &d, &answer)
	return d, answer, err
}

// runs has the program find the nodesets and tell them.
func (b *Bitstrings) runs() (sets []nodeset.Set, err error) {
	if _, err := fmt.Fprintln(b.in, "p"); err != nil {
		return nil, err
	}
	for {
		line, err := b.out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		var s nodeset.Set
		switch line = strings.TrimSpace(line); line {
		case "":
			continue
		case "end":
			return sets, nil
		}
		if _, err := fmt.Sscan(line, &s.First, &s.Last, &s.Cores); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		sets = append(sets, s)
	}
}

// Runs finds the nodesets of the query as Slurm finds runs: bit_and, then bit by bit
// from bit_ffs to bit_fls, and bit_set_count_range for the cores.
func (b *Bitstrings) Runs() Stage {
	found := 0
	return Stage{
		Repeat: func(times int) (d time.Duration, err error) {
			d, found, err = b.timed("r", times)
			return d, err
		},
		Check: func() error {
			sets, err := b.runs()
			if err != nil {
				return err
			}
			if len(sets) != found {
				return fmt.Errorf("%d nodesets, then %d", found, len(sets))
			}
			return checkSets(b.w.Snapshot.Nodes, b.q, sets)
		},
		Sizes: func() []Size { return []Size{{"nodesets", found}} },
	}
}

// Count asks less: only how many nodes suit, by bit_and and bit_set_count.
func (b *Bitstrings) Count() Stage {
	found := 0
	return Stage{
		Repeat: func(times int) (d time.Duration, err error) {
			d, found, err = b.timed("c", times)
			return d, err
		},
		Check: func() error {
			nodes := 0
			for _, s := range b.w.Snapshot.Nodes.Scan(nil, b.q) {
				nodes += s.Len()
			}
			if nodes != found {
				return fmt.Errorf("%d nodes suit instead of %d", found, nodes)
			}
			return nil
		},
		Sizes: func() []Size { return []Size{{"nodes that suit", found}} },
	}
}

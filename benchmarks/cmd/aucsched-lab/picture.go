// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

// picture draws a machine after a plan: nodes from left to right, several in a
// column, and the cores and GPUs of a node from the bottom up.
type picture struct {
	out     io.Writer
	colours bool
	width   int // columns at the most
}

// Marks of what is not a job of the window.
const (
	markIdle    = '.'
	markRunning = '#'
	markMixed   = '+' // the column's nodes differ
)

// marksOf gives each job of the queue a letter of its own as far as they last.
const marks = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

func jobMark(job int) byte { return marks[min(job, len(marks)-1)] }

// draw draws the plan, a line for each core and then one for each GPU.
func (p *picture) draw(w *window.Window, plan *core.Plan) error {
	t := w.Snapshot.Nodes
	n := t.Len()
	cores, gpus := make([][]byte, n), make([][]byte, n)
	for i := range n {
		busy := int(t.Total(i).Cores - t.Free(i).Cores)
		cores[i] = append(cores[i], strings.Repeat(string(markRunning), busy)...)
		busy = int(t.Total(i).GPUs - t.Free(i).GPUs)
		gpus[i] = append(gpus[i], strings.Repeat(string(markRunning), busy)...)
	}
	for _, d := range plan.Decisions {
		if d.Start {
			stack(cores, gpus, d.Segs, jobMark(d.Job))
		}
	}
	for i := range n {
		cores[i] = fillUp(cores[i], int(t.Total(i).Cores))
		gpus[i] = fillUp(gpus[i], int(t.Total(i).GPUs))
	}
	per := p.nodesPerColumn(n)
	if err := p.rows("cores", cores, per); err != nil {
		return err
	}
	if err := p.rows("GPUs", gpus, per); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "        %s-%s, %s a column; %c idle, %c busy before, %c a column whose nodes differ\n",
		w.Names[0], w.Names[n-1], cli.Count(per, "node"), markIdle, markRunning, markMixed)
	return err
}

// nodesPerColumn is the least divisor of n that leaves few enough columns, unless that
// wastes more than half of the width.
func (p *picture) nodesPerColumn(n int) int {
	least := (n + p.width - 1) / p.width
	for per := least; per < 2*least; per++ {
		if n%per == 0 {
			return per
		}
	}
	return least
}

func stack(cores, gpus [][]byte, segs []nodeset.Segment, mark byte) {
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			cores[n] = append(cores[n], strings.Repeat(string(mark), int(s.Cores))...)
			gpus[n] = append(gpus[n], strings.Repeat(string(mark), int(s.GPUs))...)
		}
	}
}

func fillUp(column []byte, height int) []byte {
	return append(column, strings.Repeat(string(markIdle), height-len(column))...)
}

// rows draws one kind of resource, the top row first.
func (p *picture) rows(name string, columns [][]byte, per int) error {
	height := 0
	for _, c := range columns {
		height = max(height, len(c))
	}
	for h := height - 1; h >= 0; h-- {
		label := ""
		if h == height-1 {
			label = name
		}
		line := fmt.Sprintf("%6s |", label)
		for at := 0; at < len(columns); at += per {
			line += p.cell(columns[at:min(at+per, len(columns))], h)
		}
		if _, err := fmt.Fprintln(p.out, line+"|"); err != nil {
			return err
		}
	}
	return nil
}

// cell is one character: what all the column's nodes have at height h.
func (p *picture) cell(nodes [][]byte, h int) string {
	mark := byte(' ')
	for _, c := range nodes {
		if h >= len(c) {
			continue
		}
		if mark != ' ' && c[h] != mark {
			return string(markMixed)
		}
		mark = c[h]
	}
	if i := strings.IndexByte(marks, mark); p.colours && i >= 0 {
		return fmt.Sprintf("\x1b[%dm%c\x1b[0m", 41+i%6, mark)
	}
	return string(mark)
}

// SPDX-License-Identifier: BSD-3-Clause

// Package mpsread reads 0-1 packing models from MPS files, and speaks of their solutions in the
// file's own terms.
package mpsread

import (
	"io"
	"math"
	"math/big"

	"github.com/aucsched/aucsched/ipmodel"
)

// Sense is the direction of a file's objective.
type Sense int

// Minimise is what MPS files mean that don't say.
const (
	Minimise Sense = iota
	Maximise
)

func (s Sense) String() string { return [...]string{"minimise", "maximise"}[s] }

// File is a 0-1 packing model that was read from an MPS file, with the file's names and numbers.
type File struct {
	// Model has the same best choices as the file, where Exact is true. It
	// maximises; columns that are 0 in a best solution anyway or that the file
	// fixes are left out.
	Model *ipmodel.Model
	// Sense is the file's.
	Sense Sense
	// Exact says that the model's worths are the file's objective times a power
	// of ten and not rounded. Objective is exact all the same, and Bound allows
	// for the rounding.
	Exact bool
	// Infeasible says why the file has no solution, and is empty where that is
	// not plain. The Model then has a required group without columns.
	Infeasible string

	name     []string  // of each column of the model
	value    []decimal // its coefficient in the file's objective
	position []int32   // its place in the file
	fixed    []int32   // places in the file of the columns that are 1 in every solution
	fixName  []string  // their names
	constant decimal   // the objective with only the fixed columns at 1
	shift    decimal   // what the required groups' worths were reduced by, in total
	exponent int32     // a unit of worth is 10^exponent
}

// Read reads a 0-1 packing model in free MPS, or in fixed MPS without blanks in
// names, plain or compressed by gzip. name is what errors call the file. Anything
// that is not such a model is an error of one line that names file, line, row or
// column, and the reason; a model without a solution is not an error.
//
// A word that begins with $ or * begins a comment, unless it is a name. Section headers may be
// indented, and data need not be.
//
// Columns have to be integer and within 0 and 1. An integer column without a bound
// is such a column, as for HiGHS and CPLEX; with a lower bound alone, it has no
// upper bound, and is accepted only if a row keeps it from 2.
//
// Rows may limit from above what non-negative coefficients add up to. A row
// that asks for exactly one, or at least one where at most one is possible,
// of columns with equal coefficients makes them a required group. Rows that
// no choice can violate are dropped, and a row given with all its signs turned is turned back.
// The other groups are the rows that allow at most one of columns with equal
// coefficients, in the file's order and as far as they do not overlap.
//
// Numbers are read as decimals and never rounded, but for worths that would exceed
// [ipmodel.MaxTotalValue] (see Exact). The memory taken is in proportion to the input's size.
func Read(r io.Reader, name string) (*File, error) {
	f, err := parse(r, name)
	if err != nil {
		return nil, err
	}
	c := &conversion{source: f, out: &File{Sense: f.sense}}
	if err := c.convert(); err != nil {
		return nil, err
	}
	return c.out, nil
}

// Names lists the names of the file's columns that are 1 when the model's columns
// chosen are: those, and the fixed ones, in the file's order.
func (p *File) Names(chosen []int32) []string {
	names := make([]string, 0, len(chosen)+len(p.fixed))
	k := 0
	for _, i := range p.inFileOrder(chosen) {
		for ; k < len(p.fixed) && p.fixed[k] < p.position[i]; k++ {
			names = append(names, p.fixName[k])
		}
		names = append(names, p.name[i])
	}
	return append(names, p.fixName[k:]...)
}

// ExactObjective is the file's objective, its constant included, when the model's
// columns chosen are 1.
func (p *File) ExactObjective(chosen []int32) *big.Rat {
	sum := p.constant
	for _, i := range chosen {
		sum = sum.plus(p.value[i])
	}
	return sum.rat()
}

// Objective is [File.ExactObjective] rounded to the nearest float64.
func (p *File) Objective(chosen []int32) float64 {
	v, _ := p.ExactObjective(chosen).Float64()
	return v
}

// Bound turns an upper bound on the model's worth into one on the file's
// objective, from below where the file minimises. It is rounded outward.
func (p *File) Bound(worth int64) float64 {
	r := new(big.Rat).SetInt64(worth)
	if !p.Exact {
		// At most one column of a group is chosen, and each was rounded by half a unit at most.
		r.Add(r, big.NewRat(int64(p.Model.Groups()), 2))
	}
	scaleRat(r, p.exponent)
	r.Add(r, p.shift.rat())
	if p.Sense == Maximise {
		return roundUp(r.Add(r, p.constant.rat()))
	}
	return -roundUp(r.Sub(r, p.constant.rat()))
}

// roundUp is the least float64 that is at least r.
func roundUp(r *big.Rat) float64 {
	v, exact := r.Float64()
	if !exact && !math.IsInf(v, 0) && new(big.Rat).SetFloat64(v).Cmp(r) < 0 {
		v = math.Nextafter(v, math.Inf(1))
	}
	return v
}

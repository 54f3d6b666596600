// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/workload"
)

// Node is a node of the cluster, with nothing on it.
type Node struct {
	Name string
	State
}

// Pod is a pod of a list.
type Pod struct {
	Name string
	Request
}

// Cluster is a list of nodes, in the order of their names.
type Cluster struct {
	Nodes []Node
	Kinds []string // models of GPU; a State's Kind is an index
}

// Thousandths is the sum of the cluster's GPUs.
func (c *Cluster) Thousandths() int {
	n := 0
	for i := range c.Nodes {
		n += c.Nodes[i].Idle()
	}
	return n
}

// Fields that the files must have.
var (
	nodeFields = []string{"sn", "cpu_milli", "memory_mib", "gpu", "model"}
	podFields  = []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}
)

const specField = "gpu_spec" // lists without model constraints do without it

// ReadNodes reads a list of nodes, unpacking it if it is in gzip's format. Errors are
// [workload.InputError]; name is the file's in them.
func ReadNodes(r io.Reader, name string) (*Cluster, error) {
	c := &Cluster{}
	names := map[string]int{}
	err := each(r, name, nodeFields, func(row *record) error {
		n := Node{Name: row.id("sn", names)}
		n.CPU = int32(row.whole("cpu_milli", math.MaxInt32))
		n.Memory = int32(row.whole("memory_mib", math.MaxInt32))
		n.Count = uint8(row.whole("gpu", MaxGPUs))
		for i := range n.Count {
			n.GPUs[i] = Whole
		}
		n.Kind = c.kind(row, int(n.Count))
		c.Nodes = append(c.Nodes, n)
		return row.fault
	})
	if err == nil && c.Thousandths() == 0 {
		err = &workload.InputError{File: name, Err: errors.New("no node with a GPU")}
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(c.Nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	return c, nil
}

// kind is the number of a node's model. Nodes without GPUs have none, and get the first's.
func (c *Cluster) kind(row *record, gpus int) uint8 {
	model := row.get("model")
	if gpus == 0 {
		return 0
	}
	if i := slices.Index(c.Kinds, model); i >= 0 {
		return uint8(i)
	}
	switch {
	case model == "" || strings.Contains(model, "|"):
		row.bad("model", errors.New("must name one model of GPU"))
	case len(c.Kinds) == MaxKinds:
		row.bad("model", fmt.Errorf("more than %d models", MaxKinds))
	default:
		c.Kinds = append(c.Kinds, model)
		return uint8(len(c.Kinds) - 1)
	}
	return 0
}

// ReadPods reads a list of pods for a cluster, in the order of their names, unpacking it if it is
// in gzip's format. gpu_spec holds models that will do, with | between them; models that the
// cluster does not have are left out. Errors are [workload.InputError].
func ReadPods(r io.Reader, name string, c *Cluster) ([]Pod, error) {
	var pods []Pod
	names := map[string]int{}
	err := each(r, name, podFields, func(row *record) error {
		p := Pod{Name: row.id("name", names)}
		p.CPU = int32(row.whole("cpu_milli", math.MaxInt32))
		p.Memory = int32(row.whole("memory_mib", math.MaxInt32))
		p.GPUs = uint8(row.whole("num_gpu", MaxGPUs))
		share := row.whole("gpu_milli", math.MaxInt16)
		switch {
		case p.GPUs == 0:
			p.Kinds = ^uint64(0)
		case share == 0:
			row.bad("gpu_milli", errors.New("must be at least 1 for a pod with GPUs"))
		case share < Whole && p.GPUs > 1:
			row.bad("gpu_milli", errors.New("must be 1000 for a pod with several GPUs"))
		default:
			p.Share, p.Kinds = int16(min(share, Whole)), c.mask(row.get(specField))
		}
		pods = append(pods, p)
		return row.fault
	})
	if err == nil && !slices.ContainsFunc(pods, func(p Pod) bool { return p.GPUs > 0 }) {
		err = &workload.InputError{File: name, Err: errors.New("no pod with a GPU")}
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pods, func(a, b Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods, nil
}

// mask is the set of models that a constraint names; all if it names none.
func (c *Cluster) mask(spec string) uint64 {
	if spec == "" {
		return ^uint64(0)
	}
	var m uint64
	for _, model := range strings.Split(spec, "|") {
		if i := slices.Index(c.Kinds, model); i >= 0 {
			m |= 1 << i
		}
	}
	return m
}

// record is a line of values under a line of names.
type record struct {
	column map[string]int
	fields []string
	line   int
	fault  error // the first
}

// each calls add for every line of values, and puts file and line to its errors.
func each(r io.Reader, name string, needed []string, add func(*record) error) error {
	b := bufio.NewReader(r)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return &workload.InputError{File: name, Err: err}
		}
		b = bufio.NewReader(z)
	}
	row := record{}
	s := bufio.NewScanner(b)
	for s.Scan() {
		row.line++
		text := strings.TrimSuffix(s.Text(), "\r")
		if text == "" {
			continue
		}
		err := row.take(text, needed)
		if err == nil && row.fields != nil {
			err = add(&row)
		}
		if err != nil {
			return located(err, name, row.line)
		}
	}
	switch {
	case s.Err() != nil:
		return located(s.Err(), name, row.line+1)
	case row.column == nil:
		return &workload.InputError{File: name, Err: errors.New("empty")}
	}
	return nil
}

// located puts the place to an error.
func located(err error, name string, line int) error {
	var in *workload.InputError
	if !errors.As(err, &in) {
		in = &workload.InputError{Err: err}
	}
	in.File, in.Line = name, line
	return in
}

// take takes a line: the first holds the names.
func (r *record) take(text string, needed []string) error {
	fields := strings.Split(text, ",")
	if r.column == nil {
		r.column = make(map[string]int, len(fields))
		for i, f := range fields {
			if _, twice := r.column[f]; twice {
				twice := errors.New("named twice in the first line")
				return &workload.InputError{Field: f, Value: text, Err: twice}
			}
			r.column[f] = i
		}
		for _, f := range needed {
			if _, ok := r.column[f]; !ok {
				return fmt.Errorf("no field %s in the first line", f)
			}
		}
		return nil
	}
	if len(fields) != len(r.column) {
		return fmt.Errorf("%d fields, the first line names %d", len(fields), len(r.column))
	}
	r.fields, r.fault = fields, nil
	return nil
}

func (r *record) get(field string) string {
	if i, ok := r.column[field]; ok {
		return r.fields[i]
	}
	return ""
}

// bad notes the first fault of a line.
func (r *record) bad(field string, err error) {
	if r.fault == nil {
		r.fault = &workload.InputError{Field: field, Value: r.get(field), Err: err}
	}
}

// whole is a number of 0 to high; 0 if there is none.
func (r *record) whole(field string, high int) int {
	n, err := strconv.Atoi(r.get(field))
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		r.bad(field, errors.New("not a whole number"))
	case err != nil || n < 0 || n > high:
		r.bad(field, fmt.Errorf("must be in 0..%d", high))
	default:
		return n
	}
	return 0
}

// id is a name that no other line has.
func (r *record) id(field string, seen map[string]int) string {
	name := r.get(field)
	if first, ok := seen[name]; ok {
		r.bad(field, fmt.Errorf("already on line %d", first))
	}
	if name == "" {
		r.bad(field, errors.New("must not be empty"))
	}
	seen[name] = r.line
	return name
}

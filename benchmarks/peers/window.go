// SPDX-License-Identifier: BSD-3-Clause

package peers

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"

	"github.com/aucsched/aucsched/ipmodel"
)

// Window is a model that solvers are measured on.
type Window struct {
	Name  string
	Model *ipmodel.Model
	// Path is the file that solvers get: see [Window.Write].
	Path string

	columns map[string]int32 // by name in the file
	shift   int
}

// costBits is how long costs may be in a file: floating-point solvers go wrong on longer ones.
const costBits = 20

// Write writes the window to a file of its own in dir, as a minimisation in free MPS. Worths
// are divided by a power of two, so that the dearest column costs about 2^20.
func (w *Window) Write(dir string) error {
	w.Path = filepath.Join(dir, w.Name+".mps")
	f, err := os.Create(w.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	if err := w.write(out); err != nil {
		return fmt.Errorf("%s: %w", w.Path, err)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func (w *Window) write(out io.Writer) error {
	m := w.Model
	if err := m.Validate(); err != nil {
		return err
	}
	most := int64(1)
	for _, v := range m.Value {
		most = max(most, v)
	}
	w.shift = max(0, bits.Len64(uint64(most))-costBits)
	w.columns = map[string]int32{}
	p := func(format string, args ...any) { fmt.Fprintf(out, format, args...) }
	p("NAME %s FREE\nROWS\n N obj\n", w.Name)
	for g := range m.Groups() {
		kind := "L"
		if m.IsRequired(g) {
			kind = "E"
		}
		p(" %s g%d\n", kind, g)
	}
	for r := range m.Cap {
		p(" L r%d\n", r)
	}
	p("COLUMNS\n M0 'MARKER' 'INTORG'\n")
	for g := range m.Groups() {
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			name := "c" + strconv.Itoa(int(i))
			w.columns[name] = i
			p(" %s obj -%s\n %s g%d 1\n", name, strconv.FormatFloat(math.Ldexp(float64(m.Value[i]), -w.shift), 'f', -1, 64), name, g)
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				p(" %s r%d %d\n", name, m.Row[k], m.Coef[k])
			}
		}
	}
	p(" M1 'MARKER' 'INTEND'\nRHS\n")
	for g := range m.Groups() {
		p(" RHS g%d 1\n", g)
	}
	for r, c := range m.Cap {
		p(" RHS r%d %d\n", r, c)
	}
	p("BOUNDS\n")
	for i := range len(m.Value) {
		p(" UP BND c%d 1\n", i)
	}
	p("ENDATA\n")
	return nil
}

// Check adds up columns of the file, in integers and from the model alone, and returns
// what they are worth, or why they are no choice.
func (w *Window) Check(names []string) (worth int64, err error) {
	chosen := make([]int32, 0, len(names))
	for _, n := range names {
		i, ok := w.columns[n]
		if !ok {
			return 0, fmt.Errorf("%s: no column %q", w.Name, n)
		}
		chosen = append(chosen, i)
	}
	worth, err = w.Model.Check(chosen)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", w.Name, err)
	}
	return worth, nil
}

// worth is an objective of the file in the model's units, rounded up; none for NaN.
func (w *Window) worth(objective float64) float64 { return math.Ceil(math.Ldexp(-objective, w.shift)) }

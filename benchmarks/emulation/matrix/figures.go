// SPDX-License-Identifier: BSD-3-Clause

package matrix

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/sim"
)

// Run is a run on the real Slurm, as the file of figures keeps it.
type Run struct {
	// Key names the run's settings (reproduce.Prepared).
	Key                string
	Experiment, Method string
	Seed               uint64
	// Result has the figures that experiments are compared by, and no others.
	Result *sim.Result
}

// Figures are runs by their keys. A run on a real Slurm takes minutes of a quiet machine, so what
// came out is kept beside the page that is made of it.
type Figures map[string]Run

// figureColumns are those of the file; what a figure is, and its unit, are as in the
// output of simulate.
var figureColumns = []string{"key", "experiment", "method", "seed", "cpu_utilization",
	"wait_mean_s", "slowdown_mean", "fragmentation_mean", "spread_mean"}

// values are the figures of a result in the order of their columns.
func values(r *sim.Result) []*float64 {
	return []*float64{&r.CPUUtilization, &r.WaitMean, &r.SlowdownMean, &r.FragmentationMean, &r.SpreadMean}
}

// ReadFigures reads what [Figures.CSV] has written; name is said in errors.
func ReadFigures(r io.Reader, name string) (Figures, error) {
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = len(figureColumns)
	f := make(Figures)
	for n := 0; ; n++ {
		row, err := rows.Read()
		line, _ := rows.FieldPos(0)
		switch {
		case errors.Is(err, io.EOF):
			return f, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case n == 0:
			if !slices.Equal(row, figureColumns) {
				return nil, fmt.Errorf("%s:%d: the columns are %s; must be %s", name,
					line, strings.Join(row, ","), strings.Join(figureColumns, ","))
			}
			continue
		}
		if err := f.add(row); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

func (f Figures) add(row []string) error {
	run := Run{Key: row[0], Experiment: row[1], Method: row[2], Result: new(sim.Result)}
	var err error
	if run.Seed, err = strconv.ParseUint(row[3], 10, 64); err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	for i, v := range values(run.Result) {
		column := 4 + i
		if *v, err = strconv.ParseFloat(row[column], 64); err != nil {
			return fmt.Errorf("%s: %w", figureColumns[column], err)
		}
		if math.IsNaN(*v) || math.IsInf(*v, 0) {
			return fmt.Errorf("%s: %q: not a finite number", figureColumns[column], row[column])
		}
	}
	if _, ok := f[run.Key]; ok || run.Key == "" {
		return fmt.Errorf("key: %q: there twice, or empty", run.Key)
	}
	f[run.Key] = run
	return nil
}

// Add takes the experiments' runs that find has.
func (f Figures) Add(experiments []Experiment, seeds []uint64, find Lookup) {
	for i := range experiments {
		e := &experiments[i]
		for k := range e.Methods {
			m := &e.Methods[k]
			for _, seed := range seeds {
				if key, r := find("emulate", e.ArgsOf("emulate", m), seed); r != nil {
					f[key] = Run{Key: key, Experiment: e.Name, Method: m.Name, Seed: seed, Result: r}
				}
			}
		}
	}
}

// CSV are the runs in the order of experiments, methods and seeds.
func (f Figures) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{figureColumns}
	for _, run := range slices.SortedFunc(maps.Values(f), inOrder()) {
		row := []string{run.Key, run.Experiment, run.Method, strconv.FormatUint(run.Seed, 10)}
		for _, v := range values(run.Result) {
			row = append(row, strconv.FormatFloat(*v, 'g', 8, 64))
		}
		rows = append(rows, row)
	}
	if err := w.WriteAll(rows); err != nil {
		panic(err) // into memory
	}
	return b.Bytes()
}

// inOrder compares runs by their places in [Experiments]; what is no longer there comes last.
func inOrder() func(a, b Run) int {
	place := make(map[[2]string]int)
	for _, e := range Experiments() {
		for i := range e.Methods {
			place[[2]string{e.Name, e.Methods[i].Name}] = len(place) - 1<<20
		}
	}
	return func(a, b Run) int {
		if d := place[[2]string{a.Experiment, a.Method}] - place[[2]string{b.Experiment, b.Method}]; d != 0 {
			return d
		}
		if a.Seed != b.Seed {
			return int(int64(a.Seed) - int64(b.Seed))
		}
		return strings.Compare(a.Key, b.Key)
	}
}

// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
)

// csvReader goes through comma-separated values with a line of field names, as GPU
// traces are published. Quotes have no meaning: no field of these files holds a comma.
type csvReader struct {
	*workload.Lines
	workload.Row
}

func newCSV(r io.Reader, name string) *csvReader {
	return &csvReader{Lines: workload.NewLines(r, name)}
}

// each calls add for every line of values, and puts file and line to its errors. The
// line of names must have those that are needed; others are not looked at.
func (c *csvReader) each(needed []string, add func() error) error {
	for c.Next() {
		text := string(c.Text())
		var err error
		switch {
		case text == "":
		case c.Column == nil:
			err = c.head(text, needed)
		default:
			if err = c.cut(text); err == nil {
				err = add()
			}
		}
		if err != nil {
			return c.Locate(err)
		}
	}
	return c.Lines.Err
}

// head takes the line of names.
func (c *csvReader) head(text string, needed []string) error {
	c.Names = strings.Split(text, ",")
	c.Column = make(map[string]int, len(c.Names))
	for i, name := range c.Names {
		key := strings.ToLower(strings.TrimSpace(name))
		if _, ok := c.Column[key]; ok {
			return &workload.InputError{Field: name, Value: text, Err: errors.New("named twice in the first line")}
		}
		c.Column[key] = i
	}
	for _, n := range needed {
		if !c.Has(n) {
			return &workload.InputError{Err: fmt.Errorf("no field %s in the first line", n)}
		}
	}
	return nil
}

// cut takes a line of values.
func (c *csvReader) cut(text string) error {
	c.Fault = nil
	if c.Fields = strings.Split(text, ","); len(c.Fields) != len(c.Names) {
		return fmt.Errorf("%d fields, the first line names %d", len(c.Fields), len(c.Names))
	}
	return nil
}

// whole is the value of a field that must hold a whole number of 0 to high.
func (c *csvReader) whole(name string, high int) int {
	n, err := generate.Whole(name, c.Get(name), 0, high)
	if err != nil {
		c.Blame(err)
	}
	return n
}

// seconds is the value of a field of seconds, 0 to MaxSeconds; known is false where
// it is empty.
func (c *csvReader) seconds(name string) (s float64, known bool) {
	v := c.Get(name)
	if v == "" {
		return 0, false
	}
	s, err := workload.ParseDecimal([]byte(v))
	switch {
	case err != nil:
	case s < 0:
		err = errors.New("must not be negative")
	case s > workload.MaxSeconds:
		err = workload.ErrTooLarge
	}
	if err != nil {
		c.Bad(name, err)
		return 0, true
	}
	return s, true
}

// missing returns the fields that a line of names lacks, in the order of needed.
func missing(first []byte, needed []string) (lacks []string) {
	var names []string
	for _, f := range bytes.Split(bytes.ToLower(first), []byte(",")) {
		names = append(names, string(bytes.TrimSpace(f)))
	}
	for _, n := range needed {
		if !slices.Contains(names, n) {
			lacks = append(lacks, n)
		}
	}
	return lacks
}

// GPUTraceOptions choose between readings of traces of GPU clusters: [ReadAlibaba] and
// [ReadPhilly].
type GPUTraceOptions struct {
	// LimitFactor times the duration is the time limit: these traces have none. 0
	// means 1: users know how long their jobs take. 1 to 1e6.
	LimitFactor float64
	// GPUsPerNode is the most GPUs that Philly's jobs take on a node; 0 means 8, as
	// the larger of its servers had (Jeon et al., USENIX ATC'19). 0 to 255.
	GPUsPerNode int
	// Exact has Alibaba's pods keep what they ask for to the letter, in [Job.Pod].
	Exact bool
}

// maxLimitFactor keeps time limits in the range of what the simulator adds up.
const maxLimitFactor = 1e6

// fill puts in the defaults.
func (o *GPUTraceOptions) fill() error {
	if o.LimitFactor == 0 {
		o.LimitFactor = 1
	}
	if o.GPUsPerNode == 0 {
		o.GPUsPerNode = 8
	}
	switch {
	case !(o.LimitFactor >= 1 && o.LimitFactor <= maxLimitFactor):
		return fmt.Errorf("workload: option LimitFactor: %v: must be in 1..%v", o.LimitFactor, maxLimitFactor)
	case o.GPUsPerNode < 1 || o.GPUsPerNode > maxNodeGPUs:
		return fmt.Errorf("workload: option GPUsPerNode: %d: must be in 0..%d", o.GPUsPerNode, maxNodeGPUs)
	}
	return nil
}

// limit is the time limit of a job that runs that long.
func (o *GPUTraceOptions) limit(duration int64) int64 {
	return min(int64(math.Ceil(float64(duration)*o.LimitFactor)), workload.MaxSeconds)
}

// Accelerate has the jobs come rate times as fast: it divides their submission times, of
// which the trace's clock is no longer the scale, and leaves durations as they are. A rate
// below 1 slows them down. It fails, changing nothing, for rates outside 1e-6..1e6 and where
// a submission would be beyond workload.MaxSeconds.
func Accelerate(w *workload.Workload, rate float64) error {
	if !(rate >= 1/maxRate && rate <= maxRate) {
		return fmt.Errorf("rate: %v: must be in %v..%v", rate, 1/maxRate, maxRate)
	}
	if n := len(w.Jobs); n > 0 && float64(w.Jobs[n-1].Submit)/rate > workload.MaxSeconds {
		return fmt.Errorf("rate: %v: the last job would come after %d seconds", rate, int64(workload.MaxSeconds))
	}
	for i := range w.Jobs {
		w.Jobs[i].Submit = int64(float64(w.Jobs[i].Submit) / rate)
	}
	return nil
}

const maxRate = 1e6

// basic is the workload of a trace without priorities.
func basic(b *workload.Builder) (*workload.Workload, error) {
	w, err := b.Finish()
	if err == nil {
		workload.AssignBasicPriorities(w.Jobs)
	}
	return w, err
}

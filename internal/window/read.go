// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/slurm/switches"
	"github.com/aucsched/aucsched/nodeset"
)

// MaxBytes is the greatest size of a window file.
const MaxBytes = 256 << 20

// Window is a machine and its queue.
type Window struct {
	// Names has the name of each node.
	Names []string
	// Snapshot is what a policy decides on; Now is 0.
	Snapshot core.Snapshot
}

// Read reads a window; name is the file's name in errors.
func Read(r io.Reader, name string) (*Window, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, MaxBytes)
	}
	if text, err = input.TrimMark(text); err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	p := &parser{name: name, text: text, index: make(map[string]int), jobs: make(map[string]bool),
		fields: make(map[reflect.Type][]string), resources: make(map[string]bool), heldMore: make(map[share]int64),
		heldShares: make(map[sharedGPU]int64), quotaAt: make(map[string]int)}
	if err := p.document(); err != nil {
		return nil, err
	}
	return p.window()
}

type parser struct {
	name string
	text []byte
	at   int64 // offset that an error is about

	names    []string
	index    map[string]int // name -> node
	total    []nodeset.Capacity
	free     []nodeset.Capacity
	freeSet  []bool // free_* was given
	up       []bool
	weight   []int64
	queue    []*core.Job
	reading  format.Job      // scratch: the waiting job that is read
	jobs     map[string]bool // ids
	running  []core.Running
	held     []struct{ cores, gpus int } // by running jobs, by node
	switches []switches.Line
	lines    []located                 // of these
	deferred []located                 // running jobs, read before the nodes they name
	masks    []mask                    // lists of nodes of waiting jobs, likewise
	listed   int                       // nodes in all lists so far
	masked   int64                     // bits of masks so far
	inList   nodeset.Mask              // scratch of find, empty between calls
	fields   map[reflect.Type][]string // names that an element's type knows
	// scratch: names of the fields of the objects that are open
	seen []string

	resources map[string]bool // further ones
	lots      []lot           // of nodes, in their order
	uses      []taken         // by waiting jobs, like masks
	order     []string        // of resources, by number; once all nodes are known
	heldMore  map[share]int64 // by running jobs
	// by running jobs, of GPUs in shared use
	heldShares map[sharedGPU]int64

	quotas  []core.Quota
	quotaAt map[string]int // by name
	counted []counted      // by waiting jobs, like masks
}

type located struct {
	at  int64
	raw json.RawMessage
}

func (p *parser) fail(format string, args ...any) error {
	line := 1 + bytes.Count(p.text[:min(p.at, int64(len(p.text)))], []byte{'\n'})
	return fmt.Errorf("%s:%d: %s", p.name, line, fmt.Sprintf(format, args...))
}

// document reads the top object, element by element so that each has its line.
func (p *parser) document() error {
	d := json.NewDecoder(bytes.NewReader(p.text))
	if err := p.expect(d, '{', "a window is an object"); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return p.syntax(d, err)
		}
		p.at = d.InputOffset()
		k := key.(string)
		if seen[k] {
			return p.fail("%q is there twice", k)
		}
		seen[k] = true
		read, ok := map[string]func(int, json.RawMessage) error{
			"nodes": p.node, "switches": p.aSwitch, "jobs": p.job, "running": p.deferRunning, "quotas": p.quota}[k]
		if !ok {
			known := []string{"nodes", "switches", "jobs", "running", "quotas"}
			return p.fail("unknown field %q: nodes, switches, jobs, running and quotas are known%s", k, input.Hint(k, known))
		}
		if err := p.array(d, k, read); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return p.syntax(d, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		p.at = d.InputOffset()
		return p.fail("something follows the window")
	}
	for i, e := range p.deferred {
		p.at = e.at
		if err := p.runningJob(i, e.raw); err != nil {
			return err
		}
	}
	if err := p.setUses(); err != nil {
		return err
	}
	if err := p.setCharges(); err != nil {
		return err
	}
	return p.setMasks()
}

func (p *parser) syntax(d *json.Decoder, err error) error {
	p.at = d.InputOffset()
	var syn *json.SyntaxError
	if errors.As(err, &syn) {
		p.at = max(p.at, syn.Offset-1)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.fail("the file ends too early")
	}
	return p.fail("%s", strings.TrimPrefix(err.Error(), "json: "))
}

func (p *parser) expect(d *json.Decoder, want json.Delim, why string) error {
	t, err := d.Token()
	if err != nil {
		return p.syntax(d, err)
	}
	if p.at = d.InputOffset() - 1; t == want {
		return nil
	}
	kind := "null"
	switch t := t.(type) {
	case json.Delim:
		kind = strconv.Quote(t.String())
	case string:
		kind = "a text"
	case float64:
		kind = "a number"
	case bool:
		kind = strconv.FormatBool(t)
	}
	return p.fail("%s: expected %q, found %s", why, want, kind)
}

func (p *parser) array(d *json.Decoder, key string, read func(int, json.RawMessage) error) error {
	if err := p.expect(d, '[', fmt.Sprintf("%q is a list", key)); err != nil {
		return err
	}
	for i := 0; d.More(); i++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return p.syntax(d, err)
		}
		p.at = d.InputOffset() - int64(len(raw))
		if err := read(i, raw); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return p.syntax(d, err)
	}
	return nil
}

func (p *parser) deferRunning(_ int, raw json.RawMessage) error {
	p.deferred = append(p.deferred, located{p.at, raw})
	return nil
}

// window puts everything together.
func (p *parser) window() (*Window, error) {
	p.at = 0
	if len(p.total) == 0 {
		return nil, p.fail("nodes: the machine has no node")
	}
	t, err := nodeset.New(p.total)
	if err != nil {
		return nil, p.fail("nodes: %v", err)
	}
	for n := range p.total {
		if err := t.SetFree(n, p.free[n]); err != nil {
			return nil, p.fail("nodes: %v", err)
		}
		if !p.up[n] {
			t.SetUp(n, false)
		}
	}
	if err := p.addResources(t); err != nil {
		return nil, p.fail("nodes: %v", err)
	}
	w := &Window{Names: p.names}
	w.Snapshot = core.Snapshot{Nodes: t, Tiers: tiersOf(p.weight), Quotas: p.quotas, Pending: p.queue, Running: p.running}
	if w.Snapshot.Topology, err = p.topology(); err != nil {
		return nil, err
	}
	core.SortQueue(w.Snapshot.Pending)
	return w, nil
}

// tiersOf are the places of weights among all that there are, nil if they are all the same.
func tiersOf(weights []int64) []uint8 {
	there := slices.Compact(slices.Sorted(slices.Values(weights)))
	if len(there) < 2 {
		return nil
	}
	tiers := make([]uint8, len(weights))
	for n, weight := range weights {
		at, _ := slices.BinarySearch(there, weight)
		tiers[n] = uint8(min(at, math.MaxUint8))
	}
	return tiers
}

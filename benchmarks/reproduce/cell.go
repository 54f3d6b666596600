// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/sim"
)

// SettingsVersion is part of a cell's key. Raise it when the same settings give other
// results than before: by a generator, the simulator, a policy or a solver.
const SettingsVersion = 1

// Cell is one run of a command: a simulation, unless Command says otherwise.
type Cell struct {
	Args []string `json:"args"` // without --seed
	Seed uint64   `json:"seed"`
	// Command is aucsched's, "simulate" if it is empty.
	Command string `json:"command,omitempty"`
}

// AllArgs are the cell's arguments, with the seed.
func (c *Cell) AllArgs() []string {
	return append(slices.Clone(c.Args), "--seed="+strconv.FormatUint(c.Seed, 10))
}

// String is the command that runs the cell by hand.
func (c *Cell) String() string {
	return "aucsched " + cmp.Or(c.Command, "simulate") + " " + strings.Join(c.AllArgs(), " ")
}

// Program is what runs cells of one command.
type Program struct {
	// Version names the program's build; it is noted with results.
	Version string
	// Settings checks the arguments, and that all they name exists, without
	// running anything. It returns all settings that results depend on, also those
	// that were not given, in a fixed order.
	Settings func(args []string) ([]string, error)
	// Run runs a cell: the result, and what else is to be kept of it, as JSON, or nil. It
	// is called by several goroutines at a time.
	Run func(ctx context.Context, args []string) (*sim.Result, json.RawMessage, error)
	// Bound, if set, is the least runtime that any policy could have, in seconds. It
	// is quick, so that nobody keeps it.
	Bound func(ctx context.Context, args []string) (float64, error)
}

// Prepared is a cell whose settings are known and good.
type Prepared struct {
	Cell
	Settings []string `json:"settings"`
	// Key names the cell's result: a hash of all settings and SettingsVersion.
	Key string `json:"key"`
}

// Prepare checks a cell.
func (p *Program) Prepare(c Cell) (Prepared, error) {
	settings, err := p.Settings(c.AllArgs())
	if err != nil {
		return Prepared{}, fmt.Errorf("%s: %w", c.String(), err)
	}
	text, err := json.Marshal(struct {
		Version  int
		Settings []string
	}{SettingsVersion, settings})
	if err != nil {
		return Prepared{}, err
	}
	sum := sha256.Sum256(text)
	return Prepared{c, settings, hex.EncodeToString(sum[:16])}, nil
}

// Cells are all cells of the tables, each once, seed by seed: what is done when a run
// is interrupted is whole seeds. Any that the program can't run is an error.
func Cells(p *Program, tables []Table, seeds []uint64) ([]Prepared, error) {
	var cells []Prepared
	seen := make(map[string]bool)
	for _, seed := range seeds {
		for i := range tables {
			for _, row := range tables[i].Rows {
				c, err := p.Prepare(Cell{Args: row.Args, Seed: seed})
				if err != nil {
					return nil, fmt.Errorf("table %s: %w", tables[i].Name, err)
				}
				if !seen[c.Key] {
					seen[c.Key] = true
					cells = append(cells, c)
				}
			}
		}
	}
	return cells, nil
}

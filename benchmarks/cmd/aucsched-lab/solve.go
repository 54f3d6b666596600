// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/benchmarks/highs"
	"github.com/aucsched/aucsched/benchmarks/mpsread"
	"github.com/aucsched/aucsched/benchmarks/policies"
	"github.com/aucsched/aucsched/benchmarks/portfolio"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// solution is what "aucsched solve --json" prints. Objective is absent without a
// solution.
type solution struct {
	Status    string   `json:"status"`
	Objective *float64 `json:"objective,omitempty"`
	Bound     *float64 `json:"bound,omitempty"`
	Seconds   float64  `json:"seconds"`
	Solver    string   `json:"solver"`
}

func solveCommand() *cobra.Command {
	var asJSON bool
	var limit time.Duration
	var name, file string
	var seed uint64
	var gap float64
	c := &cobra.Command{
		Use:   "solve MODEL.mps[.gz]",
		Short: "Solve a 0-1 packing model in MPS",
		Long: `solve takes any 0-1 packing model: binary columns, rows that bound sums of
non-negative coefficients from above. Anything else is refused in words. The
objective is minimised unless the file says OBJSENSE MAX.`,
		Example: "  aucsched plan examples/table1.json --mps table1.mps\n  aucsched solve table1.mps --time-limit 1s --solution chosen.txt",
		Args:    cli.ExactArgs(1),

		ValidArgsFunction: cli.CompleteFile("mps", "mps.gz"),
		RunE: func(c *cobra.Command, args []string) error {
			if limit < 0 {
				return cli.BadInput(fmt.Errorf("--time-limit: %v is negative", limit))
			}
			if !(gap >= 0) { // NaN as well
				return cli.BadInput(fmt.Errorf("--gap: %v: must be 0 or more, 0.01 for one per cent", gap))
			}
			solver, err := solverFor(name)
			if err != nil {
				return err
			}
			p, err := readMPS(args[0])
			if err != nil {
				return err
			}
			out, err := report.CreateIf(file)
			if err != nil {
				return cli.BadInput(fmt.Errorf("--solution: %w", err))
			}
			defer out.Discard()
			var r ipmodel.Result
			begin := time.Now()
			o := ipmodel.Options{Deadline: cli.Deadline(limit), Gap: gap, Seed: seed}
			if err := solver.Solve(c.Context(), p.Model, o, &r); err != nil {
				return fmt.Errorf("solver %s: %w", solver.Name(), err)
			}
			if err := c.Context().Err(); err != nil {
				return err // the answer is only as good as the time was long
			}
			s := solution{Status: r.Status.String(), Seconds: time.Since(begin).Seconds(), Solver: solver.Name()}
			if err := s.fill(p, &r); err != nil {
				return err
			}
			if out != nil && s.Objective != nil {
				if err := writeNames(out, p.Names(r.Chosen)); err != nil {
					return fmt.Errorf("--solution: %w", err)
				}
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(s)
			}
			return s.print(c)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().DurationVar(&limit, "time-limit", 10*time.Second, "when the answer is due; 0: at the optimum")
	c.Flags().Float64Var(&gap, "gap", 0, "end when the answer is proven to be this close to the best, 0.01 for one per cent")
	c.Flags().StringVar(&name, "solver", "auto", "native, highs, or auto: both side by side if highs is built in")
	c.Flags().StringVar(&file, "solution", "", "write the names of the columns at 1 to this file, one a line")
	c.Flags().Uint64Var(&seed, "seed", 0, "seed of the random choices")
	cli.CompleteFlag(c, "solver", policy.Solvers()...)
	return c
}

// solverFor makes the solver of that name for single models, where auto runs native and
// HiGHS side by side if HiGHS is built in.
func solverFor(name string) (ipmodel.Solver, error) {
	switch {
	case name == "auto" && highs.Built:
		return portfolio.New(native.New(), highs.New(highs.Options{})), nil
	case name == "auto", name == "native":
		return native.New(), nil
	case name == "highs":
		return policies.NewHiGHS()
	}
	return nil, cli.Unknown("--solver", name, policy.Solvers())
}

// workerCommand is what a program that solves with HiGHS starts itself as.
func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "solver-worker",
		Short:  "Solve one model from standard input with HiGHS, for a parent process",
		Hidden: true,
		Args:   cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return highs.Worker(c.InOrStdin(), c.OutOrStdout())
		},
	}
}

func readMPS(path string) (*mpsread.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, cli.BadInput(err)
	}
	defer file.Close()
	p, err := mpsread.Read(file, path)
	return p, cli.BadInput(err)
}

// fill puts the result into the file's own terms, after the referee has seen it.
func (s *solution) fill(p *mpsread.File, r *ipmodel.Result) error {
	if r.Status != ipmodel.Optimal && r.Status != ipmodel.Feasible {
		return nil
	}
	if _, err := p.Model.Check(r.Chosen); err != nil {
		return fmt.Errorf("solver %s gave a wrong answer, please report this: %w", s.Solver, err)
	}
	objective, bound := p.Objective(r.Chosen), p.Bound(r.Bound)
	if r.Status == ipmodel.Optimal && p.Exact {
		bound = objective
	}
	s.Objective, s.Bound = &objective, &bound
	return nil
}

func (s *solution) print(c *cobra.Command) error {
	line := fmt.Sprintf("%s in %.3f s (%s)", s.Status, s.Seconds, s.Solver)
	if s.Objective != nil {
		line += fmt.Sprintf(": objective %.15g, bound %.15g", *s.Objective, *s.Bound)
	}
	_, err := fmt.Fprintln(c.OutOrStdout(), line)
	return err
}

func writeNames(out *report.OutputFile, names []string) error {
	text := strings.Join(names, "\n")
	if len(names) > 0 {
		text += "\n"
	}
	if _, err := out.WriteString(text); err != nil {
		return err
	}
	return out.Commit()
}

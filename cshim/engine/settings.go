package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/aucsched/aucsched/core"
)

// SolverMode says which solvers an [Engine] uses.
type SolverMode uint8

// The solvers.
const (
	Native SolverMode = iota // in this process
	Auto                     // native, and a worker process for what native can't prove
	HiGHS                    // a worker process, and native if that fails
)

var solverNames = [...]string{Native: "native", Auto: "auto", HiGHS: "highs"}

func (m SolverMode) String() string { return solverNames[m] }

// Settings are what an [Engine] is opened with.
type Settings struct {
	Auction core.AuctionOptions
	// Deadline is for cycles whose input has none.
	Deadline time.Duration
	Solver   SolverMode
	// Worker is the path of a program that runs highs.Worker when it is called with the
	// argument solver-worker.
	Worker string
}

// DefaultSettings are those of an empty text.
func DefaultSettings() Settings {
	return Settings{Auction: core.DefaultAuctionOptions(), Deadline: 200 * time.Millisecond}
}

// MaxDeadline is the longest that a cycle may take.
const MaxDeadline = time.Hour

// ParseSettings reads "key=value" pairs, separated by commas or white space, on top of
// the defaults. Later ones win. Errors are [*SettingError].
//
//	window=200 depth=500 bids=15 drafts=7 reservations=1   see core.AuctionOptions
//	objective=priority|size|rate   patience_s=0 compact=yes|no
//	throughput=yes|no     yes: core.ThroughputAuctionOptions, and on top of these what else is given
//	deadline_ms=200       time of a cycle, up to an hour
//	solver=native|auto|highs
//	worker=PATH           the aucsched command; absolute, without commas and spaces
//	work=10000000         bound on one solve, 0: until the deadline
func ParseSettings(text string) (Settings, error) {
	s := DefaultSettings()
	draftsGiven := false
	pairs := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	for _, pair := range pairs {
		if value, ok := strings.CutPrefix(pair, "throughput="); ok {
			most, err := yesOrNo("throughput", value)
			if err != nil {
				return Settings{}, err
			}
			if s.Auction = core.DefaultAuctionOptions(); most {
				s.Auction = core.ThroughputAuctionOptions()
			}
		}
	}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return Settings{}, &SettingError{key, "", "has no value: must be key=value"}
		}
		if err := s.set(key, value); err != nil {
			return Settings{}, err
		}
		draftsGiven = draftsGiven || key == "drafts"
	}
	if !draftsGiven {
		s.Auction.Drafts = min(s.Auction.Drafts, s.Auction.MaxBidsPerJob)
	}
	return s, s.check()
}

// check looks at what several settings have to do with one another.
func (s *Settings) check() error {
	if o := &s.Auction; o.Drafts > o.MaxBidsPerJob {
		return &SettingError{"drafts", strconv.Itoa(o.Drafts), fmt.Sprintf("must be at most the %d bids", o.MaxBidsPerJob)}
	}
	if s.Solver != Native && s.Worker == "" {
		return &SettingError{"solver", s.Solver.String(), "needs worker=PATH, the aucsched command"}
	}
	return nil
}

func (s *Settings) set(key, value string) (err error) {
	o := &s.Auction
	switch key {
	case "window":
		o.Window, err = number[int](key, value, 1, MaxJobs)
	case "depth":
		o.Depth, err = number[int](key, value, 0, MaxJobs)
	case "bids":
		o.MaxBidsPerJob, err = number[int](key, value, 1, 1<<12)
	case "drafts":
		o.Drafts, err = number[int](key, value, 0, 1<<12)
	case "reservations":
		o.Reservations, err = number[int](key, value, 0, 64)
	case "work":
		o.Work, err = number[int64](key, value, 0, math.MaxInt64)
	case "deadline_ms":
		var ms int64
		ms, err = number[int64](key, value, 1, MaxDeadline.Milliseconds())
		s.Deadline = time.Duration(ms) * time.Millisecond
	case "objective":
		if o.Objective, err = core.ParseObjective(value); err != nil {
			err = &SettingError{key, value, "must be priority, size or rate"}
		}
	case "patience_s":
		o.Patience, err = number[int64](key, value, 0, core.NoTimeLimit)
	case "compact":
		o.Compact, err = yesOrNo(key, value)
	case "throughput": // has been taken before all others
	case "solver":
		s.Solver, err = parseSolver(value)
	case "worker":
		if s.Worker = value; !strings.HasPrefix(value, "/") {
			err = &SettingError{key, value, "must be an absolute path"}
		}
	default:
		err = &SettingError{key, value, "there is no such setting"}
	}
	return err
}

func yesOrNo(key, value string) (bool, error) {
	if value != "yes" && value != "no" {
		return false, &SettingError{key, value, "must be yes or no"}
	}
	return value == "yes", nil
}

func parseSolver(value string) (SolverMode, error) {
	for m, name := range solverNames {
		if name == value {
			return SolverMode(m), nil
		}
	}
	return 0, &SettingError{"solver", value, "must be native, auto or highs"}
}

func number[T int | int64](key, value string, low, high T) (T, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < int64(low) || n > int64(high) {
		return 0, &SettingError{key, value, fmt.Sprintf("must be a number from %d to %d", low, high)}
	}
	return T(n), nil
}

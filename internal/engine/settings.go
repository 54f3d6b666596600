// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
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
	Policy PolicyName
	// Auction are the options of the auctions, but for Determiner, which Policy says;
	// IPSched those of ipsched.
	Auction core.AuctionOptions
	IPSched older.Options
	// Deadline is for cycles whose input has none.
	Deadline time.Duration
	Solver   SolverMode
	// Worker is the path of a program that runs highs.Worker when it is called with the
	// argument solver-worker.
	Worker string
	// FileAge is after how many seconds a file that was not read is taken to be gone
	// from a node; 0: never.
	FileAge int64
	// Memory is how many MB a cycle may take, by the lengths of its arrays; 0: any number.
	Memory int64
}

// DefaultSettings are those of an empty text.
func DefaultSettings() Settings {
	return Settings{
		Auction: core.DefaultAuctionOptions(), IPSched: older.DefaultOptions(), Deadline: 200 * time.Millisecond,
		FileAge: 24 * 60 * 60, Memory: 16 << 10,
	}
}

// MaxDeadline is the longest that a cycle may take.
const MaxDeadline = time.Hour

// ParseSettings reads "key=value" pairs, separated by commas or white space, on top of
// the defaults. Later ones win. Errors are [*SettingError].
//
//	policy=auction2|auction1|ipsched
//	window=200 depth=500 bids=15 drafts=7 reservations=1   see core.AuctionOptions
//	objective=priority|size|rate   patience_s=0 compact=yes|no contiguous_bids=yes|no
//	keep_holes=yes|no
//	paper=yes|no          yes: core.PaperAuctionOptions, and on top of these what else is given
//	throughput=yes|no     yes: core.ThroughputAuctionOptions likewise; goes without paper
//	preset=NAME           core.AuctionPreset likewise, or none; goes without both   promise_s=604800
//	node_limits=yes|no on_timeout=incumbent|halve          see older.Options
//	deadline_ms=200       time of a cycle, up to an hour
//	solver=native|auto|highs
//	worker=PATH           the aucsched command; absolute, without commas and spaces
//	work=10000000         bound on one solve, 0: until the deadline
//	memory_mb=16384       a cycle that may take more is refused, 0: none is
//	file_age_s=86400      a node has lost a file that was not read for so long, 0: never
//
// A caller may give all of them whatever the policy is. Of these, ipsched goes by window,
// objective, work, node_limits and on_timeout alone, and the auctions by none of the last two.
func ParseSettings(text string) (Settings, error) {
	s := DefaultSettings()
	draftsGiven := false
	pairs := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	var err error
	if s.Auction, err = startingPoint(pairs); err != nil {
		return Settings{}, err
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

// startingPoint are the options that come before all others, wherever they are named.
func startingPoint(pairs []string) (o core.AuctionOptions, err error) {
	var paper, throughput bool
	preset := ""
	for _, pair := range pairs {
		switch key, value, _ := strings.Cut(pair, "="); key {
		case "paper":
			paper, err = yesOrNo(key, value)
		case "throughput":
			throughput, err = yesOrNo(key, value)
		case "preset":
			preset = value
		}
		if err != nil {
			return o, err
		}
	}
	switch {
	case paper && throughput:
		return o, &SettingError{"throughput", "yes", "goes without paper=yes"}
	case preset != "" && preset != "none" && (paper || throughput):
		return o, &SettingError{"preset", preset, "goes without paper=yes and throughput=yes"}
	case preset != "" && preset != "none":
		if !slices.Contains(core.Presets(), preset) {
			return o, &SettingError{"preset", preset, "must be none, " + strings.Join(core.Presets(), ", ")}
		}
		return core.AuctionPreset(preset)
	case paper:
		return core.PaperAuctionOptions(), nil
	case throughput:
		return core.ThroughputAuctionOptions(), nil
	}
	return core.DefaultAuctionOptions(), nil
}

// check looks at what several settings have to do with one another.
func (s *Settings) check() error {
	if o := &s.Auction; o.Drafts > o.MaxBidsPerJob {
		return &SettingError{"drafts", strconv.Itoa(o.Drafts), fmt.Sprintf("must be at most the %d bids", o.MaxBidsPerJob)}
	}
	if s.Policy == IPSched && s.IPSched.Objective == core.ByRate {
		return &SettingError{"objective", s.IPSched.Objective.String(), "must be priority or size for ipsched"}
	}
	if s.Solver != Native && s.Worker == "" {
		return &SettingError{"solver", s.Solver.String(), "needs worker=PATH, the aucsched command"}
	}
	return nil
}

func (s *Settings) set(key, value string) (err error) {
	o := &s.Auction
	switch key {
	case "policy":
		s.Policy, err = oneOf[PolicyName](key, value, policyNames[:])
	case "window":
		o.Window, err = number[int](key, value, 1, MaxJobs)
		s.IPSched.Window = o.Window
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
		s.IPSched.Work = o.Work
	case "deadline_ms":
		var ms int64
		ms, err = number[int64](key, value, 1, MaxDeadline.Milliseconds())
		s.Deadline = time.Duration(ms) * time.Millisecond
	case "objective":
		if o.Objective, err = core.ParseObjective(value); err != nil {
			err = &SettingError{key, value, "must be priority, size or rate"}
		}
		s.IPSched.Objective = o.Objective
	case "patience_s":
		o.Patience, err = number[int64](key, value, 0, core.NoTimeLimit)
	case "promise_s":
		o.Promise, err = number[int64](key, value, 0, core.NoTimeLimit)
	case "compact":
		o.Compact, err = yesOrNo(key, value)
	case "keep_holes":
		o.KeepHoles, err = yesOrNo(key, value)
	case "contiguous_bids":
		o.ContiguousOnly, err = yesOrNo(key, value)
	case "file_age_s":
		s.FileAge, err = number[int64](key, value, 0, core.NoTimeLimit)
	case "memory_mb":
		s.Memory, err = number[int64](key, value, 0, 1<<30)
	case "paper", "throughput", "preset": // have been taken before all others
	case "node_limits":
		s.IPSched.NodeLimits, err = yesOrNo(key, value)
	case "on_timeout":
		if s.IPSched.OnTimeout, err = older.ParseTimeout(value); err != nil {
			err = &SettingError{key, value, "must be incumbent or halve"}
		}
	case "solver":
		s.Solver, err = oneOf[SolverMode](key, value, solverNames[:])
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

// oneOf is the index of value among names.
func oneOf[T ~uint8](key, value string, names []string) (T, error) {
	if i := slices.Index(names, value); i >= 0 {
		return T(i), nil
	}
	last := len(names) - 1
	return 0, &SettingError{key, value, "must be " + strings.Join(names[:last], ", ") + " or " + names[last]}
}

func number[T int | int64](key, value string, low, high T) (T, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < int64(low) || n > int64(high) {
		return 0, &SettingError{key, value, fmt.Sprintf("must be a number from %d to %d", low, high)}
	}
	return T(n), nil
}

// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/settings"
)

// Settings are what an [Engine] is opened with.
type Settings struct {
	Policy PolicyName
	// Auction are the options of the auctions, except for Determiner, which Policy says;
	// IPSched those of ipsched.
	Auction core.AuctionOptions
	IPSched older.Options
	// Deadline is for cycles whose input has none.
	Deadline time.Duration
	// Record is the path of a file in which a caller is to keep cycles; "": none.
	Record string
	// FileAge is after how many seconds a file that was not read is taken to be gone
	// from a node; 0: never.
	FileAge int64
	// Memory is how many MB a cycle may take, by the lengths of its arrays; 0: any number.
	Memory int64
}

// DefaultSettings are those of an empty text.
func DefaultSettings() Settings {
	return Settings{
		Auction: core.Preset(""), IPSched: older.DefaultOptions(), Deadline: 200 * time.Millisecond,
		FileAge: 24 * 60 * 60, Memory: 16 << 10,
	}
}

// ParseSettings reads "key=value" pairs, separated by commas or white space, on top of
// the defaults. Later ones win. Errors are [*SettingError].
//
//	policy=auction2|auction1|ipsched
//	preset=NAME and KEY=VALUE of package settings: what is given comes on top of the preset,
//	                      wherever it stands; times have the keys patience_s and promise_s
//	node_limits=yes|no on_timeout=incumbent|halve          see older.Options
//	deadline_ms=200       time of a cycle, up to an hour
//	record=PATH           cycles are kept in a file; absolute, without commas and spaces
//	memory_mb=16384       a cycle that may take more is refused, 0: none is
//	file_age_s=86400      a node has lost a file that was not read for so long, 0: never
//
// A caller may give all of them whatever the policy is. Of these, ipsched goes by window,
// objective, work, node_limits and on_timeout alone, and the auctions by none of the last two.
func ParseSettings(text string) (Settings, error) {
	s := DefaultSettings()
	pairs := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	rest, err := settings.Read(&s.Auction, pairs)
	if fault := (*settings.Fault)(nil); errors.As(err, &fault) {
		return Settings{}, &SettingError{fault.Name, fault.Value, fault.Why}
	}
	more := struct {
		*Settings
		DeadlineMs int64
		NodeLimits bool
		OnTimeout  older.Timeout
	}{&s, s.Deadline.Milliseconds(), s.IPSched.NodeLimits, s.IPSched.OnTimeout}
	for _, pair := range rest {
		key, value, ok := strings.Cut(pair, "=")
		known, err := settings.Set(others, &more, pair)
		fault := (*settings.Fault)(nil)
		switch {
		case !ok:
			return Settings{}, &SettingError{key, "", "has no value: must be key=value"}
		case errors.As(err, &fault):
			return Settings{}, &SettingError{key, value, fault.Why}
		case known:
		case key != "record":
			return Settings{}, &SettingError{key, value, "there is no such setting"}
		case !strings.HasPrefix(value, "/"):
			return Settings{}, &SettingError{key, value, "must be an absolute path"}
		default:
			s.Record = value
		}
	}
	s.Deadline = time.Duration(more.DeadlineMs) * time.Millisecond
	s.IPSched.NodeLimits, s.IPSched.OnTimeout = more.NodeLimits, more.OnTimeout
	s.IPSched.Read(pairs)
	return s, s.check()
}

// check looks at what several settings have to do with one another.
func (s *Settings) check() error {
	if s.Policy == IPSched && s.IPSched.Objective == core.ByRate {
		return &SettingError{"objective", "rate", "must be priority or size for ipsched"}
	}
	return nil
}

// freesNodes reports whether jobs are taken to have asked for no number of nodes.
func (s *Settings) freesNodes() bool { return s.Policy == IPSched && !s.IPSched.NodeLimits }

// others are the settings beside those of the auction.
var others = []settings.Setting{
	{Name: "policy", Field: "Policy", Values: policyNames[:]},
	{Name: "deadline_ms", Field: "DeadlineMs", Low: 1, High: settings.MaxDeadline.Milliseconds()},
	{Name: "file_age", Field: "FileAge", Seconds: true, High: core.NoTimeLimit},
	{Name: "memory_mb", Field: "Memory", High: 1 << 30},
	{Name: "node_limits", Field: "NodeLimits", Values: []string{"no", "yes"}},
	{Name: "on_timeout", Field: "OnTimeout", Values: []string{"incumbent", "halve"}},
}

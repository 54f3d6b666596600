// SPDX-License-Identifier: BSD-3-Clause

// Package settings has what users may change of the auction: a preset, and seven settings on top of
// it. Flags, the settings of libaucsched.so and of Slurm's plug-in, what
// "aucsched check" knows and the table of docs/reference/settings.md are made of it.
package settings

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxDeadline is the longest that a cycle may take.
const MaxDeadline = time.Hour

// Setting is a field of core.AuctionOptions by a name.
type Setting struct {
	// Name is that in slurm.conf after "auc_". Flags have "-" for "_". Without a Field it sets nothing.
	Name, Field string
	// Low and High are the least and the greatest value, Normal that of presets that say no other.
	Low, High, Normal int64
	// Seconds says that the value is a time.
	Seconds bool
	// Values are what the values from 0 on are called, of a choice.
	Values []string
	// Meaning is for people; a field without it has a name in presets alone.
	Meaning string
	// Instead is set of a name that only this version still takes, and says why.
	Instead string
}

const (
	century     = 100 * 365 * 24 * 3600 // bounds times, as core.NoTimeLimit does
	presetsOnly = "presets say it"
)

var noYes = []string{"no", "yes"}

// All are the settings: first those of users, then those that presets alone say.
var All = []Setting{
	{Name: "objective", Field: "Objective", Values: []string{"priority", "size", "rate"},
		Meaning: "what a start is worth: priority; size: priority times cores; " +
			"rate: priority times the shares of all cores and GPUs, by time limit"},
	{Name: "window", Field: "Window", Low: 1, High: 1 << 20, Normal: 200, Meaning: "jobs of the queue that take part"},
	{Name: "depth", Field: "Depth", High: 1 << 20, Normal: 500, Meaning: "requests behind the window that may fail to fit"},
	{Name: "reservations", Field: "Reservations", High: 64, Normal: 1,
		Meaning: "blocked jobs whose earliest start is kept free; 0: a wide job can wait for ever"},
	{Name: "patience", Field: "Patience", High: century, Seconds: true,
		Meaning: "keep places for blocked jobs that are large and old, not for the first of the queue: " +
			"what waiting so long weighs as much as asking for all cores"},
	{Name: "promise", Field: "Promise", High: century, Seconds: true,
		Meaning: "with a preset that plans: jobs that have waited longer are not passed over any more; 0: no promise"},
	{Name: "compact", Field: "Compact", Values: noYes, Meaning: "keep jobs together, in one block of nodes or in two"},

	{Name: "keep_holes", Values: noYes, Meaning: "start jobs where that makes the fewest GPUs useless", Instead: "it is always on"},
	{Name: "bids", Field: "MaxBidsPerJob", Low: 1, High: 1 << 12, Normal: 15, Meaning: "most bids a job", Instead: presetsOnly},
	{Name: "drafts", Field: "Drafts", High: 1 << 12, Normal: 7,
		Meaning: "most of these that come from drafts of the whole window", Instead: presetsOnly},
	{Name: "contiguous_bids", Field: "ContiguousOnly", Values: noYes, Meaning: "contiguous bids only", Instead: presetsOnly},
	{Name: "work", Field: "Work", High: 1e12, Normal: 4_000_000,
		Meaning: "work of one solve, about one matrix entry a unit; 0: until the deadline", Instead: presetsOnly},
	{Name: "goal", Field: "Goal", Values: []string{"none", "fair", "short", "most"}},
}

// Inner are the fields of core.AuctionOptions that are no settings: presets say them, and
// experiments of benchmarks change them.
type Inner struct {
	// Goal, if there is one, has the jobs planned over time, measured against serving them by Patience:
	// Reservations are then for the first blocked jobs of the timetable.
	Goal Goal
	// MaxBidsPerJob is MAXBIDSPERJOB of aucsched1, section 5.
	MaxBidsPerJob int
	// Drafts is how many of a job's bids may come from drafts of the whole window.
	Drafts int
	// ContiguousOnly leaves out bids of class C.
	ContiguousOnly bool
	// Work bounds one solve, in the units of ipmodel.Options; small models get less. 0 leaves the
	// end to the deadline. With a bound the decisions do not depend on the machine's speed.
	Work int64
}

// Goal says what an auction plans for. With one, the first jobs of the window get their places, now
// or later, in the order of the best timetable that sorting and annealing find. The auction has the
// rest. The longest wait, and other sums that the goal caps, do not grow beyond what queue order
// would give (docs/explanation/presets.md). Waits count by priority.
type Goal uint8

// Fair lets waits be shorter, and nothing be worse than in queue order. Short has waits and
// slowdowns as short as they get while nobody waits longer. Most has all that waits done soon, with
// planned waits and the end no longer than by Patience. It keeps places for blocked jobs that ask
// for a quarter of the machine or have waited for so long.
const (
	NoGoal Goal = iota
	Fair
	Short
	Most
)

// Preset is a set of values by a name: "name=value" of what is not Normal.
type Preset struct {
	Name, Values, Meaning string
	Old                   string // the name of a setting that meant the preset with "yes", which this version still takes
}

// Presets are those that there are. With more than 16 reservations the mean wait of a planned queue
// comes near that of conservative backfill, with 1 the widest jobs wait longer.
var Presets = []Preset{
	{"default", "goal=fair objective=rate reservations=16 promise=604800",
		"no sum of waits is worse than under Slurm's backfill, and most are better", ""},
	{Name: "none", Meaning: "the auction of one moment"},
	{"short", "goal=short objective=rate window=500 promise=604800",
		"waits and slowdowns are at most those of EASY with the shortest limits first", ""},
	{"throughput", "goal=most objective=size patience=14400 window=500 reservations=16 promise=604800",
		"most is done: large jobs have their places first", ""},
	{"packed", "objective=rate patience=14400 compact=yes", "most is done in one moment, in blocks of nodes", "throughput"},
	{"paper", "depth=0 bids=5 drafts=0 reservations=0", "the auctions of the papers, in which a wide job can wait for ever", "paper"},
}

// Names are those of all presets, and Planned those of the presets that plan over time.
func Names() []string   { return names("") }
func Planned() []string { return names("goal=") }

func names(with string) (names []string) {
	for _, p := range Presets {
		if strings.Contains(p.Values, with) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Instead says what has the place of a name that only this version takes; "" of others.
func Instead(name string) string {
	for _, p := range Presets {
		if p.Old != "" && p.Old == name {
			return "preset=" + p.Name
		}
	}
	if s := Find(name); s != nil {
		return s.Instead
	}
	return ""
}

// Find is the setting of that name; nil if there is none.
func Find(name string) *Setting {
	if i := slices.IndexFunc(All, func(s Setting) bool { return s.Name == name }); i >= 0 {
		return &All[i]
	}
	return nil
}

// Flag is the name of its flag.
func (s *Setting) Flag() string { return strings.ReplaceAll(s.Name, "_", "-") }

// Key is its name in a text of aucsched_configure().
func (s *Setting) Key() string {
	if s.Seconds {
		return s.Name + "_s"
	}
	return s.Name
}

// Bool says that it is yes or no.
func (s *Setting) Bool() bool { return slices.Equal(s.Values, noYes) }

// Most is the greatest value.
func (s *Setting) Most() int64 { return max(s.High, int64(len(s.Values))-1) }

// Must says what a value must be.
func (s *Setting) Must() string {
	if s.Values == nil {
		return fmt.Sprintf("must be a number from %d to %d", s.Low, s.High)
	}
	last := len(s.Values) - 1
	return "must be " + strings.Join(s.Values[:last], ", ") + " or " + s.Values[last]
}

// Parse reads a value, times in seconds; false if it is invalid.
func (s *Setting) Parse(text string) (int64, bool) {
	if s.Values != nil {
		i := slices.Index(s.Values, text)
		return int64(i), i >= 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && s.Low <= n && n <= s.High
}

// Get is the value that a core.AuctionOptions has.
func (s *Setting) Get(options any) int64 {
	if s.Field == "" {
		return s.Normal
	}
	f := reflect.ValueOf(options).Elem().FieldByName(s.Field)
	if f.Kind() == reflect.Bool {
		return map[bool]int64{true: 1}[f.Bool()]
	}
	return f.Convert(reflect.TypeFor[int64]()).Int()
}

// Set sets the field of a setting in a struct that has it.
func (s *Setting) Set(options any, value int64) {
	if s.Field == "" {
		return
	}
	f := reflect.ValueOf(options).Elem().FieldByName(s.Field)
	if f.Kind() == reflect.Bool {
		f.SetBool(value != 0)
	} else {
		f.Set(reflect.ValueOf(value).Convert(f.Type()))
	}
}

// Fill sets all values of a core.AuctionOptions to those of a preset, and reports whether it is one
// of [Names]; "" is the first.
func Fill(options any, preset string) bool {
	at := slices.Index(Names(), cmp.Or(preset, Presets[0].Name))
	for i := 0; i < len(All) && at >= 0; i++ {
		All[i].Set(options, Presets[at].Value(&All[i]))
	}
	return at >= 0
}

// Fault is what is wrong with a setting. Known are the values that it may have, if these are words.
type Fault struct {
	Name, Value, Why string
	Known            []string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s %s: %s", f.Name, f.Value, f.Why) }

// Read sets a core.AuctionOptions to a preset, and on top of it to what else is given as
// "name=value", wherever it stands; the last of a name counts. It returns what it does not know. The
// error is a [*Fault].
func Read(options any, given []string) (rest []string, err error) {
	last := make(map[string]string)
	for _, pair := range given {
		name, value, _ := strings.Cut(pair, "=")
		last[name] = value
	}
	preset := last["preset"]
	for _, p := range Presets {
		switch value, ok := last[p.Old]; {
		case !ok || p.Old == "" || value == "no":
		case value != "yes":
			return nil, &Fault{Name: p.Old, Value: value, Why: "must be yes or no"}
		case preset != "" && preset != "none":
			return nil, &Fault{Name: p.Old, Value: value, Why: "goes without the preset " + preset}
		default:
			preset = p.Name
		}
	}
	if preset = cmp.Or(preset, usual(last["policy"])); !Fill(options, preset) {
		return nil, &Fault{"preset", preset, "must be one of " + strings.Join(Names(), ", "), Names()}
	}
	for _, pair := range given {
		if name, _, _ := strings.Cut(pair, "="); name == "preset" || strings.HasPrefix(Instead(name), "preset=") {
			continue
		}
		if known, err := Set(All[:len(All)-1], options, pair); err != nil { // all but the goal
			return nil, err
		} else if !known {
			rest = append(rest, pair)
		}
	}
	return rest, nil
}

// usual is the preset of a policy with which none is given: the others are those of papers, which plan nothing.
func usual(policy string) string {
	if policy == "" || policy == "auction2" {
		return Presets[0].Name
	}
	return "none"
}

// Set sets a value that is given as "name=value", and reports whether it is one of table.
func Set(table []Setting, options any, pair string) (known bool, err error) {
	name, text, ok := strings.Cut(pair, "=")
	i := slices.IndexFunc(table, func(s Setting) bool { return name == s.Name || name == s.Key() })
	if i < 0 || !ok {
		return false, nil
	}
	s := &table[i]
	value, ok := s.Parse(text)
	if !ok {
		return true, &Fault{name, text, s.Must(), s.Values}
	}
	s.Set(options, value)
	return true, nil
}

// Value is the preset's value of a setting.
func (p *Preset) Value(s *Setting) int64 {
	for word := range strings.FieldsSeq(p.Values) {
		if name, text, _ := strings.Cut(word, "="); name == s.Name {
			value, _ := s.Parse(text)
			return value
		}
	}
	return s.Normal
}

// SPDX-License-Identifier: BSD-3-Clause

package ipmodel

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// small has two groups, three columns and two rows.
func small() *Model {
	return &Model{
		Value: []int64{5, 7, 3}, Scale: 4, Offset: 1,
		GroupStart: []int32{0, 2, 3}, Required: []bool{false, true},
		ColStart: []int32{0, 2, 3, 4}, Row: []int32{0, 1, 1, 0}, Coef: []int32{2, 1, 3, 2},
		Cap:     []int64{3, 3},
		ColName: []string{"a", "b", "c"}, RowName: []string{"r", "s"},
	}
}

func TestValidateCatches(t *testing.T) {
	require.NoError(t, small().Validate())
	require.NoError(t, new(Model).Validate())
	for name, c := range map[string]struct {
		spoil func(m *Model)
		want  string
	}{
		"no groups":         {func(m *Model) { m.GroupStart = nil }, "GroupStart does not span the 3 columns"},
		"groups begin late": {func(m *Model) { m.GroupStart[0] = 1 }, "GroupStart"},
		"groups end early":  {func(m *Model) { m.GroupStart[2] = 2 }, "GroupStart"},
		"group ends before it starts": {func(m *Model) {
			m.GroupStart = []int32{0, 3, 1, 3}
			m.Required = nil

		}, "group 1 ends before it starts"},
		"group ends beyond":            {func(m *Model) { m.GroupStart = []int32{0, 9, 3} }, "group 0 ends before it starts or beyond"},
		"group starts below 0":         {func(m *Model) { m.GroupStart[1] = -1 }, "group 0 ends before"},
		"no column starts":             {func(m *Model) { m.ColStart = nil }, "ColStart does not span the 4 entries"},
		"a column too few":             {func(m *Model) { m.ColStart = m.ColStart[:3] }, "ColStart"},
		"columns begin late":           {func(m *Model) { m.ColStart[0] = 1 }, "ColStart"},
		"columns end early":            {func(m *Model) { m.ColStart[3] = 3 }, "ColStart"},
		"column ends before it starts": {func(m *Model) { m.ColStart[2] = 1 }, "column 1 ends before it starts"},
		"column ends beyond":           {func(m *Model) { m.ColStart[1] = 1 << 30 }, "column 0 ends before it starts or beyond"},
		"column starts below 0":        {func(m *Model) { m.ColStart[1] = -7 }, "column 0 ends before"},
		"a coefficient too few":        {func(m *Model) { m.Coef = m.Coef[:3] }, "3 coefficients for 4 entries"},
		"a flag too few":               {func(m *Model) { m.Required = m.Required[:1] }, "1 required flags for 2 groups"},
		"a name too few":               {func(m *Model) { m.ColName = m.ColName[:2] }, "2 column"},
		"a row name too many":          {func(m *Model) { m.RowName = append(m.RowName, "t") }, "3 row names"},
		"scale not a number":           {func(m *Model) { m.Scale = math.NaN() }, "scale NaN"},
		"scale below 0":                {func(m *Model) { m.Scale = -1 }, "scale -1"},
		"scale without end":            {func(m *Model) { m.Scale = math.Inf(1) }, "scale +Inf"},
		"capacity below 0":             {func(m *Model) { m.Cap[1] = -1 }, "row 1: capacity -1 is negative"},
		"worth below 0":                {func(m *Model) { m.Value[2] = -1 }, "column 2: worth -1"},
		"worth too large":              {func(m *Model) { m.Value[0] = MaxTotalValue + 1 }, "column 0: worth 2305843009213693953"},
		"worths too large together":    {func(m *Model) { m.Value[0], m.Value[2] = MaxTotalValue, 1 }, "the worths add up"},
		"row twice":                    {func(m *Model) { m.Row[1] = 0 }, "column 0: row 0 is out of order"},
		"rows descend":                 {func(m *Model) { m.Row[0], m.Row[1] = 1, 0 }, "column 0: row 0 is out of order"},
		"row below 0":                  {func(m *Model) { m.Row[3] = -2 }, "column 2: row -2"},
		"row too large":                {func(m *Model) { m.Row[3] = 2 }, "column 2: row 2 is out of order or outside 0-1"},
		"coefficient 0":                {func(m *Model) { m.Coef[2] = 0 }, "column 1, row 1: coefficient 0"},
		"entries without columns":      {func(m *Model) { m.Value, m.GroupStart = nil, nil }, "GroupStart does not span the 0 columns"},
	} {
		m := small()
		c.spoil(m)
		require.ErrorContains(t, m.Validate(), c.want, name)
	}
	m := small()
	m.Value[0], m.Value[1], m.Value[2] = MaxTotalValue-3, MaxTotalValue-3, 3
	require.NoError(t, m.Validate(), "of a group only the greatest worth counts")
}

// validTwin says of each rule by itself, in any order, whether it holds.
func validTwin(m *Model) bool {
	between := func(v []int32, last int) bool {
		return len(v) > 0 && v[0] == 0 && int(v[len(v)-1]) == last && slices.IsSorted(v)
	}
	if len(m.Value) == 0 && len(m.GroupStart) <= 1 && len(m.Row) == 0 {
		return true
	}
	if !between(m.GroupStart, len(m.Value)) || !between(m.ColStart, len(m.Row)) {
		return false
	}
	ok := len(m.ColStart) == len(m.Value)+1 && len(m.Coef) == len(m.Row)
	ok = ok && (len(m.Required) == 0 || len(m.Required) == len(m.GroupStart)-1)
	ok = ok && m.Scale >= 0 && !math.IsInf(m.Scale, 0)
	for _, c := range m.Cap {
		ok = ok && c >= 0
	}
	for _, c := range m.Coef {
		ok = ok && c >= 1
	}
	for _, r := range m.Row {
		ok = ok && r >= 0 && int(r) < len(m.Cap)
	}
	if !ok {
		return false
	}
	for i := range m.Value {
		rows := m.Row[m.ColStart[i]:m.ColStart[i+1]]
		ok = ok && slices.IsSorted(rows) && len(slices.Compact(slices.Clone(rows))) == len(rows)
		ok = ok && m.Value[i] >= 0
	}
	total := 0.0
	for g := range len(m.GroupStart) - 1 {
		if w := m.Value[m.GroupStart[g]:m.GroupStart[g+1]]; len(w) > 0 {
			total += float64(slices.Max(w))
		}
	}
	return ok && total <= MaxTotalValue
}

// spoil changes one number, or cuts or lengthens one list.
func spoil(t *rapid.T, m *Model) {
	lists := []*[]int32{&m.GroupStart, &m.ColStart, &m.Row, &m.Coef}
	wide := []*[]int64{&m.Value, &m.Cap}
	k := rapid.IntRange(0, 6).Draw(t, "list")
	value := rapid.SampledFrom([]int64{math.MinInt32, -1, 0, 1, 2, 3, 7, math.MaxInt32}).Draw(t, "value")
	switch {
	case k < 4:
		change(t, lists[k], int32(value))
	case k < 6:
		change(t, wide[k-4], value<<29)
	default:
		m.Required = append(m.Required, true)
	}
}

func change[T any](t *rapid.T, list *[]T, value T) {
	switch at := rapid.IntRange(-1, len(*list)).Draw(t, "at"); {
	case at < 0:
		*list = (*list)[:max(0, len(*list)-1)]
	case at == len(*list):
		*list = append(*list, value)
	default:
		(*list)[at] = value
	}
}

// drawModel draws a model of up to 4 groups of up to 3 columns and up to 4 rows.
func drawModel(t *rapid.T) *Model {
	m := &Model{GroupStart: []int32{0}, ColStart: []int32{0}}
	for range rapid.IntRange(0, 4).Draw(t, "rows") {
		m.Cap = append(m.Cap, rapid.Int64Range(0, 6).Draw(t, "cap"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "groups") {
		for range rapid.IntRange(0, 3).Draw(t, "columns") {
			m.Value = append(m.Value, rapid.Int64Range(0, 5).Draw(t, "worth"))
			for r := range m.Cap {
				if a := rapid.Int32Range(0, 4).Draw(t, "coef"); a > 0 {
					m.Row, m.Coef = append(m.Row, int32(r)), append(m.Coef, a)
				}
			}
			m.ColStart = append(m.ColStart, int32(len(m.Row)))
		}
		m.GroupStart = append(m.GroupStart, int32(len(m.Value)))
		m.Required = append(m.Required, rapid.IntRange(0, 3).Draw(t, "required") == 0)
	}
	return m
}

func TestValidateOnSpoiltModels(t *testing.T) {
	good, bad := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		require.NoError(t, m.Validate())
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			spoil(t, m)
		}
		err := m.Validate()
		require.Equal(t, validTwin(m), err == nil, "%v: %+v", err, m)
		if err != nil {
			bad++
			require.NotContains(t, err.Error(), "\n")
			return
		}
		good++
		// What is valid can be checked, whatever the choice.
		_, _ = m.Check(rapid.SliceOf(rapid.Int32Range(-1, 12)).Draw(t, "chosen"))
	})
	require.Positive(t, good)
	require.Positive(t, bad)
}

func TestCheck(t *testing.T) {
	m := small()
	for _, c := range []struct {
		chosen []int32
		worth  int64
		want   string
	}{
		{[]int32{2}, 3, ""},
		{[]int32{1, 2}, 10, ""},
		{[]int32{0, 2}, 0, "row 0: 4 of 3 used"},
		{[]int32{0}, 0, "group 1 has 0 chosen columns (required: true)"},
		{[]int32{0, 1, 2}, 0, "group 0 has 2 chosen columns"},
		{[]int32{2, 2}, 0, "group 1 has 2 chosen columns"},
		{[]int32{3}, 0, "column 3 is outside 0-2"},
		{[]int32{-1}, 0, "column -1 is outside 0-2"},
	} {
		worth, err := m.Check(c.chosen)
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.worth, worth)
	}
	require.Equal(t, 3.5, m.Objective(10))
	m.Scale = 0
	require.Equal(t, 11., m.Objective(10))
	require.Equal(t, 4, m.Groups()+len(m.Cap))
}

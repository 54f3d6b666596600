// SPDX-License-Identifier: BSD-3-Clause

package input

import "strings"

// Nearest is the one of known that is most like word: "" if none is near, or several are as near. Case
// and dashes at the beginning do not count.
func Nearest(word string, known []string) string {
	best, least := "", limit(word)+1
	for _, k := range known {
		switch d := distance(plain(word), plain(k)); {
		case d < least:
			best, least = k, d
		case d == least:
			best = ""
		}
	}
	return best
}

// Hint is Nearest as the end of a message: `; did you mean "plan"?`, or nothing.
func Hint(word string, known []string) string {
	if k := Nearest(word, known); k != "" {
		return `; did you mean "` + k + `"?`
	}
	return ""
}

// limit is how many edits may make another word of word: one for up to five letters, two for up to
// ten, then three. A single letter is not mistyped.
func limit(word string) int {
	switch n := len(plain(word)); {
	case n < 2:
		return 0
	case n <= 5:
		return 1
	case n <= 10:
		return 2
	}
	return 3
}

func plain(s string) string { return strings.ToLower(strings.TrimLeft(s, "-")) }

// distance is how many bytes have to be put in, taken out, replaced or swapped with the next one to
// make b of a (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

package main

import (
	"fmt"
	"iter"
)

// meant returns a suggestion to append to an error message, such as `; did you mean "listen"?`. The
// result is "" if no name is similar to the text.
func meant(text string, names iter.Seq[string]) string {
	if name := nearest(text, names); name != "" {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return ""
}

// nearest returns the name with the smallest edit distance from text. The result is "" if the
// distance is more than a third of the length of text. If several names have the same distance,
// nearest prefers the longest name, and then the first in lexical order.
func nearest(text string, names iter.Seq[string]) string {
	best, least := "", len(text)/3+1
	for name := range names {
		if d := distance(text, name); d < least || d == least && best != "" && (len(name) > len(best) || len(name) == len(best) && name < best) {
			best, least = name, d
		}
	}
	return best
}

// distance returns the restricted Damerau-Levenshtein distance between a and b. This is the minimum
// number of insertions, deletions and replacements of bytes, and transpositions of adjacent bytes.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// Package tsv reads the tables of tab-separated text that packages embed.
package tsv

import (
	"iter"
	"strings"
)

// Rows yields the fields of each line of a table. Lines that begin with a number
// sign are comments. The fields share the memory of the table.
func Rows(table string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			if line[0] != '#' && !yield(strings.Split(strings.TrimSuffix(line, "\n"), "\t")) {
				return
			}
		}
	}
}

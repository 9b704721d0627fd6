// Package tsv reads embedded tables of tab-separated text.
package tsv

import (
	"iter"
	"strings"
)

// Rows returns an iterator over the fields of each line. Lines that begin with a number sign are
// comments. The fields share the memory of the table.
func Rows(table string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			if line[0] != '#' && !yield(strings.Split(strings.TrimSuffix(line, "\n"), "\t")) {
				return
			}
		}
	}
}

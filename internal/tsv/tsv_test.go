package tsv_test

import (
	"slices"
	"testing"

	"github.com/nomen-project/nomen/internal/tsv"
)

func TestRows(t *testing.T) {
	var got [][]string
	for row := range tsv.Rows("# a comment\na\tb\t\n\nc") {
		got = append(got, row)
	}
	want := [][]string{{"a", "b", ""}, {""}, {"c"}}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("Rows: got %q, want %q", got, want)
	}
	for range tsv.Rows("a\nb\n") {
		break
	}
}

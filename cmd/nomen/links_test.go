package main

import (
	"testing"

	"github.com/nomen-project/nomen/adminapi"
)

// TestHostChangeLine checks the lines of the report about links.
func TestHostChangeLine(t *testing.T) {
	for _, tt := range []struct {
		change adminapi.LinkHostChange
		want   string
	}{
		{adminapi.LinkHostChange{Host: "a.example", Failing: true}, "a.example: fails as a whole"},
		{adminapi.LinkHostChange{Host: "a.example", Back: true}, "a.example: answers again"},
		{adminapi.LinkHostChange{Host: "a.example", Dead: 1, URLs: []string{"https://a.example/1"}}, "a.example: 1 location newly dead, such as https://a.example/1"},
		{adminapi.LinkHostChange{Host: "a.example", Dead: 2, Recovered: 3, URLs: []string{"https://a.example/\x1b"}}, `a.example: 2 locations newly dead, such as https://a.example/[U+001B]; 3 dead locations answering again`},
	} {
		if got := hostChangeLine(&tt.change); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

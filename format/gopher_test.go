package format

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
)

// RFC 1436, appendix; RFC 4266, 2.
func TestGopherMenu(t *testing.T) {
	for _, tt := range []struct {
		location nomen.Location
		want     string // "" for none
	}{
		{nomen.Location{URL: "gopher://g.example/00/x"}, "0gopher://g.example/00/x\t0/x\tg.example\t70"},
		{nomen.Location{URL: "GOPHER://g.example:7070/1/menu", Note: " A menu\nand more"}, "1A menu\t/menu\tg.example\t7070"},
		{nomen.Location{URL: "gopher://g.example", Note: "root"}, "1root\t\tg.example\t70"},
		{nomen.Location{URL: "gopher://g.example:/", Note: "root"}, "1root\t\tg.example\t70"},
		{nomen.Location{URL: "gopher://[2001:db8::1]/0x", Note: "six"}, "0six\tx\t2001:db8::1\t70"},
		{nomen.Location{URL: "gopher://g.example/0a%20b%2Fc?q", Note: "a\tb\x1b"}, "0a b[U+001B]\ta b/c?q\tg.example\t70"},
		{nomen.Location{URL: "gopher://g.example/0x", Note: strings.Repeat("é", 71)}, "0" + strings.Repeat("é", 70) + "\tx\tg.example\t70"},
		{nomen.Location{URL: "gopher://g.example/7search%09words"}, ""}, // a search is not an item
		{nomen.Location{URL: "gopher://g.example/0x%0D%0A0evil"}, ""},
		{nomen.Location{URL: "gopher://g.example/0%00"}, ""},
		{nomen.Location{URL: "gopher://g.example/%20x"}, ""},
		{nomen.Location{URL: "gopher:x"}, ""},
		{nomen.Location{URL: "gopher:///0x"}, ""},
		{nomen.Location{URL: "http://h.example/y"}, ""},
		{nomen.Location{URL: "gopher://g.example/0\r\nx"}, ""},
		{nomen.Location{}, ""},
	} {
		want := "." + crlf
		if tt.want != "" {
			want = tt.want + crlf + want
		}
		if got := written(t, GopherMenu, &nomen.Answer{Locations: []nomen.Location{tt.location}}); got != want {
			t.Errorf("Y95-53, Y95-62: %q: got %q, want %q", tt.location.URL, got, want)
		}
	}
}

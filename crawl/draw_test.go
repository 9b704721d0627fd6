package crawl

import (
	"encoding/xml"
	"strings"
	"testing"
)

// A drawing says in shapes what it says in colours, is well-formed whatever the names are, and
// has room for wide characters.
func TestWriteSVGStyles(t *testing.T) {
	wide := strings.Repeat("漢", 30)
	nodes := []*Node{
		{Authority: wide, Parents: []string{"up.example"}, Children: []string{"down.example\ufffe"}},
		{Authority: "up.example", Errors: []string{"no answer"}},
	}
	var b strings.Builder
	if err := WriteSVG(&b, nodes); err != nil {
		t.Fatal(err)
	}
	var picture struct {
		Role  string `xml:"role,attr"`
		Desc  string `xml:"desc"`
		Paths []struct {
			Dashes string `xml:"stroke-dasharray,attr"`
		} `xml:"path"`
		Texts []struct {
			X     int    `xml:"x,attr"`
			Style string `xml:"font-style,attr"`
			Text  string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal([]byte(b.String()), &picture); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if picture.Role != "img" || picture.Desc == "" || len(picture.Paths) != 2 || len(picture.Texts) != 3 {
		t.Fatalf("got %+v", picture)
	}
	dotted := 0
	for _, p := range picture.Paths {
		if p.Dashes != "" {
			dotted++
		}
	}
	if dotted != 1 {
		t.Errorf("%d lines are dotted, want that of the parent", dotted)
	}
	for _, text := range picture.Texts {
		if italic := text.Style == "italic"; italic != (text.Text == "up.example") {
			t.Errorf("%q is in italics: %v", text.Text, italic)
		}
		if text.Text != wide && text.X < picture.Texts[0].X+30*12 { // a wide character is as wide as the font is high
			t.Errorf("%q at %d is on %q", text.Text, text.X, wide)
		}
	}
}

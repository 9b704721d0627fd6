package qrcode_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/qrcode"
)

// modules reads the path of a code and returns the modules, without the margin.
func modules(t *testing.T, svg string) [][]bool {
	t.Helper()
	var picture struct {
		Box  string `xml:"viewBox,attr"`
		Path struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal([]byte(svg), &picture); err != nil {
		t.Fatalf("%v\n%s", err, svg)
	}
	var side int
	if _, err := fmt.Sscanf(picture.Box, "0 0 %d %d", &side, &side); err != nil {
		t.Fatalf("viewBox %q: %v", picture.Box, err)
	}
	grid := make([][]bool, side-8)
	for y := range grid {
		grid[y] = make([]bool, side-8)
	}
	for run := range strings.SplitSeq(strings.TrimSuffix(picture.Path.D, "z"), "z") {
		var x, y, n, back int
		if _, err := fmt.Sscanf(run, "M%d %dh%dv1h-%d", &x, &y, &n, &back); err != nil || n != back {
			t.Fatalf("run %q: %v", run, err)
		}
		for i := range n { // a run in the margin panics
			grid[y-4][x-4+i] = true
		}
	}
	return grid
}

// TestPatterns compares the fixed patterns of a code with ISO/IEC 18004: the finder patterns
// in three corners, the timing patterns, and both copies of the format information, which for
// level M and mask 000 is 101010000010010.
func TestPatterns(t *testing.T) {
	for _, text := range []string{"1", "https://names.example/urn:dns:example.org:one", strings.Repeat("x", qrcode.MaxBytes)} {
		svg, err := qrcode.SVG(text, "a title")
		if err != nil {
			t.Fatal(err)
		}
		grid := modules(t, string(svg))
		n := len(grid)
		for _, corner := range [][2]int{{0, 0}, {n - 7, 0}, {0, n - 7}} {
			for y := range 7 {
				for x := range 7 {
					ring := max(x-3, 3-x, y-3, 3-y)
					if grid[corner[1]+y][corner[0]+x] != (ring != 2) {
						t.Errorf("%d modules: finder pattern at %v differs at %d, %d", n, corner, x, y)
					}
				}
			}
		}
		for i := 8; i < n-8; i++ {
			if grid[6][i] != (i%2 == 0) || grid[i][6] != (i%2 == 0) {
				t.Errorf("%d modules: timing pattern differs at %d", n, i)
			}
		}
		format := ""
		for _, x := range []int{0, 1, 2, 3, 4, 5, 7, 8} {
			format += bit(grid[8][x])
		}
		for _, y := range []int{7, 5, 4, 3, 2, 1, 0} {
			format += bit(grid[y][8])
		}
		if want := "101010000010010"; format != want {
			t.Errorf("%d modules: format information %s, want %s", n, format, want)
		}
	}
}

func bit(black bool) string {
	if black {
		return "1"
	}
	return "0"
}

func TestSizes(t *testing.T) {
	for _, text := range []string{"", strings.Repeat("x", qrcode.MaxBytes+1)} {
		if svg, err := qrcode.SVG(text, "a title"); err == nil || svg != "" {
			t.Errorf("%d bytes: got %d bytes, %v", len(text), len(svg), err)
		}
	}
	// ISO/IEC 18004, table 7: the capacities of level M for bytes, and the sides of table 1.
	for _, tt := range []struct{ bytes, side int }{{14, 21}, {15, 25}, {26, 25}, {27, 29}, {213, 57}, {214, 61}, {2331, 177}} {
		svg, err := qrcode.SVG(strings.Repeat("x", tt.bytes), "")
		if got := len(modules(t, string(svg))); err != nil || got != tt.side {
			t.Errorf("%d bytes: %d modules, want %d (%v)", tt.bytes, got, tt.side, err)
		}
	}
}

// Titles are untrusted.
func TestHostileTitle(t *testing.T) {
	svg, err := qrcode.SVG("1", "<script>\x00\u202e\ufffe\xff</title>&\n\"'")
	if err != nil {
		t.Fatal(err)
	}
	var picture struct {
		Title   string `xml:"title"`
		Scripts []any  `xml:"script"`
	}
	if err := xml.Unmarshal([]byte(svg), &picture); err != nil {
		t.Fatalf("%v\n%s", err, svg)
	}
	if want := "<script>[U+0000][U+202E][U+FFFE]\ufffd</title>& \"'"; picture.Title != want || len(picture.Scripts) > 0 {
		t.Errorf("title %q, want %q", picture.Title, want)
	}
}

// The image has the same modules as the drawing, 8 pixels each.
func TestPNG(t *testing.T) {
	const text = "https://n.example/urn:nbn:fi:ex-1"
	b, err := qrcode.PNG(text)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	svg, err := qrcode.SVG(text, "x")
	if err != nil {
		t.Fatal(err)
	}
	want := modules(t, string(svg))
	if got := img.Bounds().Dx(); got != 8*(len(want)+2*4) {
		t.Fatalf("%d pixels wide for %d modules", got, len(want))
	}
	for y, row := range want {
		for x, black := range row {
			if r, _, _, _ := img.At(8*(x+4)+3, 8*(y+4)+3).RGBA(); r < 0x8000 != black {
				t.Fatalf("module %d, %d: want black %v", x, y, black)
			}
		}
	}
	for _, bad := range []string{"", strings.Repeat("x", qrcode.MaxBytes+1)} {
		if _, err := qrcode.PNG(bad); err == nil {
			t.Errorf("%d bytes: no error", len(bad))
		}
	}
}

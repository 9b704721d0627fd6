package iri

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

// A domainCase is a row of the web platform tests: what a host is in ASCII, nil if
// browsers refuse it.
type domainCase struct {
	Comment string
	Input   string
	Output  *string
}

// readCases reads the web platform tests (IdnaTestV2.json, toascii.json).
func readCases(t *testing.T) []domainCase {
	t.Helper()
	f, err := os.ReadFile("testdata/wpt/IdnaTestV2.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	unicode, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	more, err := os.ReadFile("testdata/wpt/toascii.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []domainCase
	for _, data := range [][]byte{unicode, more} {
		var rows []json.RawMessage
		if err := json.Unmarshal(data, &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			var c domainCase
			if json.Unmarshal(row, &c) == nil { // else a comment
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// TestASCIIDomain compares with what browsers do. There are two differences. In both, we return an
// error where browsers accept the host, so we never find another host than browsers:
//
//   - an empty label beside one that is mapped ("ä..c", or a label of soft hyphens):
//     no resolver can look it up;
//   - a character that Unicode maps only since version 15.1: the tables of the
//     library are of 15.0 before Go 1.27.
func TestASCIIDomain(t *testing.T) {
	const most = 80 // characters that are too new
	empty, young := 0, 0
	cases := readCases(t)
	if len(cases) < 2700 {
		t.Fatalf("got %d cases, want some 2,750", len(cases))
	}
	for _, c := range cases {
		got, err := ASCIIDomain(c.Input)
		switch {
		case c.Output == nil && err == nil:
			t.Errorf("%q (%s): got %q, want an error", c.Input, c.Comment, got)
		case c.Output == nil || err == nil && got == *c.Output:
		case err == nil:
			t.Errorf("%q (%s): got %q, want %q", c.Input, c.Comment, got, *c.Output)
		case strings.Contains(err.Error(), "empty label") && (strings.HasPrefix(*c.Output, ".") || strings.Contains(*c.Output, "..") || *c.Output == ""):
			empty++
		case strings.Contains(err.Error(), "disallowed rune") && young < most:
			young++
		default:
			t.Errorf("%q (%s): got error %v, want %q", c.Input, c.Comment, err, *c.Output)
		}
	}
	t.Logf("%d cases; refused: %d with an empty label, %d with a character that is too new", len(cases), empty, young)
}

// TestHostStays checks that the mapping to ASCII never makes another host.
func TestHostStays(t *testing.T) {
	for _, tt := range []struct {
		in, ascii, host string // "" for an error
		finding         uri.FindingCode
	}{
		{"http://xn--/evil.example/ü", "http://xn--/evil.example/%C3%BC", "xn--", FindingIDNA},
		{"http://bank.example／login.evil.test/", "", "bank.example／login.evil.test", FindingIDNA},
		{"http://℀.example/", "", "℀.example", FindingIDNA},
		{"http://a⩴80/", "", "a⩴80", FindingIDNA},
		{"http://ü%00.example/", "", "ü%00.example", FindingIDNA},
		{"http://a%2Fb/", "", "a%2Fb", FindingIDNA},
		{"http://ü%25.example/", "", "ü%25.example", FindingIDNA},
		{"http://\u00AD/", "", "\u00AD", FindingIDNA},
		{"http://a.\u00AD.example/", "", "a.\u00AD.example", FindingIDNA},
		{"http://bücher．example/", "http://xn--bcher-kva.example/", "bücher.example", ""},
		{"http://ẞ.example/", "http://xn--zca.example/", "ß.example", ""},
		{"http://１２７.0.0.1/", "http://127.0.0.1/", "127.0.0.1", FindingMappedAddress},
		{"http://r3---sn-4g5e6nez.example/", "http://r3---sn-4g5e6nez.example/", "r3---sn-4g5e6nez.example", ""},
		{"http://x-.example/", "http://x-.example/", "x-.example", ""},
		{"http://-x.example/", "http://-x.example/", "-x.example", ""},
		{"http://under_score.example/", "http://under_score.example/", "under_score.example", ""},
		{"http://xn--a/", "http://xn--a/", "xn--a", FindingIDNA},
	} {
		i := MustParse(tt.in)
		got, err := i.ASCIIURI()
		if tt.ascii == "" && err == nil || tt.ascii != "" && (err != nil || got.String() != tt.ascii) {
			t.Errorf("ASCIIURI of %q: got %q, %v, want %q", tt.in, got, err, tt.ascii)
		}
		if host, _ := i.UnicodeHost(); host != tt.host {
			t.Errorf("UnicodeHost of %q: got %q, want %q", tt.in, host, tt.host)
		}
		found := slices.IndexFunc(i.Inspect(), func(f uri.Finding) bool { return f.Code == tt.finding && f.Offset == len("http://") })
		if (found >= 0) != (tt.finding != "") {
			t.Errorf("Inspect(%q): got %+v, want %q", tt.in, i.Inspect(), tt.finding)
		}
	}
}

func FuzzASCIIDomain(f *testing.F) {
	for _, s := range []string{"bücher.example", "xn--", "℀", "a⩴80", "ü\x00", "１２７.0.0.1", "\u00AD"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		got, err := ASCIIDomain(host)
		if err != nil {
			return
		}
		if strings.IndexFunc(got, isForbidden) >= 0 || got == "" && host != "" {
			t.Errorf("ASCIIDomain(%q) = %q, which is not a host", host, got)
		}
		if again, err := ASCIIDomain(got); err != nil || again != got {
			t.Errorf("ASCIIDomain(%q) = %q, %v, want no change", got, again, err)
		}
	})
}

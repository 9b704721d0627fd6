package format

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
)

func readList(t *testing.T, body string) []string {
	t.Helper()
	var got []string
	for s, err := range ReadList(strings.NewReader(body)) {
		if err != nil {
			t.Fatalf("ReadList(%.40q): %v", body, err)
		}
		got = append(got, s)
	}
	return got
}

// Y95-57, Y95-58, Y95-59: lines end in CRLF; no lines make an empty body.
func TestList(t *testing.T) {
	var b strings.Builder
	if err := WriteList(&b, Each()); err != nil || b.String() != "" {
		t.Errorf("no names: %q, %v", b.String(), err)
	}
	for body, want := range map[string][]string{
		"":                                  nil,
		"\r\n\n\r":                          nil,
		"a\r\nb\nc\rd":                      {"a", "b", "c", "d"},
		" a.example \r\n\r\n\tb\r\n":        {"a.example", "b"},
		strings.Repeat("x", maxLine) + "\n": {strings.Repeat("x", maxLine)},
	} {
		if got := readList(t, body); !slices.Equal(got, want) {
			t.Errorf("ReadList(%.40q) = %.40q, want %.40q", body, got, want)
		}
	}
}

// endless repeats its text for ever.
type endless struct {
	text string
	at   int
}

// Read implements [io.Reader].
func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	return len(p), nil
}

// counter counts the bytes that are written to it.
type counter int

// Write implements [io.Writer].
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// TestListStreams checks that neither the writer nor the reader collects a list.
func TestListStreams(t *testing.T) {
	const n, line, held = 100_000, "alb002\r\n", 64 << 10
	var written counter
	err := WriteList(&written, func(yield func(string, error) bool) {
		for i := range n {
			if collected := i*len(line) - int(written); collected > held {
				t.Fatalf("the writer holds %d bytes back after %d names", collected, i)
			}
			if !yield("alb002", nil) {
				return
			}
		}
	})
	if err != nil || int(written) != n*len(line) {
		t.Errorf("wrote %d bytes, %v; want %d", written, err, n*len(line))
	}
	got := 0
	for s, err := range ReadList(&endless{text: line}) {
		if err != nil || s != "alb002" {
			t.Fatal(s, err)
		}
		if got++; got == n {
			break
		}
	}
}

func TestListErrors(t *testing.T) {
	broken := errors.New("broken")
	var b strings.Builder
	err := WriteList(&b, func(yield func(string, error) bool) { _ = yield("a", nil) && yield("", broken) })
	if !errors.Is(err, broken) || b.String() != "a\r\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
	for _, bad := range []string{"", "a\r\nb", "a\x00", "a\u0085", strings.Repeat("x", maxLine+1)} {
		var e *Error
		if err := WriteList(io.Discard, Each(bad)); !errors.As(err, &e) {
			t.Errorf("WriteList(%.20q) = %v", bad, err)
		}
	}
	r, w := io.Pipe()
	r.CloseWithError(broken)
	if err := WriteList(w, Each(strings.Repeat("x", 5000), "y")); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	for s, err := range ReadList(strings.NewReader(strings.Repeat("x", maxLine+3))) {
		if err == nil || s != "" {
			t.Errorf("a long line: %.20q, %v", s, err)
		}
	}
	for range ReadList(strings.NewReader("a\nb")) {
		break
	}
}

// RFC 2483, 5.
func TestURIList(t *testing.T) {
	for _, tt := range []struct {
		body  string
		asked nomen.Service
		name  string
		want  []string
	}{
		{"", nomen.I2Ls, "", nil},
		{"# urn:isbn:0451450523\r\nhttps://a.example/\r\n# x\r\nhttps://b.example/\r\n", nomen.I2Ls, "urn:isbn:9780451450524", []string{"https://a.example/", "https://b.example/"}},
		{"#urn:isbn:0451450523\nhttps://a.example/\rhttps://b.example/", nomen.I2L, "urn:isbn:9780451450524", []string{"https://a.example/", "https://b.example/"}},
		{"https://a.example/\n# urn:isbn:0451450523\n", nomen.I2L, "", []string{"https://a.example/"}},
		{"# no name\n\n \nurn:isbn:0451450523\n", nomen.I2Ns, "", []string{"urn:isbn:0451450523"}},
	} {
		a, err := readURIList(strings.NewReader(tt.body), tt.asked)
		if err != nil {
			t.Errorf("%q: %v", tt.body, err)
			continue
		}
		if got := listed(a); a.Name.Key() != tt.name || !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, %q, want %q, %q", tt.body, a.Name, got, tt.name, tt.want)
		}
	}
}

func TestURIListRefuses(t *testing.T) {
	a, err := readURIList(strings.NewReader("https://a.example/\n<html>"), nomen.I2Ls)
	if !isRule(err, "URI") || err.(*Error).Offset != 19 || len(a.Locations) != 1 {
		t.Errorf("got %v, %v", a, err)
	}
	a, err = readURIList(strings.NewReader(strings.Repeat("a:\n", maxItems+1)), nomen.I2Ls)
	if !isRule(err, "count") || len(a.Locations) != maxItems {
		t.Errorf("got %d, %v", len(a.Locations), err)
	}
}

// Text that is not a URI does not become a line.
func TestURIListInjection(t *testing.T) {
	a := &nomen.Answer{
		Status: nomen.Retired, Reason: "line\r\nhttps://evil.example/", Redirect: "a\nhttps://evil.example/",
		Locations: []nomen.Location{{URL: "x\r\nhttps://evil.example/"}, {URL: "\nhttps://evil.example/"}, {URL: ""}, {URL: "https://evil.example/\u2028é"}},
	}
	body := written(t, writeURIList, a)
	for line := range strings.Lines(body) {
		if line[0] != '#' || strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
			t.Errorf("a line that is not a comment: %q", line)
		}
	}
}

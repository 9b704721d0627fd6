package replay

import (
	"errors"
	"strings"
	"testing"
)

func TestReadExpected(t *testing.T) {
	const table = "\xef\xbb\xbfStatus,request,location,note,accept\n302,/a,https://example.org/a,x,\n303,/a,https://example.org/a.ttl,,text/turtle\n404,HEAD /a,,,\n"
	const lines = `{"request":"/a","status":302,"location":"https://example.org/a"}

{"request":"GET /a","status":303,"location":"https://example.org/a.ttl","accept":"text/turtle"}
{"request":"HEAD /a","status":404}`
	for _, text := range []string{table, lines} {
		e, err := ReadExpected(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			r    Request
			want int
		}{
			{Request{"GET", "/a", ""}, 302},
			{Request{"GET", "/a", "text/turtle"}, 303},
			{Request{"GET", "/a", "text/html"}, 302},
			{Request{"HEAD", "/a", ""}, 404},
			{Request{"HEAD", "/a", "text/turtle"}, 303},
			{Request{"GET", "/b", ""}, 0},
		} {
			if got, ok := e.of(tt.r); got.Status != tt.want || ok != (tt.want > 0) {
				t.Errorf("%v: got %v, %t, want %d", tt.r, got, ok, tt.want)
			}
		}
		if l := e.Log(); len(l.all) != 3 || l.Cut != 0 {
			t.Errorf("a log of %d requests", len(l.all))
		}
	}
}

func TestReadExpectedFaults(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		line       int
	}{
		{"", "the first line must name the columns", 1},
		{"/a,302\n", "the first line must name the columns", 1},
		{"request,status\n/a,302\n/b,yes\n", "want a request", 3},
		{"request,status\n\"/a\nb\",302\n", "want a request", 2},
		{"request,status\nPOST /a,200\n", "want a request", 2},
		{"request,status\n/a,302\n/b,302\n/a,301\n", "another answer", 4},
		{"{\"request\":\"/a\",\"status\":302}\n{\"request\":\"/b\"}\n", "want a request", 2},
		{"{\"request\":\"/a\",\"state\":302}\n", "unknown field", 1},
		{"request,status\n/a,302\n/b,\"302\n", "extraneous or missing", 3},
		{"\"request,status\n", "extraneous or missing", 1},
		{"request,status\n/a\n", "wrong number of fields", 2},
		{"{\"request\":\"/a\",\"status\":302}\n{" + strings.Repeat(" ", 2*maxLine), "too long", 2},
	} {
		_, err := ReadExpected(strings.NewReader(tt.text))
		var fault *ExpectError
		if !errors.As(err, &fault) || fault.Line != tt.line || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want line %d: ... %s", tt.text, err, tt.line, tt.want)
		}
	}
	if _, err := readExpected(&endless{start: "request,status\n"}, 1<<20); !errors.Is(err, errTooMuch) {
		t.Errorf("a file without end: %v", err)
	}
}

// An endless is a file that does not end.
type endless struct{ start string }

func (e *endless) Read(p []byte) (int, error) {
	if n := copy(p, e.start); n > 0 {
		e.start = e.start[n:]
		return n, nil
	}
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

package trace

import (
	"net/http"
	"strings"
	"testing"
)

// TestParse checks the examples of W3C Trace Context, 3.2, and invalid variations of them.
func TestParse(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, s := range []string{
		good, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future", "fe-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff",
	} {
		if p, ok := Parse(s); !ok || p.String() != s || p.ID() != "4bf92f3577b34da6a3ce929d0e0e4736" {
			t.Errorf("%s: got %v, %v", s, p, ok)
		}
	}
	for _, s := range []string{
		"", "00", good[:54], good + "-", good + "-01", good + "0", strings.ToUpper(good), "ff" + good[2:], "0g" + good[2:],
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
		"00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e473-000f067aa0ba902b7-01",
		" " + good, good + " ", "01" + good[2:] + "x", "01" + good[2:] + "-a\r\nSet-Cookie: b", "01" + good[2:] + "-\x7f", "01" + good[2:] + "-" + strings.Repeat("a", maxLength),
	} {
		if p, ok := Parse(s); ok || p != (Parent{}) {
			t.Errorf("%q: got %v", s, p)
		}
	}
}

func TestOf(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	if p, ok := Of(http.Header{Header: {good}}); !ok || p.String() != good {
		t.Errorf("got %v", p)
	}
	for _, values := range [][]string{nil, {"x"}, {good, good}, {good + "," + good}} {
		if p, ok := Of(http.Header{Header: values}); ok {
			t.Errorf("%q: got %v", values, p)
		}
	}
}

// The value of tracestate is passed on with a valid traceparent, and never alone.
func TestState(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, tt := range []struct {
		parent string
		states []string
		want   string
	}{
		{good, []string{"a=1", "b=2"}, "a=1,b=2"},
		{good, nil, ""},
		{"bad", []string{"a=1"}, ""},
		{good, []string{"a=1\r\nX: y"}, ""},
		{good, []string{"a=\xff"}, ""},
		{good, []string{strings.Repeat("a", maxState+1)}, ""},
	} {
		if p, _ := Of(http.Header{Header: {tt.parent}, StateHeader: tt.states}); p.State() != tt.want {
			t.Errorf("%s, %q: got %q, want %q", tt.parent, tt.states, p.State(), tt.want)
		}
	}
}

func TestNew(t *testing.T) {
	a, b := New(), New()
	if p, ok := Parse(a.String()); !ok || p != a || a == b || a.ID() == b.ID() {
		t.Errorf("got %v and %v", a, b)
	}
}

func TestContext(t *testing.T) {
	if got := From(With(t.Context(), Parent{})); got != (Parent{}) || got.ID() != "" {
		t.Errorf("got %v", got)
	}
	p := New()
	if got := From(With(t.Context(), p)); got != p {
		t.Errorf("got %v, want %v", got, p)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Fuzz(func(t *testing.T, s string) {
		if p, ok := Parse(s); ok && (len(p.ID()) != 32 || strings.ContainsAny(p.String(), "\r\n \x00")) {
			t.Errorf("%q: got %v", s, p)
		}
	})
}

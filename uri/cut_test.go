package uri

import (
	"strings"
	"testing"
)

func TestCutter(t *testing.T) {
	for _, c := range []struct{ stop, in, want string }{
		{"", "http://a.example/b c", "http://a.example/b"},
		{"", "http://a.example", "http://a.example"},
		{"", "HTTP://A.Example\n", "HTTP://A.Example"},
		{"", "x+y.z-1://a_b-c.example.:80/?#>", "x+y.z-1://a_b-c.example.:80/?#"},
		{"", "http://a?b?c#d#e", "http://a?b?c#d"},
		{"", "http://a/%41%4g", "http://a/%41"},
		{"", "http://a/?%41%", "http://a/?%41"},
		{"", "http://a/#%4", "http://a/#"},
		{"", "http://192.0.2.1:/[", "http://192.0.2.1:/"},
		{"", "http://a/(b)\x00", "http://a/(b)"},
		{"()", "http://a/(b)", "http://a/"},
		{":", "http://a:80/b:c", "http://a:80/b"},
		{"&", "http://a?b&c", "http://a?b"},
		{"!", "http://a#b!c", "http://a#b"},
		{"", "http://a\xff", "http://a"},
		{"", "http://a<b", "http://a"},

		{"", "", ""},
		{"", "http:", ""},
		{"", "http:/", ""},
		{"", "http://", ""},
		{"", "http:///a", ""},
		{"", "http:a", ""},
		{"", "1http://a/", ""},
		{"", "ht_tp://a/", ""},
		{"", "://a/", ""},
		{"", "http://u@a/", ""},
		{"", "http://u:p@a/", ""},
		{"", "http://a:80b/", ""},
		{"", "http://[::1]/", ""},
		{"", "http://a%41/", ""},
		{"", "http://a!/", ""},
		{"!", "http://a!/", ""},
		{"", "http://.a/", ""},
		{"", "http://a..b/", ""},
		{"", "http://a.-b/", ""},
		{"", "http://a-.b/", ""},
		{"", "http://-a/", ""},
		{"", "http://a-/", ""},
		{"", "http://a-:1/", ""},
	} {
		u, ok := NewCutter(c.stop).Cut(c.in)
		if u.String() != c.want || ok != (c.want != "") {
			t.Errorf("stop %q: Cut(%q) = %q, %v, want %q", c.stop, c.in, u, ok, c.want)
		}
	}
}

// Cut returns what the parser accepts, and ends where the URI cannot continue.
func TestCutterCorpus(t *testing.T) {
	const stop = "()':&"
	cutters := []*Cutter{NewCutter(""), NewCutter(stop)}
	for _, l := range lists {
		found := 0
		all, whole := lines(t, l.name)
		good := l.part[0]
		if whole {
			good = l.good
		}
		for _, s := range all {
			for i, c := range cutters {
				checkCut(t, c, []string{"", stop}[i], s+" http://a/")
			}
			if u, ok := cutters[0].Cut(s); ok && u.String() == s {
				found++
			}
		}
		if l.name == "kasztp.txt" && found < good*99/100 { // the list of web pages
			t.Errorf("%s: %d of %d are cut whole", l.name, found, good)
		}
	}
}

func FuzzCutter(f *testing.F) {
	f.Add("http://a.example:80/b?c#d e", "")
	f.Add("ftp://192.0.2.1/%41(b)", "()")
	f.Fuzz(func(t *testing.T, s, stop string) {
		stop = strings.ReplaceAll(stop, "%", "")
		checkCut(t, NewCutter(stop), stop, s)
	})
}

func checkCut(t *testing.T, c *Cutter, stop, s string) {
	t.Helper()
	u, ok := c.Cut(s)
	if !ok {
		if u != (URI{}) {
			t.Fatalf("Cut(%q) = %+v, false", s, u)
		}
		return
	}
	n := len(u.String())
	if s[:n] != u.String() {
		t.Fatalf("Cut(%q) = %q", s, u)
	}
	if again, err := Parse(u.String()); err != nil || again != u {
		t.Fatalf("Cut(%q) = %+v, which reads as %+v, %v", s, u, again, err)
	}
	if n == len(s) || strings.IndexByte(stop, s[n]) >= 0 {
		return
	}
	rest := s[n:]
	if isEscape(rest, 0) {
		rest = rest[:3]
	} else {
		rest = rest[:1]
	}
	if longer, err := Parse(s[:n] + rest); err == nil {
		t.Fatalf("Cut(%q) = %q, but %q is one too", s, u, longer)
	}
}

func TestCutterAllocates(t *testing.T) {
	c := NewCutter("")
	if n := testing.AllocsPerRun(100, func() { c.Cut("http://a.example/b c") }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

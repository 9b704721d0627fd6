package name

import (
	"os"
	"strings"
	"testing"
)

// TestARK checks the examples of the specification of ARKs.
func TestARK(t *testing.T) {
	text, err := os.ReadFile("testdata/ark.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 3 {
			t.Fatalf("%q", line)
		}
		rows++
		spelling := f[0]
		if strings.Contains(spelling, "://") {
			m, ok := Interpret(spelling)
			if !ok {
				t.Errorf("%s: Interpret(%q) finds no name", f[2], spelling)
			}
			spelling = m.Spelling
		}
		n, err := Parse(spelling)
		if err != nil || n.Key() != f[1] || n.Scheme() != "ark" {
			t.Errorf("%s: %q is the name %q, %v; want %q", f[2], f[0], n.Key(), err, f[1])
		}
		if again, err := Parse(n.Key()); err != nil || again != n {
			t.Errorf("%s: the key %q is the name %v, %v", f[2], n.Key(), again, err)
		}
	}
	if rows < 40 {
		t.Errorf("%d rows", rows)
	}
}

// A NAAN of 16 octets, and a name with qualifiers of 255 octets, are the least that draft-kunze-ark
// (2.3, 3.1) requires.
func TestLongARK(t *testing.T) {
	s := "ark:0123456789bcdfgh/" + strings.Repeat("x", 255)
	if n, err := Parse(s); err != nil || n.Key() != s {
		t.Errorf("Parse(%q) = %v, %v", s, n, err)
	}
}

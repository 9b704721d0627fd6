package uri

import (
	"errors"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

// lists are lists of URLs found in practice, with the number of lines that RFC
// 3986 accepts and the number that it rejects.
var lists = []struct {
	name          string
	good, refused int
	part          [2]int // the same numbers for the part that is committed
}{
	{"kasztp.txt", 47668, 342, [2]int{150, 20}},
	{"node_files.txt", 43415, 0, [2]int{151, 0}},
	{"debian-homepages-vcs.txt", 80467, 0, [2]int{151, 0}},
	{"debian-homepages-malformed.txt", 2, 3, [2]int{2, 3}},
	{"debian-files-urls.txt", 110316, 0, [2]int{151, 0}},
}

// lines returns the lines of a list, or of the part of it that is committed.
func lines(t testing.TB, name string) (all []string, whole bool) {
	t.Helper()
	return testrun.Lines(t, "urls/"+name)
}

// The document's own grammar also rejects what the parser rejects, and up to the
// offset the input could have become a URI.
func TestAcceptance(t *testing.T) {
	g := loadABNF(t, Latest)
	for _, l := range lists {
		good := 0
		kinds := map[string]int{}
		all, whole := lines(t, l.name)
		want := l.part
		if whole {
			want = [2]int{l.good, l.refused}
		}
		for _, s := range all {
			_, err := Parse(s)
			var e *Error
			if !errors.As(err, &e) {
				good++
				continue
			}
			kinds[e.Rule+": "+e.reason()]++
			if len(s) <= maxSlow && g.matches("URI", s) {
				t.Errorf("%s: refused %q: %v", l.name, s, err)
			}
			if before := s[:e.Offset]; e.Code == CodeCharacter && len(before) <= maxSlow && !g.matches("URI", before) {
				t.Errorf("%s: wrong offset: %v", l.name, err)
			}
		}
		if got := [2]int{good, len(all) - good}; got != want {
			t.Errorf("%s: %d accepted and refused; want %d", l.name, got, want)
		}
		t.Logf("%s: %d accepted, %d refused", l.name, good, len(all)-good)
		for kind, n := range kinds {
			t.Logf("%5d %s", n, kind)
		}
	}
}

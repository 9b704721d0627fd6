package uri

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// lists are lists of URLs found in practice, with the number of lines that RFC
// 3986 accepts and the number that it rejects.
var lists = []struct {
	name          string
	good, refused int
}{
	{"kasztp.txt.gz", 47668, 342},
	{"node_files.txt.gz", 43415, 0},
	{"debian-homepages-vcs.txt.gz", 80467, 0},
	{"debian-homepages-malformed.txt", 2, 3},
	{"debian-files-urls.txt.gz", 110316, 0},
}

// lines returns the lines of a list. It skips the test if the lists are not
// available.
func lines(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open("../../shared/data/urls/" + name)
	if err != nil {
		t.Skip("the lists of URLs are not here: ", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var out []string
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, MaxLength)
	for scan.Scan() {
		out = append(out, scan.Text())
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// The document's own grammar also rejects what the parser rejects, and up to the
// offset the input could have become a URI.
func TestAcceptance(t *testing.T) {
	g := loadABNF(t, Latest)
	for _, l := range lists {
		good := 0
		kinds := map[string]int{}
		all := lines(t, l.name)
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
		if got := len(all) - good; good != l.good || got != l.refused {
			t.Errorf("%s: %d accepted, %d refused; want %d, %d", l.name, good, got, l.good, l.refused)
		}
		t.Logf("%s: %d accepted, %d refused", l.name, good, len(all)-good)
		for kind, n := range kinds {
			t.Logf("%5d %s", n, kind)
		}
	}
}

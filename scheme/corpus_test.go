package scheme

import (
	"bufio"
	"compress/gzip"
	"os"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

// met are lists of URLs as they were met, and how many of those that RFC 3986
// accepts the rules of their schemes refuse: one web locator without a host, and
// names of files put where the host stands (file://tsconfig.json).
var met = []struct {
	name    string
	refused int
}{
	{"kasztp", 1},
	{"node_files", 46},
	{"debian-homepages-vcs", 0},
	{"debian-files-urls", 0},
}

// What is refused is refused for a reason, and all of them are lawful.
func TestMetURLs(t *testing.T) {
	for _, tt := range met {
		t.Run(tt.name, func(t *testing.T) {
			f, err := os.Open("../../shared/data/urls/" + tt.name + ".txt.gz")
			if err != nil {
				t.Skip("the lists of URLs are not here: ", err)
			}
			defer f.Close()
			r, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			good, refused := 0, map[string]int{}
			scan := bufio.NewScanner(r)
			for scan.Scan() {
				u, err := uri.Parse(scan.Text())
				if err != nil {
					continue
				}
				good++
				if good%8 == 0 {
					lawful(t, u)
				}
				if err := FirstError(Check(u)); err != nil {
					refused[err.Error()]++
				}
			}
			n := 0
			for _, times := range refused {
				n += times
			}
			if err := scan.Err(); err != nil || good == 0 || n != tt.refused {
				t.Errorf("refused %d of %d, want %d: %v, %v", n, good, tt.refused, refused, err)
			}
		})
	}
}

package extra

import (
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/schemetest"
	"github.com/nomen-project/nomen/uri"
)

// collected lists files of real URLs, and how many that RFC 3986 accepts are
// rejected by the rules of their schemes: one web locator without a host, and
// file names in place of the host (file://tsconfig.json).
var collected = []struct {
	name    string
	refused int
}{
	{"kasztp", 1},
	{"node_files", 46},
	{"debian-homepages-vcs", 0},
	{"debian-files-urls", 0},
}

// Rejections are counted by reason, and the invariants hold for all URLs.
func TestMetURLs(t *testing.T) {
	for _, tt := range collected {
		t.Run(tt.name, func(t *testing.T) {
			lines, whole := testrun.Lines(t, "urls/"+tt.name+".txt")
			good, refused := 0, map[string]int{}
			for _, line := range lines {
				u, err := uri.Parse(line)
				if err != nil {
					continue
				}
				good++
				if good%8 == 0 {
					schemetest.Invariants(t, Catalogue(), u)
				}
				if err := scheme.FirstError(Catalogue().Check(u)); err != nil {
					refused[err.Error()]++
				}
			}
			n := 0
			for _, times := range refused {
				n += times
			}
			if good == 0 || n > tt.refused || whole && n != tt.refused {
				t.Errorf("refused %d of %d, want %d: %v", n, good, tt.refused, refused)
			}
		})
	}
}

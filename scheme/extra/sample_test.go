package extra

import (
	"testing"

	"github.com/nomen-project/nomen/scheme/internal/schemetest"
	"github.com/nomen-project/nomen/uri"
)

// A sample is a [schemetest.Sample].
type sample struct{ in, parts, canonical, finding string }

func (tt sample) check(t *testing.T) {
	t.Helper()
	tt.checkIn(t, uri.Latest)
}

// checkIn checks a sample in a dialect.
func (tt sample) checkIn(t *testing.T, d uri.Dialect) {
	t.Helper()
	schemetest.Sample{In: tt.in, Parts: tt.parts, Canonical: tt.canonical, Finding: tt.finding}.Check(t, Catalogue(), d)
}

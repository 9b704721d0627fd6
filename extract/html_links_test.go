package extract

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/uri"
)

// A report distinguishes links that have never been retrieved, were retrieved
// earlier, and fail now.
func TestLinks(t *testing.T) {
	gone := errors.New("gone")
	history := map[string]Visit{
		"http://a.example/old":  {Retrieved: time.Date(1993, 7, 14, 0, 0, 0, 0, time.UTC)},
		"http://a.example/gone": {Retrieved: time.Date(1993, 7, 14, 0, 0, 0, 0, time.UTC), Err: gone},
	}
	doc := `<a href=new><a href=old><a href=gone><a href="a b"><a href="http://[x"><a href="é">`
	want := []struct {
		ref     string
		writing Writing
		state   LinkState
	}{
		{"new", WellFormed, NeverRetrieved},
		{"old", WellFormed, RetrievedEarlier},
		{"gone", WellFormed, FailedNow},
		{"a b", Mended, NeverRetrieved},
		{"http://[x", Malformed, NeverRetrieved},
		{"é", WellFormed, NeverRetrieved},
	}
	found := HTML(strings.NewReader(doc), Options{Base: uri.MustParse("http://a.example/")})
	i := 0
	for l, err := range Links(found, func(u uri.URI) Visit { return history[u.String()] }) {
		if w := want[i]; l.Spelling != w.ref || l.Writing != w.writing || l.State != w.state {
			t.Errorf("U93-73: %s: %s, %s, want %v", l.Spelling, l.Writing, l.State, w)
		}
		if (err != nil) != (l.Writing == Malformed) {
			t.Errorf("%s: error %v", l.Spelling, err)
		}
		if l.State == FailedNow && !errors.Is(l.Visit.Err, gone) {
			t.Errorf("%s: %v", l.Spelling, l.Visit.Err)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("got %d links, want %d", i, len(want))
	}
	for l := range Links(HTML(strings.NewReader(doc), Options{}), nil) {
		if l.State != NeverRetrieved {
			t.Errorf("%s: %s without a history", l.Spelling, l.State)
		}
		break
	}
}

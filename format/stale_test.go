package format

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A stale answer is marked in every format that can express it, and read as stale.
func TestStaleSince(t *testing.T) {
	since := time.Date(2026, 11, 22, 9, 30, 0, 5e8, time.UTC)
	a := &nomen.Answer{Service: nomen.I2C, Name: name.MustParse("urn:example:1"), Status: nomen.Active, StaleSince: since}
	for what, f := range map[string]struct {
		write func(io.Writer, *nomen.Answer) error
		read  func(io.Reader, nomen.Service) (*nomen.Answer, error)
		want  string
	}{
		"JSON": {WriteJSON, ReadJSON, `"stale_since":"2026-11-22T09:30:00.5Z"`},
		"CBOR": {writeCBOR, readCBOR, "stale_since"},
		"URC":  {WriteURC, readURC, "stale-since: 2026-11-22T09:30:00.5Z"},
		"text": {WriteText, nil, "2026-11-22T09:30:00.5Z"},
		"HTML": {alone(writeHTML), nil, "2026-11-22T09:30:00.5Z"},
		"fresh": {func(w io.Writer, a *nomen.Answer) error {
			fresh := *a
			fresh.StaleSince = time.Time{}
			return WriteJSON(w, &fresh)
		}, nil, `"name":"urn:example:1"`},
	} {
		var b bytes.Buffer
		if err := f.write(&b, a); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), f.want) || what == "fresh" && strings.Contains(b.String(), "stale") {
			t.Errorf("%s: %q, want %q in it", what, b.String(), f.want)
		}
		if f.read == nil {
			continue
		}
		if got, err := f.read(&b, nomen.I2C); err != nil || !got.StaleSince.Equal(since) {
			t.Errorf("%s: %+v, %v, want that it is stale since %v", what, got, err, since)
		}
	}
}

package pages

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// The page of a name has its public URL, a code for it, and how to cite it.
func TestGift(t *testing.T) {
	s := newSite(t)
	s.get(nameAt(alb)).want(200, "does not know its public URL")
	s.get(nameAt(alb) + "/qr.svg").want(404)
	s.pages.publicURL = func() string { return "https://n.example/" }
	s.change(alb, "x", func(r *store.Record) {
		r.Metadata = nomen.Metadata{"title": {"Blue"}, "creator": {"Mitchell, Joni", "Other"}, "date": {"1971"}, "publisher": {"Reprise."}}
	})
	const url = "https://n.example/" + alb
	a := s.get(nameAt(alb))
	a.want(200, "Mitchell, Joni; Other (1971). Blue. Reprise. "+url)
	if got := len(a.elements("svg")); got != 1 {
		t.Errorf("%d drawings", got)
	}
	a.wantHarmless("name")
	s.get(nameAt("urn:dns:example.org:secret")).without("n.example") // reserved
	s.get(nameAt(alb) + "?at=2000-01-01").without("n.example")
}

func TestQRFiles(t *testing.T) {
	s := newSite(t)
	s.pages.publicURL = func() string { return "https://n.example" }
	a := s.get(nameAt(alb) + "/qr.svg")
	a.want(200)
	a.wantFile()
	if got := a.Body.String(); !strings.HasPrefix(got, "<svg ") || !strings.Contains(got, alb) || a.Header().Get("Content-Type") != "image/svg+xml" {
		t.Errorf("got %.200s", got)
	}
	a = s.get(nameAt(alb) + "/qr.png")
	a.wantFile()
	if _, err := png.Decode(bytes.NewReader(a.Body.Bytes())); err != nil || a.Header().Get("Content-Type") != "image/png" {
		t.Errorf("got %v", err)
	}
	long := "urn:dns:example.org:" + strings.Repeat("x", 300)
	s.add(long)
	s.get(nameAt(long)).want(200, "https://n.example/urn:dns")
	for _, file := range []string{"/qr.svg", "/qr.png"} {
		s.get(nameAt(long) + file).want(404)
		s.as("other").get(nameAt(alb) + file).want(403)
		s.get(nameAt("urn:dns:example.org:secret") + file).want(404)
		s.get(nameAt("urn:dns:example.org:none") + file).want(404)
	}
}

// The history begins with a drawing of when the name was active.
func TestTimeline(t *testing.T) {
	s := newSite(t)
	s.change(alb, "one", at("https://example.org/1"))
	s.change(alb, "gone", func(r *store.Record) { r.Status, r.Reason = nomen.Retired, "gone" })
	a := s.get(nameAt(alb) + "/history")
	a.want(200, "Status over time", "retired status, reason")
	if got := len(a.elements("svg")); got != 1 {
		t.Errorf("%d drawings", got)
	}
	a.wantHarmless("history")
}

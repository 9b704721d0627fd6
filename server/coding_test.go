package server

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/accept"
	"github.com/nomen-project/nomen/store"
)

// Cache-Control is that of the answer, or else the one required by the protocol of 1995
// (Y95-67).
func TestCacheControl(t *testing.T) {
	for _, tt := range []struct {
		answer  time.Duration
		private bool
		want    string
	}{
		{0, false, "no-cache"},
		{time.Minute, false, "max-age=60"},
		{time.Hour, false, "max-age=3600"},
		{time.Second / 2, false, "no-cache"},
		{0, true, "private, no-cache"},
		{time.Minute, true, "private, max-age=60"},
	} {
		if got := cacheControl(&nomen.Answer{MaxAge: tt.answer, Private: tt.private}); got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}

// RFC 9110, 12.5.3.
func TestCodingFor(t *testing.T) {
	for field, want := range map[string]coding{
		"": identity, "gzip": codingGzip, "x-gzip": codingGzip, "GZIP": codingGzip, "zstd": codingZstd, "gzip, deflate, br, zstd": codingZstd,
		"gzip;q=1, zstd;q=0.5": codingGzip, "*": codingZstd, "zstd;q=0, *": codingGzip, "gzip;q=0": identity, "br": identity,
		"identity": identity, "identity;q=0.5, gzip;q=0.2": identity, "identity;q=0.5, gzip;q=0.8": codingGzip, "identity;q=0": identity,
		"gzip;q=nonsense": identity, "*;q=0": identity, strings.Repeat("a,", accept.MaxField) + "gzip": identity,
	} {
		if got := codingFor(field); got != want {
			t.Errorf("Accept-Encoding: %.60s: got %q, want %q", field, got, want)
		}
	}
}

// A long response is compressed; each coding is a representation with its own tag, and
// 304 is for the one that would be sent.
func TestCodedAnswers(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		a := &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active, Modified: modified}
		for range 100 {
			a.Locations = append(a.Locations, nomen.Location{URL: "https://example.org/a-long-location"})
		}
		return a, nil
	}
	encoding := func(field string) func(*request) { return func(r *request) { r.encodings = field } }
	plain := ask(s, "/urn:example:a?s=I2Ls")
	tags := map[string]bool{plain.get("ETag"): true}
	for _, how := range []string{"gzip", "zstd"} {
		p := ask(s, "/urn:example:a?s=I2Ls", encoding(how))
		var decoded []byte
		var err error
		if how == "gzip" {
			r, e := gzip.NewReader(bytes.NewReader(p.body))
			if e != nil {
				t.Fatal(e)
			}
			decoded, err = io.ReadAll(r)
		} else {
			d, e := zstd.NewReader(nil)
			if e != nil {
				t.Fatal(e)
			}
			decoded, err = d.DecodeAll(p.body, nil)
			d.Close()
		}
		if err != nil || !bytes.Equal(decoded, plain.body) || p.get("Content-Encoding") != how || len(p.body) >= len(plain.body) {
			t.Errorf("%s: %d bytes, %v, %v", how, len(p.body), err, p.fields)
		}
		if !strings.Contains(p.get("Vary"), "Accept-Encoding") || !strings.Contains(plain.get("Vary"), "Accept-Encoding") {
			t.Errorf("%s: Vary: %s and %s", how, p.get("Vary"), plain.get("Vary"))
		}
		tags[p.get("ETag")] = true
		match := func(r *request) { r.ifNoneMatch = p.get("ETag") }
		if again := ask(s, "/urn:example:a?s=I2Ls", encoding(how), match); again.status != 304 || again.get("Content-Encoding") != "" || len(again.body) > 0 || again.get("ETag") != p.get("ETag") {
			t.Errorf("%s: %d %v", how, again.status, again.fields)
		}
		if other := ask(s, "/urn:example:a?s=I2Ls", match); other.status != 200 {
			t.Errorf("%s: the tag of a coding is taken for that of another", how)
		}
	}
	if len(tags) != 3 {
		t.Errorf("three representations have the tags %v", tags)
	}
	h.answer = nil
	if p := ask(s, "/urn:example:a?s=I2Ls", encoding("gzip")); p.get("Content-Encoding") != "" || strings.Contains(p.get("Vary"), "Accept-Encoding") {
		t.Errorf("a short answer: %v", p.fields)
	}
	// RFC 9110, 12.5.3: a short one is compressed too for a client that accepts nothing
	// else.
	for field, want := range map[string]string{
		"gzip, identity;q=0": "gzip", "zstd;q=0.1, *;q=0": "zstd", "Identity;q=0.0, *": "zstd",
		"gzip, identity;q=0.1, *;q=0": "", "*;q=0.5": "", "identity;q=0": "", "gzip;x=identity": "",
	} {
		p := ask(s, "/urn:example:a?s=I2Ls", encoding(field))
		if p.status != 200 || p.get("Content-Encoding") != want || want != "" && !strings.Contains(p.get("Vary"), "Accept-Encoding") {
			t.Errorf("a short answer for %q: %v", field, p.fields)
		}
	}
}

// RFC 9110, 14: ranges of a list of ElementIDs.
func TestRanges(t *testing.T) {
	s, _ := newTestServer(t, nil)
	const target = "/-/list/urn:dns:example.org"
	part := func(field, ifRange string) *reply {
		return ask(s, target, func(r *request) { r.byteRange, r.ifRange, r.encodings = field, ifRange, "gzip" })
	}
	whole := ask(s, target)
	all, tag := stream(t, whole), whole.get("ETag")
	n := len(all)
	if n < 50 || tag == "" || whole.get("Accept-Ranges") != "bytes" {
		t.Fatalf("%q, %v", all, whole.fields)
	}
	for _, tt := range []struct {
		field, ifRange string
		status         int
		want           string
	}{
		{"bytes=0-4", "", 206, all[:5]},
		{"bytes=5-", "", 206, all[5:]},
		{"bytes=-7", "", 206, all[n-7:]},
		{"bytes=-9999", "", 206, all},
		{"bytes=3-99999999999999999999999", "", 206, all[3:]},
		{"BYTES=0-0", tag, 206, all[:1]},
		{"bytes=9999-", "", 416, ""},
		{"bytes=-0", "", 416, ""},
		{"bytes=4-2", "", 200, all},
		{"bytes=0-1,4-5", "", 200, all},
		{"bytes=a-b", "", 200, all},
		{"lines=0-1", "", 200, all},
		{"bytes", "", 200, all},
		{"bytes=0-4", `"other"`, 200, all},
		{"bytes=0-4", "W/" + tag, 200, all},
		{"bytes=0-4", modifiedText, 200, all},
		{"bytes=0-4", "*", 200, all},
	} {
		p := part(tt.field, tt.ifRange)
		got := ""
		if p.status != 416 {
			got = stream(t, p)
		} else if p.get("Content-Range") == "" {
			t.Errorf("%s: no length", tt.field)
		}
		if p.status != tt.status || got != tt.want || p.get("Content-Encoding") != "" || p.status < 400 && p.get("ETag") != tag {
			t.Errorf("Range: %s, If-Range: %s: got %d %q, want %d %q; %v", tt.field, tt.ifRange, p.status, got, tt.status, tt.want, p.fields)
		}
		if p.status < 400 && p.length != int64(len(got)) {
			t.Errorf("%s: announced %d bytes, sent %d", tt.field, p.length, len(got))
		}
	}
	if p := ask(s, target, func(r *request) { r.ifNoneMatch = tag }); p.status != 304 {
		t.Errorf("not modified: %d", p.status)
	}
	if p := ask(s, target, func(r *request) { r.ifMatch = `"x"` }); p.status != 412 {
		t.Errorf("precondition: %d", p.status)
	}
	coded := ask(s, target, func(r *request) { r.encodings = "gzip" })
	if coded.get("ETag") == tag || coded.get("Content-Encoding") != "gzip" || coded.length != -1 {
		t.Errorf("coded: %v", coded.fields)
	}
	r, err := gzip.NewReader(strings.NewReader(stream(t, coded)))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != all {
		t.Errorf("coded: %q, %v", b, err)
	}
}

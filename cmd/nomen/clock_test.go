package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// TestClockOnceAhead: what an operator sees whose clock was once in the year 2090, and
// how the store is repaired.
func TestClockOnceAhead(t *testing.T) {
	data := t.TempDir()
	s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(data, storeDir)})
	if err != nil {
		t.Fatal(err)
	}
	good, far := time.Now().Add(-time.Hour), time.Now().AddDate(64, 0, 0)
	now := good
	reg := registrar.New(s, registrar.Options{Now: func() time.Time { return now }, AnyTime: true})
	put := func(spelling, url string) {
		t.Helper()
		_, err := reg.Put(t.Context(), registrar.Operator(), registrar.Request{
			Record:   &store.Record{Spelling: spelling, Status: nomen.Active, Locations: []nomen.Location{{URL: url}}},
			Expected: store.AnyRevision, OrCreate: true,
		}, "")
		if err != nil {
			t.Fatal(err)
		}
	}
	put("urn:x-a:1", "https://example.org/1")
	put("urn:x-a:2", "https://example.org/secret")
	now = far
	put("urn:x-a:1", "https://example.org/2090")
	put("urn:x-a:2", "https://example.org/2")
	n, err := name.Parse("urn:x-a:2")
	if err != nil {
		t.Fatal(err)
	}
	_, err = reg.Redact(t.Context(), registrar.Operator(), n, registrar.Redaction{Expected: store.AnyRevision, Revisions: []uint64{1}, Reason: "law"})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}

	nomen := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, told bytes.Buffer
		if got := run(t.Context(), args, streams{strings.NewReader(""), &out, &told}); got != want {
			t.Errorf("nomen %s: status %d, want %d: %s%s", strings.Join(args, " "), got, want, &out, &told)
		}
		return out.String(), told.String()
	}
	says := func(what, text, pattern string) {
		t.Helper()
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%s: %q does not match %q", what, text, pattern)
		}
	}
	_, told := nomen(exitFailure, "put", "--data", data, "urn:x-a:3", "https://example.org/3")
	says("another name", told, `the clock \(20..-.*\) is more than a day before the last change \(20..-.*\): set the clock; if it is right, docs/howto/repair-wrong-times.md describes the repair; --clock-ok accepts the change`)
	nomen(exitYes, "put", "--data", data, "--clock-ok", "urn:x-a:3", "https://example.org/3")
	nomen(exitYes, "put", "--data", data, "urn:x-a:4", "https://example.org/4") // the last change has a good time now
	_, told = nomen(exitNo, "put", "--data", data, "--replace", "urn:x-a:1", "https://example.org/now")
	says("the name of 2090", told, `urn:x-a:1: was last changed at 20.*, more than a day after the clock .*docs/howto/repair-wrong-times.md.*--clock-ok`)
	out, _ := nomen(exitNo, "verify", "--data", data)
	says("verify", out, `(?m)^fault: name urn:x-a:1: change 3: dated in the future: 3 changes from this one to change 5, the latest 20`)
	out, _ = nomen(exitYes, "get", "--data", data, "--at", time.Now().Add(time.Minute).Format(time.RFC3339), "urn:x-a:1")
	says("as of now, before the repair", out, `example.org/1`)

	// The repair.
	repaired := filepath.Join(t.TempDir(), "repaired")
	for range 2 { // the second run finds that everything has been copied
		out, _ = nomen(exitYes, "migrate", "--from", "pebble:"+filepath.Join(data, storeDir), "--to", "pebble:"+repaired, "--repair-times")
		says("migrate", out, `(?m)^3 changes dated after 20.* got the time of the change before`)
	}
	out, _ = nomen(exitYes, "verify", "--store", "pebble:"+repaired)
	says("verify of the repaired store", out, `7 changes, no faults`)
	out, _ = nomen(exitYes, "get", "--store", "pebble:"+repaired, "--at", time.Now().Add(time.Minute).Format(time.RFC3339), "urn:x-a:1")
	says("as of now, after the repair", out, `example.org/2090`)
	nomen(exitYes, "put", "--store", "pebble:"+repaired, "--replace", "urn:x-a:1", "https://example.org/now")
	out, _ = nomen(exitYes, "history", "--store", "pebble:"+repaired, "urn:x-a:1")
	if strings.Contains(out, far.Format("2006-")) || strings.Count(out, "\n") < 3 {
		t.Errorf("the history of the repaired store: %s", out)
	}
	if out, _ := nomen(exitYes, "history", "--store", "pebble:"+repaired, "--json", "urn:x-a:2"); strings.Contains(out, "secret") {
		t.Errorf("what was redacted is back: %s", out)
	}
}

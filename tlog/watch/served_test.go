package watch_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/receipt"
	"github.com/nomen-project/nomen/tlog/watch"
)

// TestServed compares names of a server with its log: for each way in which the server can differ from
// the log, the alert must name it.
func TestServed(t *testing.T) {
	s := newSite(t)
	signer, key := s.signer, s.key
	_, otherKey := keyPair(t, origin, false)
	entry := func(key string, revision, seq uint64, location string) *store.Entry {
		n := name.MustParse(key)
		c := &store.Change{Expected: revision - 1, Time: start, Who: "anna", Split: true, Record: &store.Record{
			Name: n, Status: nomen.Active, Revision: revision, Spelling: n.Key(), Modified: start,
			Locations: []nomen.Location{{URL: location}},
		}}
		e := &store.Entry{Change: c, Seq: seq, Salt: [store.SaltSize]byte{1, 2, 3}}
		e.Digest = codec.Digest(e.Salt, codec.Append(nil, c))
		return e
	}
	first, second, other := entry("urn:x-a:n", 1, 1, "https://example.org/1"), entry("urn:x-a:n", 2, 2, "https://example.org/2"), entry("urn:x-a:m", 1, 3, "https://example.org/m")
	var log ledger.Log
	var leaves []ledger.Hash
	for _, e := range []*store.Entry{first, second, other} {
		leaf := codec.AppendLeaf(nil, e)
		log.Append(nil, leaf)
		leaves = append(leaves, ledger.LeafHash(leaf))
	}
	msg, err := tlog.Checkpoint{Origin: origin, Size: 3, Root: log.Head().Hash}.Sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	proofs := map[uint64][]tlog.Hash{1: {leaves[1], leaves[2]}, 2: {leaves[0], leaves[2]}, 3: {hashPair(leaves[0], leaves[1])}}
	text := func(e *store.Entry, content receipt.Content) string {
		return string(receipt.New(e, content, proofs[e.Seq], msg, nil))
	}
	forged := entry("urn:x-a:n", 2, 2, "https://evil.example/")
	forged.Digest = second.Digest // the leaf of the log with other content

	for _, tt := range []struct {
		name            string
		status          int
		receipt, leads  string
		named           int // status for the name itself; 0 means 302
		kind            watch.Kind
		text            string
		failsToAnswer   bool
		withForeignKeys bool
	}{
		{name: "as logged", status: 200, receipt: text(second, receipt.All), leads: "https://example.org/2"},
		{name: "without content", status: 200, receipt: text(second, receipt.None), leads: "https://evil.example/"},
		{name: "dropped, but with a receipt", status: 200, receipt: text(second, receipt.All), named: 404, kind: watch.Dropped, text: "does not answer requests for the name itself"},
		{name: "gone", status: 410, kind: watch.Dropped, text: "entry 2 of the log"},
		{name: "dropped", status: 404, kind: watch.Dropped, text: "entry 2 of the log"},
		{name: "content rewritten", status: 200, receipt: text(forged, receipt.All), kind: watch.Altered, text: "does not match the digest"},
		{name: "older revision", status: 200, receipt: text(first, receipt.All), kind: watch.Altered, text: "shows entry 1, but the log has the newer entry 2"},
		{name: "other name", status: 200, receipt: text(other, receipt.All), kind: watch.Altered, text: "about another name"},
		{name: "no receipt", status: 200, receipt: "<html>", kind: watch.Altered, text: "not valid"},
		{name: "other key", status: 200, receipt: text(second, receipt.All), kind: watch.Altered, text: "no signature", withForeignKeys: true},
		{name: "retargeted, receipt without the author", status: 200, receipt: text(second, receipt.Public), leads: "https://evil.example/", kind: watch.Retargeted, text: "redirects to https://evil.example/"},
		{name: "public content rewritten", status: 200, receipt: text(forged, receipt.Public), kind: watch.Altered, text: "does not match the digest"},
		{name: "retargeted", status: 200, receipt: text(second, receipt.All), leads: "https://evil.example/", kind: watch.Retargeted, text: "redirects to https://evil.example/"},
		{name: "fails", status: 500, failsToAnswer: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/-/proof/") {
					w.WriteHeader(tt.status)
					_, _ = w.Write([]byte(tt.receipt))
					return
				}
				w.Header().Set("Location", tt.leads)
				w.WriteHeader(cmp.Or(tt.named, http.StatusFound))
			}))
			defer server.Close()
			trusted := key
			if tt.withForeignKeys {
				trusted = otherKey
			}
			srv, err := watch.NewServer(server.URL+"/-/log/", nil, trusted)
			if err != nil {
				t.Fatal(err)
			}
			a, err := srv.Compare(t.Context(), "urn:x-a:n", 2)
			switch {
			case (err != nil) != tt.failsToAnswer:
				t.Errorf("got the error %v", err)
			case a == nil && tt.kind != "" || a != nil && (a.Kind != tt.kind || !strings.Contains(a.Text, tt.text)):
				t.Errorf("got %v, want %s with %q", a, tt.kind, tt.text)
			}
		})
	}
	if _, err := watch.NewServer("https://mirror.example.org/log", nil, key); err == nil {
		t.Error("a copy of a log was taken for a server")
	}
}

func hashPair(a, b ledger.Hash) ledger.Hash {
	var l ledger.Log
	l.AppendHash(nil, a)
	l.AppendHash(nil, b)
	return l.Head().Hash
}

// fakeServed says for some names what is wrong with them; "" if the server does not answer.
type fakeServed map[string]watch.Kind

func (f fakeServed) Compare(_ context.Context, key string, _ uint64) (*watch.Alert, error) {
	if kind, ok := f[key]; ok {
		if kind == "" {
			return nil, errors.New("status 500")
		}
		return &watch.Alert{Kind: kind, Text: key}, nil
	}
	return nil, nil
}

// TestServedIsWatched shows that a watcher compares the names below its prefixes in turn, without new
// entries in the log, and reports each fault once.
func TestServedIsWatched(t *testing.T) {
	s := newSite(t)
	for i := range 250 {
		s.now = s.now.Add(time.Second)
		s.add(leafOf(change{name: "urn:x-a:kept:" + string(rune('a'+i%26)) + strings.Repeat("x", i/26), revision: 1, at: s.now, status: nomen.Active}))
	}
	s.add(leafOf(change{name: "urn:x-b:other", revision: 1, at: s.now, status: nomen.Active}))
	served := fakeServed{}
	c := newClient(t, s, func(o *watch.Options) { o.Served = served })
	if r := c.check(t); len(c.alerts) != 0 || r.Served != 100 || r.Checked != 251 {
		t.Errorf("first check: got %+v and %v, want 100 names compared and no alert", r, c.alerts)
	}
	served["urn:x-a:kept:c"], served["urn:x-b:other"] = watch.Dropped, watch.Dropped
	var got []*watch.Alert
	for range 6 {
		c.check(t)
		got = append(got, c.alerts...)
	}
	if len(got) != 1 || got[0].Kind != watch.Dropped || got[0].Name != "urn:x-a:kept:c" || got[0].Entry != 3 {
		t.Errorf("got %v, want one alert for entry 3", got)
	}
	// A server cannot hide a name by failing: the others are compared, and the report counts it.
	served["urn:x-a:kept:d"] = ""
	if r := c.check(t); r.Served+r.Unanswered != 100 {
		t.Errorf("got %+v, want all names compared but those without an answer", r)
	}
	a := newClient(t, s, func(o *watch.Options) { o.Served, o.All = served, true })
	if r := a.check(t); r.Served != 249 || r.Unanswered != 1 {
		t.Errorf("audit: got %+v, want 249 names compared and one unanswered", r)
	}
	delete(served, "urn:x-a:kept:d")
	a = newClient(t, s, func(o *watch.Options) { o.Served, o.All = served, true })
	if r := a.check(t); r.Served != 250 || len(a.alerts) != 1 || a.alerts[0].Kind != watch.Dropped {
		t.Errorf("audit: got %+v and %v, want 250 names compared and one alert", r, a.alerts)
	}
}

// TestHiddenBundles shows that bundles that a server does not show, because of names that are not
// public, are counted and are not reported as alerts.
func TestHiddenBundles(t *testing.T) {
	s := newSite(t).fill(600)
	inner := http.Handler(s)
	var shown []byte // of the bundle, if the server shows some of its entries
	status := http.StatusForbidden
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/tile/entries/001"):
			http.Error(w, "not shown", status)
		case strings.HasSuffix(r.URL.Path, "/shown/001") && shown != nil:
			_, _ = w.Write(shown)
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	log, err := watch.NewRemote(server.URL+"/-/log", nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a := newClient(t, s, func(o *watch.Options) { o.All, o.Log = true, log })
	if r := a.check(t); r.Hidden != 256 || r.Checked != 600 || !r.Entries || len(a.alerts) != 0 {
		t.Errorf("got %+v and %v, want 256 hidden entries and no alert", r, a.alerts)
	}

	// The server shows all entries of the bundle but two; a static copy answers with 404.
	for i := range 256 {
		entry := s.leaves[256+i]
		if i == 7 || i == 255 {
			entry = nil
		}
		if shown, err = tlog.AppendEntry(shown, entry); err != nil {
			t.Fatal(err)
		}
	}
	for _, status = range []int{http.StatusForbidden, http.StatusNotFound} {
		a = newClient(t, s, func(o *watch.Options) { o.All, o.Log = true, log })
		if r := a.check(t); r.Hidden != 2 || r.Checked != 600 || !r.Entries || len(a.alerts) != 0 {
			t.Errorf("with status %d: got %+v and %v, want 2 hidden entries and no alert", status, r, a.alerts)
		}
	}
	shown[5] ^= 1
	a = newClient(t, s, func(o *watch.Options) { o.All, o.Log = true, log })
	a.check(t)
	a.want(t, watch.BadBundle, "entry 257 does not match")
}

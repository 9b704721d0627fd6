package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

const deadPage, livingPage = "http://gone.example/dead", "http://gone.example/works"

// copied serves a name with a dead location and one that answers, and asks an archive. It returns
// clients for an editor of the name and for a reader, and the name.
func copied(t *testing.T, archive bool, answer http.HandlerFunc) (editor, reader *adminapi.Client, n name.Name) {
	t.Helper()
	n = name.MustParse("urn:x-link:mine:1")
	var day atomic.Int64
	begun := time.Now()
	now := func() time.Time { return testNow.AddDate(0, 0, int(day.Load())).Add(time.Since(begun)) }
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host == "archive.example":
			answer(w, r)
		case r.URL.Path != "/works" && day.Load() > 0:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(web.Close)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, web.Listener.Addr().String())
	}
	allow := func(netip.Addr) error { return nil }
	var w *links.Watcher
	api, s := newTestAPI(t, func(o *Options) {
		source := o.Store.(*memstore.Store)
		_, err := source.Apply(t.Context(), []store.Change{{Time: testNow, Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:x-link:mine"), Owners: []string{"a", "b"}}}, {Time: testNow, Record: &store.Record{Name: n, Status: nomen.Active, Locations: []nomen.Location{{URL: deadPage}, {URL: livingPage}}}}})
		if err == nil {
			w, err = links.Open(links.Options{Dir: filepath.Join(t.TempDir(), "links"), Store: source, Agent: "nomen/test", Gap: time.Nanosecond, Now: now, DNS: someHosts{}, Allow: allow, Dial: dial})
		}
		if err == nil {
			err = w.CatchUp(t.Context())
		}
		if err == nil && archive {
			o.Archive, err = links.NewArchive(links.ArchiveOptions{Availability: "http://archive.example/available", Agent: "nomen/test", Gap: time.Nanosecond, Now: now, DNS: someHosts{}, Allow: allow, Dial: dial})
		}
		if err != nil {
			t.Fatal(err)
		}
		o.Links = w
	})
	t.Cleanup(func() { _ = w.Close() })
	for _, d := range []int64{0, 1, 2, 5, 6, 9, 10, 14, 15, 20, 21, 22} {
		day.Store(d)
		for _, u := range []string{deadPage, livingPage} {
			if _, _, err := w.Check(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
	}
	l := listen(t, api)
	client := func(who, role string) *adminapi.Client {
		return &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, adminapi.Grant{Who: who, Role: role, Prefixes: []string{"urn:x-link:mine"}})}
	}
	return client("anna", "editor"), client("berta", "reader"), n
}

// someHosts is a resolver for which all hosts exist.
type someHosts struct{}

func (someHosts) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

// TestCopies checks that an editor can ask an archive for a copy of a dead location, made closest to
// the last good check, and add it to the record; that the history has the editor's name; and that
// nothing else is possible.
func TestCopies(t *testing.T) {
	const preserved = "http://archive.example/web/20261121/http://gone.example/dead"
	var asked atomic.Int64
	editor, reader, n := copied(t, true, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if got := r.FormValue("timestamp"); r.FormValue("url") != deadPage || got[:8] != testNow.Format("20060102") {
			t.Errorf("got request %s, want the time of the last good check", r.URL)
		}
		fmt.Fprintf(w, `{"archived_snapshots":{"closest":{"available":true,"status":"200","url":%q,"timestamp":"20261121000000"}}}`, preserved)
	})
	ctx := t.Context()
	status, err := editor.LinkStatus(ctx)
	if err != nil || status.Archive != "archive.example" {
		t.Fatalf("status: got %+v, %v, want the archive", status, err)
	}
	for range 2 { // the second answer is kept
		got, err := editor.DoLinks(ctx, n, adminapi.LinkRequest{Suggest: true})
		if err != nil || len(got.Links) != 1 || got.Links[0].URL != deadPage || got.Links[0].Copy == nil || got.Links[0].Copy.URL != preserved || got.Links[0].Copy.Time.Format(time.DateOnly) != "2026-11-21" || len(got.Links[0].Archived) > 0 {
			t.Fatalf("suggest: got %+v, %v, want a copy of the dead location", got, err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("got %d requests, want 1", asked.Load())
	}
	for what, r := range map[string]adminapi.LinkRequest{
		"a location that answers":     {URL: livingPage, Suggest: true},
		"another location":            {URL: "http://gone.example/none", Suggest: true},
		"two requests":                {URL: deadPage, Suggest: true, Accept: preserved},
		"accept without a location":   {Accept: preserved},
		"accept another copy":         {URL: deadPage, Accept: "http://archive.example/other"},
		"accept a script":             {URL: deadPage, Accept: "javascript:alert(1)"},
		"accept for what answers":     {URL: livingPage, Accept: preserved},
		"accept for another location": {URL: "http://gone.example/none", Accept: preserved},
		"nothing to do":               {},
	} {
		var invalid *adminapi.RequestError
		if _, err := editor.DoLinks(ctx, n, r); !errors.As(err, &invalid) {
			t.Errorf("%s: got %v, want a RequestError", what, err)
		}
	}
	for what, r := range map[string]adminapi.LinkRequest{"suggest": {Suggest: true}, "accept": {URL: deadPage, Accept: preserved}} {
		var denied *registrar.DeniedError
		if _, err := reader.DoLinks(ctx, n, r); !errors.As(err, &denied) {
			t.Errorf("%s as a reader: got %v, want a DeniedError", what, err)
		}
	}
	if rec, err := editor.Get(ctx, n); err != nil || len(rec.Locations) != 2 {
		t.Fatalf("before: got %+v, %v, want two locations", rec, err)
	}
	for range 2 { // the second request changes nothing
		if got, err := editor.DoLinks(ctx, n, adminapi.LinkRequest{URL: deadPage, Accept: preserved}); err != nil || len(got.Links) != 1 || len(got.Links[0].Archived) != 1 {
			t.Fatalf("accept: got %+v, %v", got, err)
		}
	}
	rec, err := editor.Get(ctx, n)
	if err != nil || len(rec.Locations) != 3 || rec.Revision != 2 {
		t.Fatalf("got %+v, %v, want three locations", rec, err)
	}
	if l := rec.Locations[2]; l.URL != preserved || l.Rel != "archive" || rec.Locations[0].URL != deadPage {
		t.Errorf("got %+v, want the copy after the others", rec.Locations)
	}
	revs, err := collect(editor.Revisions(ctx, n))
	if err != nil || len(revs) != 2 {
		t.Fatalf("history: got %d revisions, %v, want 2", len(revs), err)
	}
	for _, r := range revs {
		if r.Revision == 2 && (r.Who != "anna" || !strings.Contains(r.Why, "archived copy of "+deadPage+", from 2026-11-21")) {
			t.Errorf("history: got %q, %q", r.Who, r.Why)
		}
	}
	list, err := reader.Links(ctx, "dead", "", 0)
	if err != nil || len(list.Links) != 1 || len(list.Links[0].Archived) != 1 {
		t.Errorf("list: got %+v, %v, want the name among those with a copy", list, err)
	}
}

// TestNoCopies checks what an editor sees if the archive has no copy, if its answer is hostile, and if
// no archive is configured.
func TestNoCopies(t *testing.T) {
	for _, tt := range []struct {
		what, answer, want string
		status             int
	}{
		{"nothing", `{"archived_snapshots":{}}`, "the archive has no copy of this location", 200},
		{"a script", `{"archived_snapshots":{"closest":{"available":true,"url":"javascript:alert(1)","timestamp":"20240101000000"}}}`, "cannot be used", 200},
		{"another host", `{"archived_snapshots":{"closest":{"available":true,"url":"http://evil.example/","timestamp":"20240101000000"}}}`, "not one of the archive", 200},
		{"failure", "", "status 500", 500},
	} {
		editor, _, n := copied(t, true, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.answer))
		})
		got, err := editor.DoLinks(t.Context(), n, adminapi.LinkRequest{Suggest: true})
		if err != nil || len(got.Links) != 1 || got.Links[0].Copy != nil || !strings.Contains(got.Links[0].Detail, tt.want) {
			t.Errorf("%s: got %+v, %v, want %q", tt.what, got, err, tt.want)
		}
		var invalid *adminapi.RequestError
		if _, err := editor.DoLinks(t.Context(), n, adminapi.LinkRequest{URL: deadPage, Accept: "javascript:alert(1)"}); !errors.As(err, &invalid) || !strings.Contains(invalid.Message, tt.want) {
			t.Errorf("%s: accept: got %v, want a RequestError", tt.what, err)
		}
	}
	editor, _, n := copied(t, false, nil)
	for _, r := range []adminapi.LinkRequest{{Suggest: true}, {URL: deadPage, Accept: "http://archive.example/1"}} {
		var status *adminapi.StatusError
		if _, err := editor.DoLinks(t.Context(), n, r); !errors.As(err, &status) || status.Kind != adminapi.KindNoArchive {
			t.Errorf("without an archive: got %v, want %s", err, adminapi.KindNoArchive)
		}
	}
}

package admin

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
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

// linked serves two names with the same location at a private address, which is never asked, and
// returns a client for an administrator, and one for an editor of the first name.
func linked(t *testing.T) (admin, editor *adminapi.Client, first, second name.Name) {
	t.Helper()
	first, second = name.MustParse("urn:x-link:mine:1"), name.MustParse("urn:x-link:other:1")
	var w *links.Watcher
	api, s := newTestAPI(t, func(o *Options) {
		source := o.Store.(*memstore.Store)
		var changes []store.Change
		for _, n := range []name.Name{first, second} {
			changes = append(changes, store.Change{Time: testNow, Record: &store.Record{Name: n, Status: nomen.Active, Locations: []nomen.Location{{URL: "http://10.0.0.1/a"}, {URL: "mailto:a@example.org"}}}})
		}
		_, err := source.Apply(t.Context(), changes)
		if err == nil {
			w, err = links.Open(links.Options{Dir: filepath.Join(t.TempDir(), "links"), Store: source, Agent: "nomen/test", Now: o.Now})
		}
		if err == nil {
			err = w.CatchUp(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		o.Links = w
	})
	t.Cleanup(func() { _ = w.Close() })
	l := listen(t, api)
	client := func(g adminapi.Grant) *adminapi.Client {
		return &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, g)}
	}
	return client(adminapi.AdministratorGrant()), client(adminapi.Grant{Who: "e", Role: "editor", Prefixes: []string{"urn:x-link:mine"}}), first, second
}

// TestLinks checks what each token sees and may do.
func TestLinks(t *testing.T) {
	admin, editor, first, second := linked(t)
	ctx := t.Context()
	got, err := editor.DoLinks(ctx, first, adminapi.LinkRequest{Check: true})
	if err != nil || len(got.Links) != 1 || got.Links[0].Verdict != "blocked" || got.Links[0].Outcome != "private" || got.Links[0].Detail == "" {
		t.Fatalf("check: got %+v, %v, want one blocked location", got, err)
	}
	for _, tt := range []struct {
		who   string
		c     *adminapi.Client
		names int
	}{{"administrator", admin, 2}, {"editor", editor, 1}} {
		list, err := tt.c.Links(ctx, "blocked", "", 0)
		if err != nil || len(list.Links) != 1 || len(list.Links[0].Names) != tt.names {
			t.Errorf("%s: got %+v, %v, want one location with %d names", tt.who, list, err, tt.names)
		}
		status, err := tt.c.LinkStatus(ctx)
		if counted := status.Counts["blocked"] == 1; err != nil || counted != (tt.names == 2) || status.Checks != 1 {
			t.Errorf("%s: status: got %+v, %v", tt.who, status, err)
		}
	}
	if of, err := editor.LinksOf(ctx, first); err != nil || len(of.Links) != 1 || of.Links[0].Verdict != "blocked" {
		t.Errorf("links of a name: got %+v, %v", of, err)
	}
	for what, err := range map[string]error{
		"read another name":  func() error { _, err := editor.LinksOf(ctx, second); return err }(),
		"check another name": func() error { _, err := editor.DoLinks(ctx, second, adminapi.LinkRequest{Check: true}); return err }(),
	} {
		var denied *registrar.DeniedError
		if !errors.As(err, &denied) {
			t.Errorf("%s: got %v, want a DeniedError", what, err)
		}
	}
	until := testNow.AddDate(0, 1, 0).Truncate(time.Minute)
	if got, err = editor.DoLinks(ctx, first, adminapi.LinkRequest{URL: "http://10.0.0.1/a", Ignore: &adminapi.Ignoring{Until: until}}); err != nil || got.Links[0].Verdict != "ignored" || !got.Links[0].Until.Equal(until) {
		t.Errorf("ignore: got %+v, %v", got, err)
	}
	if list, err := admin.Links(ctx, "ignored", "", 0); err != nil || len(list.Links) != 1 {
		t.Errorf("ignored: got %+v, %v", list, err)
	}
	if got, err = editor.DoLinks(ctx, first, adminapi.LinkRequest{Ignore: &adminapi.Ignoring{}}); err != nil || got.Links[0].Verdict != "unknown" {
		t.Errorf("undo: got %+v, %v", got, err)
	}
}

// TestLinkRequests checks which requests are rejected.
func TestLinkRequests(t *testing.T) {
	admin, _, first, _ := linked(t)
	for what, do := range map[string]func(context.Context) error{
		"unknown verdict": func(ctx context.Context) error { _, err := admin.Links(ctx, "bad", "", 0); return err },
		"verdict good":    func(ctx context.Context) error { _, err := admin.Links(ctx, "good", "", 0); return err },
		"nothing to do": func(ctx context.Context) error {
			_, err := admin.DoLinks(ctx, first, adminapi.LinkRequest{})
			return err
		},
		"unknown location": func(ctx context.Context) error {
			_, err := admin.DoLinks(ctx, first, adminapi.LinkRequest{Check: true, URL: "http://x.example/"})
			return err
		},
		"until in the past": func(ctx context.Context) error {
			_, err := admin.DoLinks(ctx, first, adminapi.LinkRequest{Ignore: &adminapi.Ignoring{Until: testNow}})
			return err
		},
	} {
		var invalid *adminapi.RequestError
		if err := do(t.Context()); !errors.As(err, &invalid) {
			t.Errorf("%s: got %v, want a RequestError", what, err)
		}
	}
	if _, err := admin.LinksOf(t.Context(), name.MustParse("urn:x-link:none")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown name: got %v, want ErrNotFound", err)
	}
}

// TestNoLinks checks that a server without checks says so.
func TestNoLinks(t *testing.T) {
	log, said := logged()
	api, s := newTestAPI(t, func(o *Options) { o.Log = log })
	c := &adminapi.Client{URL: "http://" + listen(t, api).Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}
	_, err := c.LinkStatus(t.Context())
	var status *adminapi.StatusError
	if !errors.As(err, &status) || status.Kind != adminapi.KindNoLinks {
		t.Errorf("got %v, want %s", err, adminapi.KindNoLinks)
	}
	if got := said.String(); got != "" { // the server has not failed
		t.Errorf("the server logs %s", got)
	}
}

// noHosts is a resolver for which no host exists.
type noHosts struct{}

func (noHosts) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// TestLinkChanges checks that a host that fails for days is one change, for those who may read the
// name of one of its locations.
func TestLinkChanges(t *testing.T) {
	begun := time.Now()
	var day atomic.Int64
	now := func() time.Time { return testNow.AddDate(0, 0, int(day.Load())).Add(time.Since(begun)) }
	var w *links.Watcher
	n := name.MustParse("urn:x-link:mine:1")
	api, s := newTestAPI(t, func(o *Options) {
		source := o.Store.(*memstore.Store)
		_, err := source.Apply(t.Context(), []store.Change{{Time: testNow, Record: &store.Record{Name: n, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://gone.example/a"}, {URL: "https://gone.example/b"}}}}})
		if err == nil {
			w, err = links.Open(links.Options{Dir: filepath.Join(t.TempDir(), "links"), Store: source, Agent: "nomen/test", DNS: noHosts{}, Gap: time.Nanosecond, Now: now})
		}
		if err == nil {
			err = w.CatchUp(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		o.Links = w
	})
	t.Cleanup(func() { _ = w.Close() })
	l := listen(t, api)
	admin := &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}
	for range 5 {
		if _, err := admin.DoLinks(t.Context(), n, adminapi.LinkRequest{Check: true}); err != nil {
			t.Fatal(err)
		}
		day.Add(1)
	}
	got, err := admin.LinkChanges(t.Context(), testNow, time.Time{})
	if err != nil || len(got.Hosts) != 1 || got.Hosts[0].Host != "gone.example" || !got.Hosts[0].Failing || got.Hosts[0].Dead != 0 {
		t.Errorf("got %+v, %v, want one failing host", got, err)
	}
	status, err := admin.LinkStatus(t.Context())
	if err != nil || len(status.Failing) != 1 || status.Failing[0].Links != 2 || status.Failing[0].Outcome != "no-host" {
		t.Errorf("status: got %+v, %v", status, err)
	}
	editor := &adminapi.Client{URL: admin.URL, Token: grant(t, s, adminapi.Grant{Who: "e", Role: "editor", Prefixes: []string{"urn:x-link:mine"}})}
	if got, err := editor.LinkChanges(t.Context(), testNow, time.Time{}); err != nil || len(got.Hosts) != 1 || !got.Hosts[0].Failing {
		t.Errorf("an editor of a name at the host: got %+v, %v, want the failing host", got, err)
	}
	other := &adminapi.Client{URL: admin.URL, Token: grant(t, s, adminapi.Grant{Who: "o", Role: "editor", Prefixes: []string{"urn:x-link:other"}})}
	if got, err := other.LinkChanges(t.Context(), testNow, time.Time{}); err != nil || len(got.Hosts) != 0 {
		t.Errorf("an editor of other names: got %+v, %v, want nothing", got, err)
	}
}

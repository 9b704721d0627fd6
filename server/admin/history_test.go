package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// collect returns the values of a sequence up to the first error.
func collect[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

// move changes the location of alb002 several times.
func move(t testing.TB, c *adminapi.Client, key string, urls ...string) name.Name {
	t.Helper()
	n := name.MustParse(key)
	for _, u := range urls {
		rec := &store.Record{Name: n, Spelling: key, Locations: []nomen.Location{{URL: u}}}
		if _, err := c.Put(t.Context(), registrar.Request{Record: rec, Expected: store.AnyRevision}, "moved"); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestAdminHistory(t *testing.T) {
	c, _, _ := admin(t)
	ctx := t.Context()
	n := move(t, c, "urn:dns:example.org:alb002", "https://example.org/private", "https://example.org/last")
	out, err := c.Redact(ctx, n, registrar.Redaction{Revisions: []uint64{2}, Reason: "a court", Expected: 3})
	if err != nil || out.Result.Revision != 4 || out.Record.Locations[0].URL != "https://example.org/last" {
		t.Fatalf("redact: %+v, %v", out, err)
	}
	all, err := collect(c.Revisions(ctx, n))
	if err != nil || len(all) != 4 {
		t.Fatalf("%d revisions, %v", len(all), err)
	}
	if r := all[0]; r.Revision != 4 || r.Who != "administrator" || r.Why != "a court" || !slices.Equal(r.Redacts, []uint64{2}) || r.Redacted {
		t.Errorf("the last: %+v", r)
	}
	if r := all[2]; r.Revision != 2 || !r.Redacted || r.Who+r.Why != "" || !r.Record.Redacted || len(r.Record.Locations) != 0 {
		t.Errorf("the one that was redacted: %+v", r)
	}
	rec, err := c.GetAt(ctx, n, modified)
	if err != nil || rec.Revision != 1 || rec.Locations[0].URL != "https://example.org/albums/2" {
		t.Errorf("as of then: %+v, %v", rec, err)
	}
	if _, err := c.GetAt(ctx, n, modified.Add(-time.Hour)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	if _, err := collect(c.Revisions(ctx, name.MustParse("urn:dns:example.org:none"))); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a name that never was: %v", err)
	}
	var conflict *store.ConflictError
	if _, err := c.Redact(ctx, n, registrar.Redaction{Revisions: []uint64{1}, Reason: "x", Expected: 3}); !errors.As(err, &conflict) {
		t.Errorf("redact an old state: %v", err)
	}
}

func TestAdminRedactAuthority(t *testing.T) {
	c, s, _ := admin(t)
	ctx := t.Context()
	p := name.MustParsePrefix("urn:x-redact:a")
	for _, contact := range []string{"mailto:person@example.org", "mailto:office@example.org"} {
		a := &store.Authority{Prefix: p, Owners: []string{"a", "b"}, Contact: contact}
		if _, err := c.PutAuthority(ctx, a, store.AnyRevision, "set up"); err != nil {
			t.Fatal(err)
		}
	}
	owner := &adminapi.Client{URL: c.URL, Token: grant(t, s, adminapi.Grant{Who: "o", Role: "owner"})}
	var denied *registrar.DeniedError
	if _, err := owner.RedactAuthority(ctx, p, registrar.Redaction{Reason: "x", Expected: store.AnyRevision}); !errors.As(err, &denied) {
		t.Errorf("redacted by an owner: %v", err)
	}
	var conflict *store.ConflictError
	if _, err := c.RedactAuthority(ctx, p, registrar.Redaction{Reason: "a court", Expected: 1}); !errors.As(err, &conflict) {
		t.Errorf("redact an old state: %v", err)
	}
	out, err := c.RedactAuthority(ctx, p, registrar.Redaction{Reason: "a court", Expected: 2})
	if err != nil || out.Result.Revision != 3 || out.Authority == nil || out.Authority.Contact != "mailto:office@example.org" {
		t.Fatalf("redact: %+v, %v", out, err)
	}
	var redacted, why int
	for e, err := range c.Changes(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Change.Subject().Key == p.String() {
			redacted += len(e.Change.Redacts)
			if e.Change.Redacted && e.Change.Authority.Contact == "" {
				why++
			}
		}
	}
	if redacted != 1 || why != 1 {
		t.Errorf("%d revisions named, %d without content; want 1 of both", redacted, why)
	}
	if _, err := c.RedactAuthority(ctx, name.MustParsePrefix("urn:x-redact:none"), registrar.Redaction{Reason: "x", Expected: store.AnyRevision}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an authority that never was: %v", err)
	}
}

// Every token may read the history of an authority.
func TestAdminAuthorityHistory(t *testing.T) {
	c, s, _ := admin(t)
	ctx := t.Context()
	p := name.MustParsePrefix("urn:x-past:a")
	for _, contact := range []string{"mailto:one@example.org", "mailto:two@example.org"} {
		a := &store.Authority{Prefix: p, Owners: []string{"a", "b"}, Contact: contact}
		if _, err := c.PutAuthority(ctx, a, store.AnyRevision, "it is "+contact); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.RedactAuthority(ctx, p, registrar.Redaction{Reason: "a court", Expected: store.AnyRevision}); err != nil {
		t.Fatal(err)
	}
	want, err := collect(store.AuthorityHistory(ctx, s, p))
	if err != nil || len(want) != 3 {
		t.Fatalf("%d changes, %v", len(want), err)
	}
	via := &adminapi.Client{URL: c.URL, Token: grant(t, s, adminapi.Grant{Who: "r", Role: "reader", Prefixes: []string{"urn:x-other"}})}
	got, err := collect(via.AuthorityHistory(ctx, p))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d changes, %v", len(got), err)
	}
	for i := range want {
		if g, w := got[i], want[i]; g.Revision() != w.Revision() || g.Who != w.Who || g.Why != w.Why || g.Redacted != w.Redacted ||
			!slices.Equal(g.Redacts, w.Redacts) || g.Authority.Contact != w.Authority.Contact || !g.Time.Equal(w.Time) {
			t.Errorf("revision %d: got %+v, want %+v", w.Revision(), g, w)
		}
	}
	if all, err := collect(c.AuthorityHistory(ctx, name.MustParsePrefix("urn:x-past:none"))); err != nil || len(all) != 0 {
		t.Errorf("one that never was: %d, %v", len(all), err)
	}
	const path = "/api/v1/authorities/urn:x-past:a/history"
	if status, _, body := do(t, c, "GET", path, ""); status != 200 || !strings.Contains(body, `{"revisions":[{"revision":3,`) || !strings.Contains(body, `"authority":{"prefix":"urn:x-past:a"`) {
		t.Errorf("at once: %d %s", status, body)
	}
	for query, want := range map[string]int{"?format=xml": 400, "?fromat=json": 400, "-none": 404} {
		if status, _, body := do(t, c, "GET", path+query, ""); status != want {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

func TestAdminChanges(t *testing.T) {
	c, s, _ := admin(t)
	ctx := t.Context()
	move(t, c, "urn:dns:example.org:alb002", "https://example.org/x?a=b&c", "https://example.org/y")
	secret := name.MustParse("urn:dns:example.org:secret")
	if _, err := c.Delete(ctx, secret, store.AnyRevision, "a mistake"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Redact(ctx, name.MustParse("urn:dns:example.org:alb002"), registrar.Redaction{Revisions: []uint64{2}, Reason: "x", Expected: store.AnyRevision}); err != nil {
		t.Fatal(err)
	}
	got, err := collect(c.Changes(ctx, 0))
	if err != nil {
		t.Fatal(err)
	}
	want, err := collect(store.Changes(ctx, s, 0))
	if err != nil || len(want) == 0 {
		t.Fatal(len(want), err)
	}
	names := cmp.Options{cmp.Comparer(func(a, b name.Name) bool { return a == b }), cmp.Comparer(func(a, b name.Prefix) bool { return a == b })}
	if diff := cmp.Diff(got, want, names); diff != "" {
		t.Errorf("over the API the changes differ:\n%s", diff)
	}
	for _, e := range got { // the received changes are those that were hashed
		if !e.Change.Redacted && codec.Digest(e.Salt, codec.Append(nil, e.Change)) != e.Digest {
			t.Errorf("change %d has another digest", e.Seq)
		}
	}
	rest, err := collect(c.Changes(ctx, got[len(got)-3].Seq))
	if err != nil || len(rest) != 2 || rest[0].Seq != got[len(got)-2].Seq {
		t.Errorf("resumed: %v, %v", rest, err)
	}
	head, err := c.Head(ctx)
	if own, _ := store.HeadOf(ctx, s); err != nil || head != own || head.Size != uint64(len(got)) {
		t.Errorf("head %v, %v", head, err)
	}
}

// A client that has a head can check that a later one belongs to the same log.
func TestAdminProof(t *testing.T) {
	c, _, _ := admin(t)
	ctx := t.Context()
	earlier, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	move(t, c, "urn:dns:example.org:alb002", "https://example.org/x", "https://example.org/y")
	later, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := c.ProveHead(ctx, later.Size, earlier.Size)
	if err != nil || ledger.CheckConsistency(proof, later, earlier) != nil {
		t.Errorf("%v, %v", proof, err)
	}
	earlier.Hash[0]++
	if ledger.CheckConsistency(proof, later, earlier) == nil {
		t.Error("another log is proven")
	}
	var bad *adminapi.RequestError
	if _, err := c.ProveHead(ctx, later.Size+1, 1); !errors.As(err, &bad) {
		t.Errorf("a size that is not yet: %v", err)
	}
}

func TestAdminFindAndRelocate(t *testing.T) {
	c, s, _ := admin(t)
	ctx := t.Context()
	places, err := collect(c.Find(ctx, "https://example.org/a", store.Place{}))
	if err != nil || len(places) != 2 || places[0] != (store.Place{URL: "https://example.org/albums/2", Name: name.MustParse("urn:dns:example.org:alb002")}) {
		t.Fatalf("find: %v, %v", places, err)
	}
	rest, err := collect(c.Find(ctx, "https://example.org/a", places[0]))
	if err != nil || !slices.Equal(rest, places[1:]) {
		t.Errorf("find, resumed: %v, %v", rest, err)
	}
	editor := &adminapi.Client{URL: c.URL, Token: grant(t, s, adminapi.Grant{Who: "e", Role: "editor", Prefixes: []string{"ark:12345"}})}
	if places, err = collect(editor.Find(ctx, "", store.Place{})); err != nil || len(places) != 1 || places[0].URL != "https://example.org/ark" {
		t.Errorf("find as another user: %v, %v", places, err)
	}
	var moved, told int
	rel := registrar.Relocation{
		From: "https://example.org/", To: "https://new.example/", Why: "a new site", DryRun: true,
		Moved:    func(name.Name, string, string) { moved++ },
		Progress: func(registrar.Relocated) { told++ },
	}
	dry, err := c.Relocate(ctx, rel)
	if err != nil || dry.Names == 0 || int64(moved) != dry.Locations || told == 0 {
		t.Errorf("dry run: %+v, %d moved, %d reported, %v", dry, moved, told, err)
	}
	if sum, err := editor.Relocate(ctx, rel); err != nil || sum.Names != 1 {
		t.Errorf("as another user: %+v, %v", sum, err)
	}
	rel.DryRun = false
	sum, err := c.Relocate(ctx, rel)
	if dry.Batch = sum.Batch; err != nil || sum != dry || sum.Batch == "" {
		t.Errorf("relocate: %+v, %v; want %+v", sum, err, dry)
	}
	if rec, err := c.Get(ctx, name.MustParse("urn:dns:example.org:alb002")); err != nil || rec.Locations[0].URL != "https://new.example/albums/2" {
		t.Errorf("afterwards: %+v, %v", rec, err)
	}
	var refusal *registrar.RefusalError
	if _, err := c.Relocate(ctx, registrar.Relocation{From: "x", To: "javascript:1"}); !errors.As(err, &refusal) || refusal.Field != "to" {
		t.Errorf("to a script: %v", err)
	}
}

func TestAdminVerify(t *testing.T) {
	c, s, _ := admin(t)
	h, err := c.Verify(t.Context(), func(f store.Fault) { t.Errorf("fault: %+v", f) }, nil)
	if own, _ := store.HeadOf(t.Context(), s); err != nil || h != own {
		t.Errorf("%v, %v", h, err)
	}
}

// faulty is a store that has a fault and supports backups.
type faulty struct {
	store.Store
	dir string
}

func (f *faulty) Token(ctx context.Context, id string) (*store.Token, error) {
	return f.Store.(store.Tokens).Token(ctx, id)
}

func (f *faulty) Verify(_ context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	progress(1, 2)
	fault(store.Fault{Subject: store.Subject{Kind: store.KindAuthority, Key: "urn:x"}, Seq: 7, Problem: "altered"})
	fault(store.Fault{Problem: "no index"})
	if f.dir != "" {
		return store.Head{}, errors.New("the disk is broken")
	}
	return store.Head{Size: 9, Hash: [32]byte{1}}, nil
}

func (f *faulty) Backup(_ context.Context, dir string, progress func(done, total uint64)) error {
	if f.dir != "" {
		return fmt.Errorf("%s: no space left", dir)
	}
	f.dir = dir
	progress(5, 6)
	return nil
}

func TestAdminReports(t *testing.T) {
	var f *faulty
	srv, s := newTestAPI(t, func(o *Options) {
		f = &faulty{Store: o.Store.(store.Store)}
		o.Store = f
	})
	l := listen(t, srv)
	c := &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}
	ctx := t.Context()
	var faults []store.Fault
	var done, total uint64
	h, err := c.Verify(ctx, func(f store.Fault) { faults = append(faults, f) }, func(d, all uint64) { done, total = d, all })
	want := []store.Fault{{Subject: store.Subject{Kind: store.KindAuthority, Key: "urn:x"}, Seq: 7, Problem: "altered"}, {Problem: "no index"}}
	if err != nil || h.Size != 9 || h.Hash[0] != 1 || !slices.Equal(faults, want) || done != 1 || total != 2 {
		t.Errorf("verify: %v, %v, %+v, %d of %d", h, err, faults, done, total)
	}
	var bad *adminapi.RequestError
	if err := c.Backup(ctx, "relative", nil); !errors.As(err, &bad) || f.dir != "" {
		t.Errorf("a relative path: %v", err)
	}
	told := func(d, all uint64) { done, total = d, all }
	if err := c.Backup(ctx, "/srv/x/../copy", told); err != nil || f.dir != "/srv/copy" || done != 5 || total != 6 {
		t.Errorf("backup to %q, %d of %d: %v", f.dir, done, total, err)
	}
	if err := c.Backup(ctx, "/srv/copy", nil); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("a backup that fails: %v", err)
	}
	if _, err := c.Verify(ctx, func(store.Fault) {}, nil); err == nil || !strings.Contains(err.Error(), "the disk is broken") {
		t.Errorf("a verification that fails: %v", err)
	}
	if _, err := c.Head(ctx); err == nil || !strings.Contains(err.Error(), "501") {
		t.Errorf("a store without a log: %v", err)
	}
	var denied *registrar.DeniedError
	for _, g := range []adminapi.Grant{{Who: "o", Role: "owner"}, {Who: "a", Role: "administrator", Prefixes: []string{"urn:dns:example.org"}}} {
		other := &adminapi.Client{URL: c.URL, Token: grant(t, s, g)}
		if err := other.Backup(ctx, "/srv/other", nil); !errors.As(err, &denied) {
			t.Errorf("backup by %+v: %v", g, err)
		}
		if _, err := other.Verify(ctx, func(store.Fault) {}, nil); !errors.As(err, &denied) {
			t.Errorf("verify by %+v: %v", g, err)
		}
	}
}

// Invalid requests are rejected before anything is done.
func TestAdminHistoryRequests(t *testing.T) {
	c, _, _ := admin(t)
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "names/urn:dns:example.org:alb002?at=yesterday", "", 400},
		{"GET", "names/urn:dns:example.org:alb002?at=2026-11-19", "", 200},
		{"GET", "names/urn:dns:example.org:alb002?when=2026-11-19", "", 400},
		{"GET", "names/urn:dns:example.org:alb002/history?format=xml", "", 400},
		{"GET", "names/urn:dns:example.org:alb002/history", "", 200},
		{"HEAD", "names/urn:dns:example.org:alb002/history?format=jsonl", "", 200},
		{"POST", "names/urn:dns:example.org:alb002/redact", `{"revisions":[1]}`, 422},
		{"POST", "names/urn:dns:example.org:alb002/redact", `{"revisions":[-1],"reason":"x"}`, 400},
		{"GET", "changes?after=x", "", 400},
		{"GET", "changes?after=18446744073709551616", "", 400},
		{"GET", "changes?after=18446744073709551615", "", 200},
		{"HEAD", "changes", "", 200},
		{"GET", "find", "", 400},
		{"GET", "find?location=", "", 200},
		{"GET", "find?location=x&limit=-1", "", 400},
		{"GET", "head?since=99999", "", 400},
		{"POST", "relocate", `{"from":"a"`, 400},
		{"POST", "verify?quick=1", "", 400},
		{"GET", "verify", "", 405},
		{"POST", "backup", `{"dir":"/x","force":true}`, 400},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, c.URL+adminapi.Root+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+c.Token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != tt.status {
			t.Errorf("%s %s: %d, want %d: %s", tt.method, tt.path, resp.StatusCode, tt.status, body)
		}
	}
}

// A request for changes can wait for the next one.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, s := newTestAPI(t, nil)
		head, err := s.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := srv.await(t.Context(), head.Size-1, time.Minute); err != nil || time.Since(begin) != 0 {
			t.Errorf("with changes: %v after %v", err, time.Since(begin))
		}
		go func() {
			time.Sleep(5 * time.Second)
			rec := &store.Record{Name: name.MustParse("urn:example:new")}
			if _, err := s.Apply(context.Background(), []store.Change{{Record: rec, Time: testNow}}); err != nil {
				t.Error(err)
			}
		}()
		if err := srv.await(t.Context(), head.Size, time.Minute); err != nil || time.Since(begin) < 5*time.Second || time.Since(begin) > 6*time.Second {
			t.Errorf("until a change: %v after %v", err, time.Since(begin))
		}
		begin = time.Now()
		if err := srv.await(t.Context(), head.Size+1, time.Second); err != nil || time.Since(begin) != time.Second {
			t.Errorf("without a change: %v after %v", err, time.Since(begin))
		}
	})
}

// A truncated response is detected.
func TestAdminStreamBreaksOff(t *testing.T) {
	srv, s := newTestAPI(t, func(o *Options) { o.Store = &halfway{o.Store.(store.Store)} })
	l := listen(t, srv)
	c := &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}
	places, err := collect(c.Find(t.Context(), "", store.Place{}))
	if err == nil || len(places) != 1 {
		t.Errorf("got %v, %v", places, err)
	}
	if _, err := collect(c.Changes(t.Context(), 0)); err == nil || strings.Contains(err.Error(), "truncated") {
		t.Errorf("an error before the first line: %v", err)
	}
}

type halfway struct{ store.Store }

func (b *halfway) Token(ctx context.Context, id string) (*store.Token, error) {
	return b.Store.(store.Tokens).Token(ctx, id)
}

func (*halfway) Find(context.Context, string, store.Place) iter.Seq2[store.Place, error] {
	return func(yield func(store.Place, error) bool) {
		_ = yield(store.Place{URL: "https://example.org/", Name: name.FromKey("urn:example:x")}, nil) && yield(store.Place{}, errors.New("broken"))
	}
}

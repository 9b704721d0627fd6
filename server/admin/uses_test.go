package admin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A noting is a store that counts its writes, and may be unavailable or read-only.
type noting struct {
	*memstore.Store
	writes         atomic.Int64
	refuses, fails atomic.Bool
}

func (n *noting) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	n.writes.Add(1)
	if n.refuses.Load() {
		return nil, errors.New("opened for reading only")
	}
	return n.Store.Apply(ctx, changes)
}

func (n *noting) Token(ctx context.Context, id string) (*store.Token, error) {
	if n.fails.Load() {
		return nil, &store.AwayError{Cause: "the database is unavailable"}
	}
	return n.Store.Token(ctx, id)
}

// A token expires. The day of its last use is recorded once a day. If the store cannot record the
// day, requests still succeed.
func TestTokenLifetime(t *testing.T) {
	var mu sync.Mutex
	now := testNow
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	s := &noting{Store: memstore.New()}
	nodeSpelling, node := adminapi.NewToken(adminapi.AdministratorGrant(), testNow)
	srv, err := New(Options{
		Resolver: resolve.New(s, resolve.Options{}), Store: s, Registrar: registrar.New(s, registrar.Options{Now: clock}), Now: clock, NodeToken: node,
	})
	if err != nil {
		t.Fatal(err)
	}
	d := counter{t, "http://" + listen(t, srv).Admin.String(), nodeSpelling}
	status, body := d.do("POST", "tokens", `{"who":"old","role":"reader","expires":"2020-01-01T00:00:00Z"}`)
	if status != http.StatusUnprocessableEntity || !strings.Contains(body, "is in the past") {
		t.Errorf("a token that has ended already: %d %s", status, body)
	}
	_, body = d.do("POST", "tokens", `{"who":"vendor","role":"reader","expires":"`+testNow.AddDate(0, 0, 30).Format(time.RFC3339)+`"}`)
	_, spelling, _ := strings.Cut(body, `"token":"`)
	spelling, _, ok := strings.Cut(spelling, `"`)
	if !ok {
		t.Fatalf("got %s", body)
	}
	id, _, _ := adminapi.SplitToken(spelling)
	vendor := counter{t, d.url, spelling}
	at := func(days int) {
		mu.Lock()
		defer mu.Unlock()
		now = testNow.AddDate(0, 0, days)
	}
	used := func(what string, want time.Time, writes int64) {
		t.Helper()
		before := s.writes.Load()
		for range 5 {
			if status, body := vendor.do("GET", "names", ""); status != http.StatusOK {
				t.Fatalf("%s: %d %s", what, status, body)
			}
		}
		day := want.UTC().Truncate(24 * time.Hour)
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			tok, err := s.Store.Token(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.writes.Load() - before; tok.Used.Equal(day) && got >= writes {
				if got != writes {
					t.Errorf("%s: written %d times, want %d", what, got, writes)
				}
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: used on %s, want %s", what, tok.Used, day)
			}
		}
	}
	used("first", testNow, 1)
	used("again", testNow, 0)
	at(1)
	used("on the next day", testNow.AddDate(0, 0, 1), 1)
	s.refuses.Store(true)
	at(2)
	used("where nothing can be written", testNow.AddDate(0, 0, 1), 1)
	s.refuses.Store(false)
	at(3)
	used("later", testNow.AddDate(0, 0, 3), 1)
	if _, body := d.do("GET", "tokens", ""); !strings.Contains(body, `"last_used":"`+testNow.AddDate(0, 0, 3).Format(time.DateOnly)+`"`) || strings.Contains(body, node.ID) {
		t.Errorf("tokens: %s", body)
	}
	at(29)
	used("on the last day", testNow.AddDate(0, 0, 29), 1)
	at(30)
	if status, body := vendor.do("GET", "names", ""); status != http.StatusUnauthorized || !strings.Contains(body, "expired token") {
		t.Errorf("after it has ended: %d %s", status, body)
	}
	wrong := counter{t, d.url, id + ".WRONG"}
	if status, body := wrong.do("GET", "names", ""); status != http.StatusUnauthorized || strings.Contains(body, "expired") {
		t.Errorf("another secret: %d %s", status, body)
	}
	s.fails.Store(true)
	if status, body := d.do("GET", "version", ""); status != http.StatusOK {
		t.Errorf("the node's token while the storage is unavailable: %d %s", status, body)
	}
	if status, _ := vendor.do("GET", "version", ""); status != http.StatusServiceUnavailable {
		t.Errorf("another token while the storage is unavailable: %d", status)
	}
	bad := counter{t, d.url, node.ID + ".WRONG"}
	if status, _ := bad.do("GET", "version", ""); status != http.StatusUnauthorized {
		t.Errorf("another secret of the node's token: %d", status)
	}
}

// A token of an earlier version whose prefix ends within a part remains valid, with a
// warning in the list.
func TestTokenWarnings(t *testing.T) {
	d, s := newCounter(t, false, "administrator")
	tok := &store.Token{ID: "OLD", Hash: [32]byte{1}, Role: "editor", Who: "old", Prefixes: []string{"urn:x-fold:mi", "urn:x-fold", "urn:x-fold:ABC", "?"}}
	if _, err := s.Apply(t.Context(), []store.Change{{Token: tok, Time: testNow}}); err != nil {
		t.Fatal(err)
	}
	_, body := d.do("GET", "tokens", "")
	for _, want := range []string{
		`"warnings":["\"urn:x-fold:mi\" ends in the middle of a part of names: it would cover urn:x-fold:mi:1 but not urn:x-fold:mi1; use urn:x-fold or urn:x-fold:mi:"`,
		`"\"urn:x-fold:ABC\" covers no names: urn:x-fold stores its names in lower case; use urn:x-fold:abc`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("got %s\nwant %s", body, want)
		}
	}
}

package reports

import (
	"context"
	"errors"
	"net/textproto"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/internal/mail"
	"github.com/nomen-project/nomen/store/memstore"
)

func TestPeriods(t *testing.T) {
	for _, tt := range []struct {
		p              Period
		now            string
		from, to, name string
	}{
		{Weekly, "2026-11-24T10:00:00Z", "2026-11-16", "2026-11-23", "2026-W47"}, // a Tuesday
		{Weekly, "2026-11-23T00:00:00Z", "2026-11-16", "2026-11-23", "2026-W47"},
		{Weekly, "2026-11-22T23:59:59Z", "2026-11-09", "2026-11-16", "2026-W46"},
		{Weekly, "2027-01-04T00:00:00Z", "2026-12-28", "2027-01-04", "2026-W53"},
		{Weekly, "2027-01-11T00:00:00Z", "2027-01-04", "2027-01-11", "2027-W01"},
		{Monthly, "2026-12-01T00:00:00Z", "2026-11-01", "2026-12-01", "2026-11"},
		{Monthly, "2026-11-30T23:59:59Z", "2026-10-01", "2026-11-01", "2026-10"},
		{Monthly, "2027-01-31T12:00:00Z", "2026-12-01", "2027-01-01", "2026-12"},
		{Monthly, "2026-12-01T00:30:00+01:00", "2026-10-01", "2026-11-01", "2026-10"},
	} {
		now, err := time.Parse(time.RFC3339, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		from, to, name := tt.p.ended(now)
		if got, want := [3]string{from.Format(time.DateOnly), to.Format(time.DateOnly), name}, [3]string{tt.from, tt.to, tt.name}; got != want {
			t.Errorf("%s: got %v, want %v", tt.now, got, want)
		}
	}
}

// A post is a sender that notes what it gets.
type post struct {
	mu   sync.Mutex
	got  []string
	errs map[string]error // by recipient
}

func (p *post) Send(_ context.Context, m *mail.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.errs[m.To]; err != nil {
		return err
	}
	p.got = append(p.got, m.To+" "+m.Subject+" "+m.ID)
	return nil
}

// A world is some servers with the same store and clock.
type world struct {
	now     time.Time
	vault   *memstore.Store
	post    post
	to      []Recipient
	servers []*Runner
}

func newWorld(t *testing.T, servers int) *world {
	t.Helper()
	s := memstore.New()
	w := &world{now: time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), vault: s, post: post{errs: map[string]error{}}}
	w.to = []Recipient{{Address: "all@example.org"}, {Prefix: "urn:x-a", Address: "a@example.org"}, {Prefix: "urn:x-b", Address: "b@example.org"}, {Prefix: "urn:x-b", Address: "b@example.org"}}
	for i := range servers {
		w.servers = append(w.servers, New(Options{
			Reports: []Report{{Name: "month", Period: Monthly, Make: func(_ context.Context, prefix string, from, _ time.Time) (*Content, error) {
				if prefix == "urn:x-b" {
					return nil, nil
				}
				return &Content{Subject: "(" + prefix + ")"}, nil
			}}},
			Recipients: func(context.Context) ([]Recipient, error) { return slices.Clone(w.to), nil },
			Sender:     &w.post, From: "names@example.org", Vault: s, Holder: string(rune('A' + i)), Now: func() time.Time { return w.now },
		}))
	}
	return w
}

func (w *world) step(t *testing.T) {
	t.Helper()
	for _, s := range w.servers {
		if err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOnce checks that each recipient gets a report once, whichever servers run, and nothing about the
// time before the first server.
func TestOnce(t *testing.T) {
	w := newWorld(t, 3)
	for w.now.Before(time.Date(2027, 1, 3, 0, 0, 0, 0, time.UTC)) {
		w.step(t)
		w.now = w.now.Add(30 * time.Minute)
	}
	want := []string{
		"all@example.org () month-2026-11", "a@example.org (urn:x-a) month-2026-11-urn:x-a",
		"all@example.org () month-2026-12", "a@example.org (urn:x-a) month-2026-12-urn:x-a",
	}
	if diff := cmp.Diff(w.post.got, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

// TestRetry checks that only failed deliveries are repeated, for three days, and rejected ones not.
func TestRetry(t *testing.T) {
	w := newWorld(t, 1)
	w.step(t)
	w.now = time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)
	w.post.errs["all@example.org"] = errors.New("no route")
	w.post.errs["a@example.org"] = &textproto.Error{Code: 550, Msg: "no such user"}
	w.step(t)
	w.step(t)
	if len(w.post.got) != 0 {
		t.Fatalf("got %q, want nothing", w.post.got)
	}
	clear(w.post.errs)
	w.step(t) // not yet
	w.now = w.now.Add(firstWait)
	w.step(t)
	w.now = w.now.Add(time.Hour)
	w.step(t)
	if diff := cmp.Diff(w.post.got, []string{"all@example.org () month-2026-11"}); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}

	w = newWorld(t, 1)
	w.step(t)
	w.now = time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)
	w.post.errs["all@example.org"] = errors.New("no route")
	for w.now.Before(time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC)) {
		w.step(t)
		w.now = w.now.Add(time.Minute)
	}
	clear(w.post.errs)
	w.now = w.now.Add(24 * time.Hour)
	w.step(t)
	if diff := cmp.Diff(w.post.got, []string{"a@example.org (urn:x-a) month-2026-11-urn:x-a"}); diff != "" {
		t.Errorf("after three days, -got +want:\n%s", diff)
	}
}

// TestInterrupted checks that a server continues where another one ended.
func TestInterrupted(t *testing.T) {
	w := newWorld(t, 2)
	w.step(t)
	w.now = time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)
	ctx, cancel := context.WithCancel(t.Context())
	first := w.servers[0]
	first.o.Sender = sender(func(ctx context.Context, m *mail.Message) error {
		if m.To == "a@example.org" {
			cancel()
			return ctx.Err()
		}
		return w.post.Send(ctx, m)
	})
	if err := first.Step(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	w.servers = w.servers[1:]
	w.step(t)
	if diff := cmp.Diff(w.post.got, []string{"all@example.org () month-2026-11", "a@example.org (urn:x-a) month-2026-11-urn:x-a"}); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

type sender func(context.Context, *mail.Message) error

func (f sender) Send(ctx context.Context, m *mail.Message) error { return f(ctx, m) }

// TestShown checks that logs do not have URLs of webhooks.
func TestShown(t *testing.T) {
	r := Recipient{Prefix: "urn:x-a", Hook: &mail.Webhook{URL: "https://a.example/secret"}}
	if got, want := shown(r.key()), "urn:x-a webhook"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package admin

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/tlog/receipt"
)

// TestPublishedLog checks that the head of the log says how publication is going, also when the
// server refuses to publish.
func TestPublishedLog(t *testing.T) {
	skey, vkey, err := tlog.GenerateKey(rand.Reader, "names.example/-/log", false)
	if err != nil {
		t.Fatal(err)
	}
	var l *publish.Log
	api, s := newTestAPI(t, func(o *Options) {
		src := o.Store.(*memstore.Store)
		l, err = publish.New(publish.Options{Store: src, Authorities: store.NewTable(src, o.Now, 0), Key: skey})
		if err != nil {
			t.Fatal(err)
		}
		o.Publication = l
	})
	c := &adminapi.Client{URL: "http://" + listen(t, api).Admin.String(), Token: grant(t, s, adminapi.Grant{Who: "r", Role: "reader"})}
	if err := l.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.PublishedLog(t.Context())
	if err != nil || got == nil || got.Size != head.Size || got.Key != vkey || got.Origin != "names.example/-/log" || got.Problem != "" || got.Time == nil {
		t.Fatalf("got %+v, %v", got, err)
	}
	if err := s.PutSecret(t.Context(), publish.SecretKey, []byte("{")); err != nil {
		t.Fatal(err)
	}
	_ = l.Step(t.Context())
	if got, err = c.PublishedLog(t.Context()); err != nil || !strings.Contains(got.Problem, "damaged") {
		t.Errorf("with a damaged state: %+v, %v", got, err)
	}
}

// TestPublishedFiles checks the requests for receipts and files of the published log: what they send, to
// whom, and what they answer otherwise.
func TestPublishedFiles(t *testing.T) {
	skey, vkey, err := tlog.GenerateKey(rand.Reader, "names.example/-/log", false)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tlog.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	var l *publish.Log
	api, s := newTestAPI(t, func(o *Options) {
		src := o.Store.(*memstore.Store)
		if l, err = publish.New(publish.Options{Store: src, Authorities: store.NewTable(src, o.Now, 0), Key: skey, Entries: true}); err != nil {
			t.Fatal(err)
		}
		o.Publication = l
	})
	if err := l.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	alb := name.MustParse("urn:dns:example.org:alb002")
	client := func(api *API, s *memstore.Store, prefixes ...string) *adminapi.Client {
		return &adminapi.Client{URL: "http://" + listen(t, api).Admin.String(), Token: grant(t, s, adminapi.Grant{Who: "r", Role: "reader", Prefixes: prefixes})}
	}
	c := client(api, s)
	if err := l.Step(t.Context()); err != nil { // the grant is in the log too
		t.Fatal(err)
	}
	text, err := c.Receipt(t.Context(), alb, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := receipt.Check(text, v)
	if err != nil || r.Leaf.Subject.Key != alb.Key() || r.Change == nil || r.Public {
		t.Errorf("receipt: %+v, %v, want one with all the content", r, err)
	}
	msg, err := c.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	signed, err := tlog.Open(msg, v)
	if err != nil {
		t.Fatal(err)
	}
	tile := tlog.Tile{Width: int(signed.Size)}
	want, err := l.Tile(t.Context(), tile)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.ReadTile(t.Context(), tile.Path()); err != nil || !bytes.Equal(got, want) {
		t.Errorf("tile: %d bytes, %v, want %d", len(got), err, len(want))
	}
	for path, want := range map[string]error{
		"tile/0/001": fs.ErrNotExist, "nonsense": fs.ErrNotExist, "tile/0/000.p/00": fs.ErrNotExist,
		tlog.Tile{Level: tlog.EntriesLevel, Width: int(signed.Size)}.Path(): fs.ErrPermission,
	} {
		if got, err := c.ReadTile(t.Context(), path); !errors.Is(err, want) {
			t.Errorf("%s: %d bytes, %v, want %v", path, len(got), err, want)
		}
	}
	off, offStore := newTestAPI(t, nil)
	for what, get := range map[string]func() ([]byte, error){
		"a name that does not exist": func() ([]byte, error) {
			return c.Receipt(t.Context(), name.MustParse("urn:dns:example.org:none"), time.Time{})
		},
		"before the first revision":          func() ([]byte, error) { return c.Receipt(t.Context(), alb, time.Unix(0, 0)) },
		"a name outside the rights":          func() ([]byte, error) { return client(api, s, "urn:x-other").Receipt(t.Context(), alb, time.Time{}) },
		"a log that is not published":        func() ([]byte, error) { return client(off, offStore).Receipt(t.Context(), alb, time.Time{}) },
		"a checkpoint that is not published": func() ([]byte, error) { return client(off, offStore).Checkpoint(t.Context()) },
		"no token":                           func() ([]byte, error) { return (&adminapi.Client{URL: c.URL}).Receipt(t.Context(), alb, time.Time{}) },
	} {
		if got, err := get(); err == nil {
			t.Errorf("%s: %q, want an error", what, got)
		}
	}
}

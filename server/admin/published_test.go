package admin

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
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

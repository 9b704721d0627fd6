package pages

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/tlog/witness"
)

// The page of the log says how publication is going, and what is wrong with it.
func TestPublishedLog(t *testing.T) {
	s := newSite(t)
	s.get("log").without("Published log")
	skey, vkey, err := tlog.GenerateKey(rand.Reader, "names.example/-/log", false)
	if err != nil {
		t.Fatal(err)
	}
	_, wkey, err := tlog.GenerateKey(rand.Reader, "<b>witness", true)
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness.Parse(wkey + " http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	src := s.store.(*memstore.Store)
	l, err := publish.New(publish.Options{
		Store: src, Authorities: store.NewTable(src, time.Now, 0), Key: skey, Policy: witness.Policy{Witnesses: []witness.Witness{w}, Need: 1, Timeout: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.publish = l
	s.stop()
	s.start()
	a := s.get("log")
	a.want(200, "Published log", vkey, "cosigned the checkpoint: 0 of 1", "<b>witness", "connection refused")
	if err := src.PutSecret(t.Context(), publish.SecretKey, []byte("{")); err != nil {
		t.Fatal(err)
	}
	_ = l.Step(t.Context())
	s.get("log").want(200, "Nothing more is published:", "is damaged")
}

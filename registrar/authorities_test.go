package registrar

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

func authorityOf(prefix string, hosts ...string) *store.Authority {
	return &store.Authority{Prefix: name.MustParsePrefix(prefix), Owners: []string{"a", "b"}, Hosts: hosts}
}

// TestPutAuthorities checks that a batch of authorities is written completely or not at all, and
// that the checks use the state after the batch.
func TestPutAuthorities(t *testing.T) {
	s := memstore.New()
	r := New(s, Options{})
	put := func(all ...*store.Authority) ([]Outcome, error) {
		return r.PutAuthorities(t.Context(), Operator(), all, "test")
	}
	if outs, err := put(authorityOf("urn:x-a", "A.example"), authorityOf("urn:x-b")); err != nil || !outs[0].Created || !outs[1].Changed {
		t.Fatalf("%+v, %v", outs, err)
	}
	if outs, err := put(authorityOf("urn:x-a", "a.example"), authorityOf("urn:x-b")); err != nil || outs[0].Changed || outs[1].Changed {
		t.Errorf("the same again: %+v, %v", outs, err)
	}
	if outs, err := put(authorityOf("urn:x-a"), authorityOf("urn:x-b", "a.example")); err != nil || !outs[1].Changed {
		t.Errorf("a host that moves: %+v, %v", outs, err)
	}
	bad := authorityOf("urn:x-d")
	bad.Redirect = 1
	outs, err := put(authorityOf("urn:x-c"), bad, authorityOf("urn:x-e", "a.example"))
	var refusal *RefusalError
	if !errors.As(err, &refusal) || refusal.Field != "redirect_status" || outs[0].Err != nil || outs[1].Err == nil {
		t.Fatalf("%+v, %v", outs, err)
	}
	if outs[2].Err == nil || !strings.Contains(outs[2].Err.Error(), "belongs to urn:x-b already") {
		t.Errorf("a host of another authority: %v", outs[2].Err)
	}
	if _, err := s.Authority(context.Background(), name.MustParsePrefix("urn:x-c"), time.Time{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("half of the batch was written: %v", err)
	}
	if _, err := put(authorityOf("urn:x-f", "f.example"), authorityOf("urn:x-g", "f.example")); err == nil {
		t.Error("two authorities of a batch have the same host")
	}
	if _, err := r.PutAuthorities(t.Context(), actor(Administrator, "urn:x-a"), nil, ""); !errors.As(err, new(*DeniedError)) {
		t.Errorf("an administrator of a prefix: %v", err)
	}
}

package signin

import (
	"errors"
	"testing"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

func TestUsers(t *testing.T) {
	s := memstore.New()
	u := Users{s, registrar.New(s, registrar.Options{})}
	ctx := t.Context()
	if _, err := u.Person(ctx, anna); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown user: %v", err)
	}
	if _, err := u.PersonOf(ctx, "header anna"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown subject: %v", err)
	}
	added, err := u.Add(ctx, Newcomer{"https://login.example.org 17", "Zoë Å", "zoe@example.org"})
	if err != nil || added.Name != "Zoë Å" || added.Disabled || len(added.Actor.Grants) > 0 || added.Actor.Who != added.ID || !isUserID(added.ID) {
		t.Fatalf("added %+v, %v", added, err)
	}
	if _, err := u.Add(ctx, Newcomer{"https://login.example.org 17", "Zoë Å", ""}); err == nil {
		t.Error("added twice")
	}
	user, err := s.UserOf(ctx, "https://login.example.org 17")
	if err != nil || user.Mail != "zoe@example.org" {
		t.Fatalf("stored %+v, %v", user, err)
	}
	user.Grants = []store.UserGrant{{Role: "owner", Prefixes: []string{"urn:nbn:fi"}}}
	put := func(u *store.User) {
		t.Helper()
		if _, err := registrar.New(s, registrar.Options{}).PutUser(ctx, registrar.Operator(), u, store.AnyRevision, ""); err != nil {
			t.Fatal(err)
		}
	}
	put(user)
	if p, err := u.PersonOf(ctx, "https://login.example.org 17"); err != nil || p.ID != added.ID || p.Actor.Role() != registrar.Owner {
		t.Errorf("got %+v, %v", p, err)
	}
	user.Disabled = true
	put(user)
	if p, err := u.Person(ctx, added.ID); err != nil || !p.Disabled || len(p.Actor.Grants) > 0 {
		t.Errorf("disabled: %+v, %v", p, err)
	}
}

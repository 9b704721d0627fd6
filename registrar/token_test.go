package registrar

import (
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/store"
)

func (d *desk) token(id string) *store.Token {
	d.Helper()
	t, err := d.store.(store.Tokens).Token(d.ctx, id)
	if err != nil {
		d.Fatal(err)
	}
	return t
}

func goodToken() *store.Token {
	return &store.Token{ID: "T1", Hash: [32]byte{1}, Role: "editor", Prefixes: []string{"urn:dns:example.org"}, Who: "José, the library", Created: noon}
}

func TestPutToken(t *testing.T) {
	d := newDesk(t)
	if err := d.PutToken(d.ctx, Operator(), goodToken(), "first"); err != nil {
		t.Fatal(err)
	}
	if got := d.token("T1"); !got.SameContent(goodToken().Clone()) {
		t.Errorf("kept %+v", got)
	}
	for field, spoil := range map[string]func(*store.Token){
		"id":          func(t *store.Token) { t.ID = "" },
		"hash":        func(t *store.Token) { t.Hash = [32]byte{} },
		"who":         func(t *store.Token) { t.Who = "" },
		"who ":        func(t *store.Token) { t.Who = "a\r\nb" },
		"who  ":       func(t *store.Token) { t.Who = strings.Repeat("a", maxWho+1) },
		"role":        func(t *store.Token) { t.Role = "king" },
		"prefixes[1]": func(t *store.Token) { t.Prefixes = append(t.Prefixes, "no prefix") },
	} {
		bad := goodToken()
		bad.ID = "T2"
		spoil(bad)
		var refusal *RefusalError
		if err := d.PutToken(d.ctx, Operator(), bad, ""); !errors.As(err, &refusal) || refusal.Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	other := goodToken()
	other.Hash[0]++
	if err := d.PutToken(d.ctx, Operator(), other, ""); !is[*RefusalError](err) {
		t.Errorf("another secret: %v", err)
	}
	if err := d.PutToken(d.ctx, Operator(), goodToken(), "a\x00b"); !is[*RefusalError](err) {
		t.Errorf("a control character as the reason: %v", err)
	}
}

func TestRevokeToken(t *testing.T) {
	d := newDesk(t)
	if err := d.PutToken(d.ctx, Operator(), goodToken(), ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.RevokeToken(d.ctx, Operator(), "T1", "left"); err != nil {
			t.Fatal(err)
		}
	}
	if !d.token("T1").Revoked {
		t.Error("not revoked")
	}
	if err := d.PutToken(d.ctx, Operator(), goodToken(), "back"); !is[*RefusalError](err) {
		t.Errorf("a revoked token came back: %v", err)
	}
	if err := d.RevokeToken(d.ctx, Operator(), "none", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a token that is not there: %v", err)
	}
}

func TestWhoMayChangeTokens(t *testing.T) {
	d := newDesk(t)
	for _, a := range []Actor{{}, actor(Reader), actor(Editor), actor(Owner), actor(Administrator, "urn:dns:example.org")} {
		if err := d.PutToken(d.ctx, a, goodToken(), ""); !is[*DeniedError](err) {
			t.Errorf("%+v puts: %v", a, err)
		}
		if err := d.RevokeToken(d.ctx, a, "T1", ""); !is[*DeniedError](err) {
			t.Errorf("%+v revokes: %v", a, err)
		}
	}
}

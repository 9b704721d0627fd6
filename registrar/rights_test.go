package registrar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// rightsLog returns the changes of rights in the log, each as "ID revision role who why".
func rightsLog(t *testing.T, s store.Reader) (all []string) {
	t.Helper()
	for e, err := range store.Changes(t.Context(), s, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r := e.Change.Rights; r != nil {
			state := r.Role
			if r.Revoked {
				state = "revoked"
			}
			all = append(all, fmt.Sprintf("%s %d %s %q %q", r.ID, r.Revision, state, e.Change.Who, e.Change.Why))
		}
	}
	return all
}

// TestTokensInLog checks that the log says who gave and took which rights of a token, without its
// secret, and that what changes no right is not logged.
func TestTokensInLog(t *testing.T) {
	d := newDesk(t)
	admin := Actor{Who: "u-00000001", Grants: []Grant{{Role: Administrator}}}
	if err := d.PutToken(d.ctx, admin, goodToken(), "granted"); err != nil {
		t.Fatal(err)
	}
	if err := d.PutToken(d.ctx, admin, goodToken(), "granted again"); err != nil {
		t.Fatal(err)
	}
	if err := d.UseToken(d.ctx, "T1"); err != nil {
		t.Fatal(err)
	}
	if err := d.RevokeToken(d.ctx, admin, "T1", "left"); err != nil {
		t.Fatal(err)
	}
	want := []string{`T1 1 editor "u-00000001" "granted"`, `T1 2 revoked "u-00000001" "left"`}
	if got := rightsLog(t, d.store); !slices.Equal(got, want) {
		t.Errorf("the log has %q, want %q", got, want)
	}
	h, err := store.RightsOf(d.store)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.TokenRights(d.ctx, "T1", time.Time{})
	if want := d.token("T1").Rights(); err != nil || !r.SameContent(want) || r.Who != "José, the library" {
		t.Errorf("rights %+v, %v, want %+v", r, err, want)
	}
}

// refusing refuses every batch that has rights.
type refusing struct{ *memstore.Store }

func (s refusing) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if slices.ContainsFunc(changes, func(c store.Change) bool { return c.Rights != nil }) {
		return nil, errors.New("the disk is full")
	}
	return s.Store.Apply(ctx, changes)
}

// TestTokenWithoutLog checks that no token is made or revoked if the log cannot have it.
func TestTokenWithoutLog(t *testing.T) {
	s := refusing{memstore.New()}
	r := New(s, Options{Now: func() time.Time { return noon }})
	if err := r.PutToken(t.Context(), Operator(), goodToken(), ""); err == nil {
		t.Error("a token was made although the log cannot have it")
	}
	if _, err := s.Token(t.Context(), "T1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the token: %v, want ErrNotFound", err)
	}
}

// TestLogRights checks that the tokens of an earlier program get into the log, once, with the time
// at which this happens.
func TestLogRights(t *testing.T) {
	d := newDesk(t)
	old := goodToken()
	if _, err := d.store.Apply(d.ctx, []store.Change{{Token: old, Time: noon.AddDate(-1, 0, 0), Who: "archive", Why: "granted"}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.LogRights(d.ctx); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{fmt.Sprintf(`T1 1 editor "" %q`, notLogged)}
	if got := rightsLog(t, d.store); !slices.Equal(got, want) {
		t.Errorf("the log has %q, want %q", got, want)
	}
}

// TestOwnToken checks that the token that a server makes for its operator gets into the log together
// with the first token for another bearer.
func TestOwnToken(t *testing.T) {
	d := newDesk(t)
	own := goodToken()
	own.ID, own.Role, own.Prefixes, own.Who = "own", "administrator", nil, "administrator"
	if err := d.PutOwnToken(d.ctx, own); err != nil {
		t.Fatal(err)
	}
	if err := d.LogRights(d.ctx); err != nil {
		t.Fatal(err)
	}
	if got := rightsLog(t, d.store); got != nil || d.token("own") == nil {
		t.Errorf("the log has %q, want nothing", got)
	}
	if err := d.PutToken(d.ctx, Operator(), goodToken(), "granted"); err != nil {
		t.Fatal(err)
	}
	another := own.Clone()
	another.ID = "own2"
	if err := d.PutOwnToken(d.ctx, another); err != nil {
		t.Fatal(err)
	}
	want := []string{
		fmt.Sprintf(`own 1 administrator "" %q`, notLogged), `T1 1 editor "" "granted"`, fmt.Sprintf(`own2 1 administrator "" %q`, ownToken),
	}
	if got := rightsLog(t, d.store); !slices.Equal(got, want) {
		t.Errorf("the log has %q, want %q", got, want)
	}
}

// TestUndoLeavesRights checks that undoing the changes of a period restores no rights of tokens.
func TestUndoLeavesRights(t *testing.T) {
	if (&undoer{actor: Operator()}).may(&store.Change{Rights: goodToken().Rights()}) {
		t.Error("the rights of a token can be undone")
	}
}

// TestRedactToken checks that the bearer of a token can be removed from the token and from the log,
// that the token is revoked and the log keeps what it could do, and that rights without a token can
// be redacted too.
func TestRedactToken(t *testing.T) {
	d := newDesk(t)
	h, err := store.RightsOf(d.store)
	if err != nil {
		t.Fatal(err)
	}
	redact := func(a Actor, id string, revisions ...uint64) (Outcome, error) {
		return d.RedactToken(d.ctx, a, id, Redaction{Revisions: revisions, Reason: "asked to", Expected: store.AnyRevision})
	}
	token := goodToken()
	for _, role := range []string{"editor", "owner"} {
		token.Role = role
		if err := d.PutToken(d.ctx, Operator(), token, "granted to "+token.Who); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := redact(Actor{Who: "w", Grants: []Grant{{Role: Owner}}}, "T1"); !errors.As(err, new(*DeniedError)) {
		t.Errorf("an owner: %v, want a DeniedError", err)
	}
	if _, err := redact(Operator(), "T1", 2); !errors.As(err, new(*RefusalError)) {
		t.Errorf("the current revision: %v, want a RefusalError", err)
	}
	if out, err := redact(Operator(), "T1", 1); err != nil || out.Revision != 3 || d.token("T1").Revoked {
		t.Errorf("one revision: %+v, %v", out, err)
	}
	if out, err := redact(Operator(), "T1"); err != nil || out.Revision != 4 {
		t.Errorf("the bearer: %+v, %v", out, err)
	}
	if got := d.token("T1"); got.Who != "" || !got.Revoked || got.Role != "owner" {
		t.Errorf("the token is %+v", got)
	}
	for c, err := range h.TokenRightsHistory(d.ctx, "T1") {
		if err != nil || c.Rights.Who != "" || c.Redacted == (c.Revision() == 4) || c.Revision() < 3 && c.Why != "" {
			t.Errorf("revision %d: %+v, %+v, %v", c.Revision(), c, c.Rights, err)
		}
	}
	if _, err := redact(Operator(), "T1"); !errors.As(err, new(*RefusalError)) {
		t.Errorf("again: %v, want a RefusalError", err)
	}
	if _, err := d.store.(store.Verifier).Verify(d.ctx, func(f store.Fault) { t.Errorf("fault: %+v", f) }, nil); err != nil {
		t.Error(err)
	}
	left := store.Change{Rights: &store.TokenRights{ID: "left", Role: "editor", Who: "Ada"}, Expected: store.AnyRevision, Time: noon}
	if _, err := d.store.Apply(d.ctx, []store.Change{left}); err != nil {
		t.Fatal(err)
	}
	if out, err := redact(Operator(), "left"); err != nil || out.Revision != 2 {
		t.Errorf("rights without a token: %+v, %v", out, err)
	}
	if r, err := h.TokenRights(d.ctx, "left", time.Time{}); err != nil || r.Who != "" || r.Role != "editor" {
		t.Errorf("rights without a token: %+v, %v", r, err)
	}
	if _, err := redact(Operator(), "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a token that never was: %v, want ErrNotFound", err)
	}
}

package registrar

import (
	"context"
	"errors"
	"fmt"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// maxWho bounds the bytes of what the bearer of a token is called.
const maxWho = 200

// tokensSubject is what errors about the right to change tokens name.
const tokensSubject = "tokens"

// PutToken keeps a new token, or what has become of one. Only an administrator of
// everything may: a token reaches what its role and prefixes say. The secret of a
// token never changes, and one that is revoked stays so. The errors are those of
// Put; [errors.ErrUnsupported] comes from a store that keeps no tokens.
func (r *Registrar) PutToken(ctx context.Context, a Actor, t *store.Token, why string) error {
	if err := permitTokens(a); err != nil {
		return err
	}
	if err := checkToken(t, why); err != nil {
		return err
	}
	there, err := r.token(ctx, t.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return err
	case there.Hash != t.Hash:
		return refuse(t.ID, "hash", faultf(0, "state", "the secret of a token never changes"))
	case there.Revoked && !t.Revoked:
		return refuse(t.ID, "revoked", faultf(0, "state", "a revoked token stays revoked"))
	}
	return r.applyToken(ctx, a, t, why)
}

// RevokeToken makes a token useless, for ever. It returns [store.ErrNotFound] when
// there is none of this ID, else errors as PutToken does.
func (r *Registrar) RevokeToken(ctx context.Context, a Actor, id, why string) error {
	if err := permitTokens(a); err != nil {
		return err
	}
	if f := checkText(why, true); f.bad() {
		return refuse(id, "why", f)
	}
	there, err := r.token(ctx, id)
	if err != nil {
		return err
	}
	t := there.Clone()
	t.Revoked = true
	return r.applyToken(ctx, a, t, why)
}

func (r *Registrar) applyToken(ctx context.Context, a Actor, t *store.Token, why string) error {
	_, err := r.store.Apply(ctx, []store.Change{{Token: t, Time: r.now(), Who: a.Who, Why: why}})
	return err
}

func (r *Registrar) token(ctx context.Context, id string) (*store.Token, error) {
	tokens, ok := r.store.(store.Tokens)
	if !ok {
		return nil, fmt.Errorf("registrar: this store keeps no tokens: %w", errors.ErrUnsupported)
	}
	return tokens.Token(ctx, id)
}

// permitTokens lets pass who has all rights everywhere.
func permitTokens(a Actor) error {
	if a.Role < Administrator || len(a.Prefixes) > 0 {
		return &DeniedError{Who: a.Who, Role: a.Role, Need: Administrator, Name: tokensSubject, Why: "they are for all names"}
	}
	return nil
}

func checkToken(t *store.Token, why string) error {
	if t.ID == "" {
		return refuse(tokensSubject, "id", faultf(0, "token", "a token needs an ID"))
	}
	if t.Hash == ([32]byte{}) {
		return refuse(t.ID, "hash", faultf(0, "token", "a token needs a secret"))
	}
	if f := checkWho(t.Who); f.bad() {
		return refuse(t.ID, "who", f)
	}
	if _, ok := ParseRole(t.Role); !ok {
		return refuse(t.ID, "role", faultf(0, "role", "%.40q is none of reader, editor, owner, administrator", t.Role))
	}
	for i, s := range t.Prefixes {
		if _, err := name.ParsePrefix(s); err != nil {
			return refuseAt(t.ID, "prefixes", i, "", faultOf(err))
		}
	}
	if f := checkText(why, true); f.bad() {
		return refuse(t.ID, "why", f)
	}
	return nil
}

// checkWho accepts what history can show as the one who made a change.
func checkWho(s string) fault {
	switch {
	case s == "":
		return faultf(0, "text", "is empty: the history needs a name for the bearer")
	case len(s) > maxWho:
		return faultf(maxWho, "text", "is longer than %d bytes", maxWho)
	}
	return checkText(s, false)
}

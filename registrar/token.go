package registrar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const maxWho = 200

const tokensSubject = "tokens"

// PutToken creates or replaces a token. Only an administrator of all names may call it. The secret
// of a token cannot change, and a revoked token stays revoked. A new token must not have expired,
// and its prefixes must pass [CheckReach]. PutToken returns the errors of [Registrar.Put], and
// [errors.ErrUnsupported] if the store has no tokens.
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
		if t, err = r.newToken(ctx, t); err != nil {
			return err
		}
	case err != nil:
		return err
	case there.Hash != t.Hash:
		return refuse(t.ID, "hash", faultf(0, "state", "the secret of a token cannot be changed"))
	case there.Revoked && !t.Revoked:
		return refuse(t.ID, "revoked", faultf(0, "state", "a revoked token stays revoked"))
	}
	return r.applyToken(ctx, a, t, why)
}

// RevokeToken permanently revokes a token. It returns the errors of PutToken, and
// [store.ErrNotFound] if the token does not exist.
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

// RedactToken permanently removes content from the history of a token's rights. If the redaction
// lists no revisions, RedactToken removes the bearer: it revokes the token, removes the bearer's
// name from it, and removes the content of all earlier revisions. The role and the prefixes stay in
// the current revision. The rights can also be redacted if the store has no such token, as after a
// hand-over. Only an administrator of all names may call it. The errors are those of
// [Registrar.Redact].
func (r *Registrar) RedactToken(ctx context.Context, a Actor, id string, red Redaction) (Outcome, error) {
	out, err := r.redactToken(store.Fresh(ctx), a, id, red)
	out.Err = err
	return out, err
}

func (r *Registrar) redactToken(ctx context.Context, a Actor, id string, red Redaction) (Outcome, error) {
	if !a.MayAll(Administrator) {
		return Outcome{}, cannotRedact(a.DeniedAll(Administrator, tokensSubject))
	}
	rights, err := store.RightsOf(r.store)
	if err != nil {
		return Outcome{}, err
	}
	return r.redactSubject(ctx, a, redactable{key: id, changes: rights.TokenRightsHistory(ctx, id), erase: len(red.Revisions) == 0}, red)
}

// withoutBearer returns the rights of a revoked token without the name of the bearer. It returns
// nil for nil.
func withoutBearer(t *store.TokenRights) *store.TokenRights {
	if t == nil {
		return nil
	}
	t = t.Clone()
	t.Who, t.Revoked = "", true
	return t
}

// withToken returns the change c. If c changes the rights of a token in the store, a change of the
// token itself comes first, so that the token has the same rights as the log.
func (r *Registrar) withToken(ctx context.Context, c store.Change) ([]store.Change, error) {
	if c.Rights == nil {
		return []store.Change{c}, nil
	}
	t, err := r.token(ctx, c.Rights.ID)
	if errors.Is(err, store.ErrNotFound) {
		return []store.Change{c}, nil
	}
	if err != nil {
		return nil, err
	}
	t = t.Clone()
	t.Who, t.Revoked = c.Rights.Who, c.Rights.Revoked
	return []store.Change{{Token: t, Time: c.Time, Who: c.Who, Why: c.Why}, c}, nil
}

func (r *Registrar) newToken(ctx context.Context, t *store.Token) (*store.Token, error) {
	if now := r.now(); t.Expired(now) {
		return nil, refuse("", "expires", faultf(0, "time", "%s is in the past: it is %s", t.Expires.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339)))
	}
	r.authorities.Forget() // an authority that was just added can make a prefix valid
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	t = t.Clone()
	for i, s := range t.Prefixes {
		if err := CheckReach(s, set); err != nil {
			return nil, refuseAt("", "prefixes", i, "", fault{rule: "prefix", message: err.Error(), err: err})
		}
		if t.Prefixes[i], err = name.CanonicalPrefix(s); err != nil {
			return nil, refuseAt("", "prefixes", i, "", faultOf(err))
		}
	}
	return t, nil
}

// A ReachError reports that the prefix of a token does not cover all names beginning with it.
type ReachError struct {
	Prefix  string   // the prefix as entered
	Instead []string // prefixes to use instead; never empty
	Why     string
}

func (e *ReachError) Error() string {
	return fmt.Sprintf("%q %s; use %s", e.Prefix, e.Why, strings.Join(e.Instead, " or "))
}

// CheckReach returns a [*ReachError] if the prefix of a token does not cover the names that begin
// with it. There are two possible reasons. The prefix may have upper-case letters although the
// authority stores names in lower case. Or it may end inside a component of names: a prefix covers
// only names in which a delimiter follows it, so "ark:12345/x0" covers "ark:12345/x0/1" but not
// "ark:12345/x01".
//
// CheckReach does not check the end of:
//   - the prefix of an authority, or a prefix that covers one;
//   - a prefix for a whole namespace, or for all names of a registrant;
//   - a prefix that ends with a delimiter.
//
// CheckReach returns nil for an invalid prefix.
func CheckReach(prefix string, set *store.AuthoritySet) error {
	p, err := name.ParsePrefix(prefix)
	if err != nil {
		return nil
	}
	if sample, err := p.Join("0"); err == nil {
		if kept := set.Of(sample).Fold(sample); kept != sample {
			return &ReachError{prefix, []string{strings.TrimSuffix(kept.Key(), "0")}, "covers no names: " + set.Of(sample).Prefix.String() + " stores its names in lower case"}
		}
	}
	if ended, _ := name.CanonicalPrefix(prefix); ended != p.String() || divides(p, set) {
		return nil
	}
	own := name.FromKey(p.String())
	above := slices.DeleteFunc(slices.Collect(own.Prefixes), isIncomplete) // longest first; the last one is the whole namespace
	if len(above) == 0 || len(above) == 1 && isNamespace(above[0]) && set.Of(own) == nil {
		return nil // the prefix ends after the first component, which identifies a registrant
	}
	return &ReachError{
		prefix, append([]string{above[0].String()}, p.Spans()...),
		fmt.Sprintf("ends in the middle of a part of names: it would cover %s1 but not %s1", p.Spans()[0], p),
	}
}

func divides(p name.Prefix, set *store.AuthoritySet) bool {
	return set.Exactly(p) != nil || slices.ContainsFunc(set.All(), func(a *store.Authority) bool { return p.Covers(name.FromKey(a.Prefix.String())) })
}

// isNamespace reports whether p is a whole scheme or URN namespace, such as "ark" or "urn:nbn", and
// so identifies no registrant. In a web name, the host is the registrant.
func isNamespace(p name.Prefix) bool {
	return !strings.Contains(strings.TrimPrefix(p.String(), "urn:"), ":")
}

func isIncomplete(p name.Prefix) bool { return strings.HasSuffix(p.String(), ":") }

// UseToken records that the token with this ID is being used (see [store.Change].UseOnly).
func (r *Registrar) UseToken(ctx context.Context, id string) error {
	now := r.now()
	_, err := r.store.Apply(ctx, []store.Change{{Token: &store.Token{ID: id, Used: now}, UseOnly: true, Time: now}})
	return err
}

const ownToken = "first start"

// PutOwnToken creates the token with which the operator of the machine uses a server. If the log
// does not have the rights of other tokens, PutOwnToken does not log the rights of this token,
// because the operator has all rights. PutOwnToken returns the errors of PutToken.
func (r *Registrar) PutOwnToken(ctx context.Context, t *store.Token) error {
	if err := checkToken(t, ""); err != nil {
		return err
	}
	changes := tokenChanges(t, store.Change{Time: r.now(), Who: Operator().Who, Why: ownToken})
	if logged, err := r.logsRights(ctx); err != nil || !logged {
		changes = changes[:1]
	}
	_, err := r.store.Apply(ctx, changes)
	return err
}

func (r *Registrar) applyToken(ctx context.Context, a Actor, t *store.Token, why string) error {
	if _, err := store.RightsOf(r.store); err != nil {
		return err
	}
	missing, _, err := r.unlogged(ctx)
	if err == nil {
		missing = slices.DeleteFunc(missing, func(old *store.Token) bool { return old.ID == t.ID })
		err = r.logRights(ctx, missing)
	}
	if err != nil {
		return err
	}
	_, err = r.store.Apply(ctx, tokenChanges(t, store.Change{Time: r.now(), Who: a.Who, Why: why}))
	return err
}

// tokenChanges returns the changes that write a token and its rights, with the time, the author and
// the reason of c.
func tokenChanges(t *store.Token, c store.Change) []store.Change {
	rights := c
	c.Token, rights.Rights, rights.Expected = t, t.Rights(), store.AnyRevision
	rights.AnyTime = true // a wrong clock must not prevent a revocation
	return []store.Change{c, rights}
}

// LogRights logs the rights of tokens that an older version of the program created without a log
// entry. A server calls it when it starts. LogRights does nothing if [Registrar.PutOwnToken]
// created all tokens, or if the store does not support tokens and their rights.
func (r *Registrar) LogRights(ctx context.Context) error {
	ctx = store.Fresh(ctx)
	missing, others, err := r.unlogged(ctx)
	if errors.Is(err, errors.ErrUnsupported) || err == nil && !others {
		return nil
	}
	if err != nil {
		return err
	}
	return r.logRights(ctx, missing)
}

func (r *Registrar) logsRights(ctx context.Context) (bool, error) {
	rights, err := store.RightsOf(r.store)
	if err != nil {
		return false, err
	}
	for _, err := range rights.AllTokenRights(ctx, time.Time{}) {
		return err == nil, err
	}
	return false, nil
}

// unlogged returns the tokens whose rights are not in the log. It also reports whether there are
// tokens that PutOwnToken did not make, either among these tokens or in the log.
func (r *Registrar) unlogged(ctx context.Context) (missing []*store.Token, others bool, err error) {
	rights, err := store.RightsOf(r.store)
	if err != nil {
		return nil, false, err
	}
	logged := map[string]bool{}
	for t, err := range rights.AllTokenRights(ctx, time.Time{}) {
		if err != nil {
			return nil, false, err
		}
		logged[t.ID] = true
	}
	others = len(logged) > 0
	for c, err := range store.TokenChanges(ctx, r.store) {
		switch {
		case err != nil:
			return nil, false, err
		case !logged[c.Token.ID]:
			missing = append(missing, c.Token)
			others = others || c.Why != ownToken
		}
	}
	return missing, others, nil
}

const notLogged = "the token is older than the rights of tokens in the log"

const rightsBatch = 1000

// logRights writes the rights of tokens to the log, unless another node has just done it.
func (r *Registrar) logRights(ctx context.Context, tokens []*store.Token) error {
	for batch := range slices.Chunk(tokens, rightsBatch) {
		var changes []store.Change
		for _, t := range batch {
			changes = append(changes, store.Change{Rights: t.Rights(), Time: r.now(), Why: notLogged})
		}
		if _, err := r.store.Apply(ctx, changes); err != nil && !errors.As(err, new(*store.ConflictError)) {
			return err
		}
	}
	return nil
}

func (r *Registrar) token(ctx context.Context, id string) (*store.Token, error) {
	tokens, ok := r.store.(store.Tokens)
	if !ok {
		return nil, fmt.Errorf("registrar: this store has no tokens: %w", errors.ErrUnsupported)
	}
	return tokens.Token(ctx, id)
}

func permitTokens(a Actor) error {
	if !a.MayAll(Administrator) {
		return a.DeniedAll(Administrator, tokensSubject)
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
	f := checkWho(t.Who)
	if IsUserID(t.Who) {
		f = faultf(0, "text", "%q looks like the ID of a user: changes with this token would seem to be that user's", t.Who)
	}
	if f.bad() {
		return refuse(t.ID, "who", f)
	}
	if _, ok := ParseRole(t.Role); !ok {
		return refuse(t.ID, "role", faultf(0, "role", "%.40q must be reader, editor, owner or administrator", t.Role))
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

func checkWho(s string) fault {
	switch {
	case s == "":
		return faultf(0, "text", "must not be empty: the history shows the bearer")
	case len(s) > maxWho:
		return faultf(maxWho, "text", "must not be longer than %d bytes", maxWho)
	}
	return checkText(s, false)
}

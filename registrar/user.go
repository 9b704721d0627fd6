package registrar

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// Limits of a user's fields.
const (
	maxMail     = 254  // length, in bytes
	maxSubjects = 20   // number of subjects of a user
	maxSubject  = 2000 // length, in bytes
	maxRights   = 1000 // number of pairs of a role and a prefix
)

const usersSubject = "users"

// HeaderSubject is the first word of the subject of a user whom a proxy authenticates. Such a
// subject is "header VALUE", where VALUE is from a header field that the proxy sets. All other
// subjects are from OpenID Connect and have the form "ISSUER SUB", where the issuer is a URL.
const HeaderSubject = "header"

// The ID of a user is userIDMark followed by userIDSize characters of userIDAlphabet, which is
// Douglas Crockford's base32 alphabet in lower case. It has no letters that look like digits.
const (
	userIDMark     = "u-"
	userIDSize     = 8
	userIDAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
)

func newUserID() string {
	var b [userIDSize]byte
	_, _ = rand.Read(b[:]) // Read never fails
	for i := range b {
		b[i] = userIDAlphabet[int(b[i])%len(userIDAlphabet)]
	}
	return userIDMark + string(b[:])
}

// IsUserID reports whether s has the form of the ID of a user.
func IsUserID(s string) bool {
	rest, ok := strings.CutPrefix(s, userIDMark)
	return ok && len(rest) == userIDSize && strings.Trim(rest, userIDAlphabet) == ""
}

// Person returns the actor for a user. A disabled user has no grants. Person returns an error if
// the user has an unknown role or an invalid prefix.
func Person(u *store.User) (Actor, error) {
	a := Actor{Who: u.ID}
	if u.Disabled || u.Redacted {
		return a, nil
	}
	for _, g := range u.Grants {
		grant, err := parseGrant(g.Role, g.Prefixes)
		if err != nil {
			return Actor{Who: u.ID}, fmt.Errorf("registrar: user %s: %w", u.ID, err)
		}
		a.Grants = append(a.Grants, grant)
	}
	return a, nil
}

// PutUser creates or replaces a user. A user without an ID is created and gets a random ID. PutUser
// sorts the grants, and keeps the time at which the user was added.
//
// Only an administrator of all names may call PutUser, except that an owner may change grants of
// other users as with [Registrar.GrantUser].
//
// PutUser returns the errors of [Registrar.Put]. It also returns [store.ErrNotFound] if no user has
// the ID, a [*store.StateError] if another user has one of the subjects, and
// [errors.ErrUnsupported] if the store has no users.
func (r *Registrar) PutUser(ctx context.Context, a Actor, u *store.User, expected uint64, why string) (Outcome, error) {
	return r.changeUser(ctx, a, u.ID, expected, why, func(there *store.User) (*store.User, error) {
		next := u.Clone()
		next.Since, next.Redacted = there.Since, false
		return next, nil
	})
}

// changeUser replaces a user by the result of change. With the ID "", it creates a user, and calls
// change with an empty user. If another client changes the user at the same time and expected is
// [store.AnyRevision], changeUser calls change again with the new revision.
func (r *Registrar) changeUser(ctx context.Context, a Actor, id string, expected uint64, why string, change func(there *store.User) (*store.User, error)) (out Outcome, err error) {
	ctx = store.Fresh(ctx)
	for attempts := 1; ; attempts++ {
		out, err = r.changeUserOnce(ctx, a, id, expected, why, change)
		if !errors.As(err, new(*store.ConflictError)) || expected != store.AnyRevision || attempts == maxAttempts {
			out.Err = err
			return out, err
		}
	}
}

func (r *Registrar) changeUserOnce(ctx context.Context, a Actor, id string, expected uint64, why string, change func(there *store.User) (*store.User, error)) (Outcome, error) {
	there, err := r.userFor(ctx, a, id)
	if err != nil {
		return Outcome{}, err
	}
	next, err := change(there)
	if err != nil {
		return Outcome{}, err
	}
	if err := r.checkUser(ctx, next, there, why); err != nil {
		return Outcome{}, err
	}
	if err := permitUser(a, next, there); err != nil {
		return Outcome{}, err
	}
	created := there.ID == ""
	if created {
		next.ID, next.Since = newUserID(), r.now()
	}
	if expected == store.AnyRevision {
		expected = there.Revision
	}
	results, err := r.apply(ctx, []store.Change{{User: next, Expected: expected, Time: r.now(), Who: a.Who, Why: why}})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Result: results[0], Created: created, User: next.Clone(), Warnings: r.userWarnings(ctx, next, there)}
	out.User.Revision = results[0].Revision
	if !results[0].Changed {
		out.User = there
	}
	return out, nil
}

func (r *Registrar) userFor(ctx context.Context, a Actor, id string) (*store.User, error) {
	users, err := store.UsersOf(r.store)
	switch {
	case err != nil:
		return nil, err
	case id == "" && !a.MayAll(Administrator):
		return nil, a.DeniedAll(Administrator, usersSubject)
	case !a.MayAny(Owner):
		return nil, a.DeniedAny(Owner, usersSubject)
	case id == "":
		return &store.User{}, nil
	}
	return users.User(ctx, id, time.Time{})
}

func permitUser(a Actor, updated, current *store.User) error {
	if a.MayAll(Administrator) {
		return nil
	}
	same := updated.Clone()
	same.Grants = current.Grants
	if !same.SameContent(current) {
		denied := a.DeniedAll(Administrator, updated.ID)
		denied.Why = "this changes more than the grants of a user"
		return denied
	}
	return permitRights(a, updated.ID, rightsOf(current.Grants), rightsOf(updated.Grants))
}

// checkUser validates and normalizes a user. It also checks the prefixes that the user did not have
// before.
func (r *Registrar) checkUser(ctx context.Context, u, there *store.User, why string) error {
	for _, c := range [...]struct {
		field string
		fault fault
	}{
		{"name", checkPersonName(u.Name)},
		{"mail", checkMail(u.Mail)},
		{"why", checkText(why, true)},
	} {
		if c.fault.bad() {
			return refuse(u.ID, c.field, c.fault)
		}
	}
	return cmp.Or(checkUserSubjects(u), r.checkGrants(ctx, u, rightsOf(there.Grants)))
}

// checkPersonName checks the name of a person. The name must be a single line, without characters
// that change the direction of the text around it.
func checkPersonName(s string) fault {
	if len(s) > maxWho {
		return faultf(maxWho, "text", "must not be longer than %d bytes", maxWho)
	}
	if f := checkFull(s, false); f.bad() {
		return f
	}
	if i := strings.IndexFunc(s, func(c rune) bool { return unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029' }); i >= 0 {
		return faultf(i, "text", "contains a control character of the direction of text or the end of a line")
	}
	if strings.TrimSpace(s) == "" {
		return faultf(0, "text", "must not be empty")
	}
	return fault{}
}

// checkMail checks that a string is "" or the mail address of a mailbox, without a display name.
func checkMail(s string) fault {
	if s == "" {
		return fault{}
	}
	if len(s) > maxMail {
		return faultf(maxMail, "mail", "must not be longer than %d bytes", maxMail)
	}
	if f := checkPersonName(s); f.bad() {
		return f
	}
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
		return faultf(0, "mail", "invalid address %.80q: must be like anna@example.org", s)
	}
	return fault{}
}

func checkUserSubjects(u *store.User) error {
	if len(u.Subjects) > maxSubjects {
		return refuse(u.ID, "subjects", faultf(0, "subject", "must not be more than %d", maxSubjects))
	}
	for i, s := range u.Subjects {
		f := checkSubject(s)
		if !f.bad() && slices.Contains(u.Subjects[:i], s) {
			f = faultf(0, "subject", "%.80q is listed twice", s)
		}
		if f.bad() {
			return refuseAt(u.ID, "subjects", i, "", f)
		}
	}
	return nil
}

// checkSubject checks that a subject has the form "header VALUE" or "ISSUER SUB".
func checkSubject(s string) fault {
	if len(s) > maxSubject {
		return faultf(maxSubject, "subject", "must not be longer than %d bytes", maxSubject)
	}
	if f := checkText(s, false); f.bad() {
		return f
	}
	issuer, sub, _ := strings.Cut(s, " ")
	if strings.TrimSpace(sub) == "" || sub != strings.TrimSpace(sub) || issuer != HeaderSubject && !isIssuer(issuer) {
		return faultf(0, "subject", `invalid subject %.80q: must be "header VALUE", or the URL of an identity provider and the identifier of the person there`, s)
	}
	return fault{}
}

func isIssuer(s string) bool {
	u, err := uri.Parse(s)
	if err != nil {
		return false
	}
	scheme, _ := u.Get(uri.ComponentScheme)
	host, _ := u.Get(uri.ComponentHost)
	return (scheme == "https" || scheme == "http") && host != ""
}

// Codes of warnings about users.
const (
	WarnNoGrants          = "no-grants"          // the user may do nothing
	WarnNoSubject         = "no-subject"         // the user can sign in only with a link from an administrator
	WarnLastAdministrator = "last-administrator" // no user remains an administrator of all names
)

// userWarnings returns warnings about a change of a user. The parameter former is the user before
// the change.
func (r *Registrar) userWarnings(ctx context.Context, u, former *store.User) (all []Warning) {
	if len(u.Grants) == 0 && !u.Disabled {
		all = append(all, Warning{WarnNoGrants, fmt.Sprintf("%s has no grants, so this user may do nothing: grant a role", u.ID)})
	}
	if len(u.Subjects) == 0 && !u.Disabled {
		all = append(all, Warning{WarnNoSubject, fmt.Sprintf("%s has no subject at an identity provider, so this user can sign in only with a link from an administrator", u.ID)})
	}
	if administers(former) && !administers(u) && !r.hasAdministrator(ctx) {
		all = append(all, Warning{WarnLastAdministrator, "no user is an administrator of all names any more; the operator of the machine can make one"})
	}
	return all
}

func administers(u *store.User) bool {
	a, err := Person(u)
	return err == nil && a.MayAll(Administrator)
}

// hasAdministrator reports whether some user is an administrator of all names. If the users cannot
// be read, hasAdministrator returns true, so that no warning is given.
func (r *Registrar) hasAdministrator(ctx context.Context) bool {
	users, err := store.UsersOf(r.store)
	if err != nil {
		return true
	}
	for u, err := range users.AllUsers(ctx, time.Time{}) {
		if err != nil || administers(u) {
			return true
		}
	}
	return false
}

// RedactUser permanently removes content of a user from the history. If the redaction lists no
// revisions, RedactUser erases the person: it disables the user, removes the name, the mail
// address, the subjects and the grants, and removes the content of all earlier revisions. Changes
// that the user made stay in the history, with the user's ID as their author. Only an administrator
// of all names may call it. The errors are those of [Registrar.Redact].
func (r *Registrar) RedactUser(ctx context.Context, a Actor, id string, red Redaction) (Outcome, error) {
	out, err := r.redactUser(store.Fresh(ctx), a, id, red)
	out.Err = err
	return out, err
}

func (r *Registrar) redactUser(ctx context.Context, a Actor, id string, red Redaction) (Outcome, error) {
	if !a.MayAll(Administrator) {
		return Outcome{}, cannotRedact(a.DeniedAll(Administrator, id))
	}
	users, err := store.UsersOf(r.store)
	if err != nil {
		return Outcome{}, err
	}
	return r.redactSubject(ctx, a, redactable{key: id, changes: users.UserHistory(ctx, id), erase: len(red.Revisions) == 0}, red)
}

// erased returns the user u without personal data, or nil for nil.
func erased(u *store.User) *store.User {
	if u == nil {
		return nil
	}
	return &store.User{ID: u.ID, Disabled: true, Since: u.Since}
}

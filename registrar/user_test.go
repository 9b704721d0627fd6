package registrar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// grants returns grants from texts like "owner urn:x-a urn:x-b", in that order.
func grants(texts ...string) (all []store.UserGrant) {
	for _, text := range texts {
		role, prefixes, _ := strings.Cut(text, " ")
		all = append(all, store.UserGrant{Role: role, Prefixes: strings.Fields(prefixes)})
		if prefixes == "" {
			all[len(all)-1].Prefixes = nil
		}
	}
	return all
}

// user makes a user as the operator.
func (d *desk) user(u *store.User) *store.User {
	d.Helper()
	out, err := d.PutUser(d.ctx, Operator(), u, store.AnyRevision, "joins")
	if err != nil {
		d.Fatalf("PutUser(%+v): %v", u, err)
	}
	return out.User
}

func (d *desk) person(u *store.User) Actor {
	d.Helper()
	users, err := store.UsersOf(d.store)
	if err != nil {
		d.Fatal(err)
	}
	now, err := users.User(d.ctx, u.ID, time.Time{})
	if err != nil {
		d.Fatal(err)
	}
	a, err := Person(now)
	if err != nil {
		d.Fatal(err)
	}
	return a
}

func codesOf(all []Warning) (codes []string) {
	for _, w := range all {
		codes = append(codes, w.Code)
	}
	return codes
}

// TestPutUser checks a user from the first day to the last.
func TestPutUser(t *testing.T) {
	d := newDesk(t)
	out, err := d.PutUser(d.ctx, Operator(), &store.User{Name: "Zoë Å", Since: noon.AddDate(-9, 0, 0), Revision: 7, Redacted: true}, store.AnyRevision, "joins")
	if err != nil || !out.Created || out.Revision != 1 || !IsUserID(out.User.ID) || !out.User.Since.Equal(noon) || out.User.Redacted {
		t.Fatalf("made: %+v, %v", out, err)
	}
	if got, want := codesOf(out.Warnings), []string{WarnNoGrants, WarnNoSubject}; !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
	u := out.User
	u.Mail, u.Subjects = "zoe@example.org", []string{"header zoe", "https://idp.example.org/a 17"}
	u.Grants = grants("editor urn:dns:example.org:b: urn:DNS:Example.org:a:", "reader", "editor urn:dns:example.org:a:", "administrator")
	u.Since = noon.AddDate(-1, 0, 0)
	out, err = d.PutUser(d.ctx, Operator(), u, 1, "")
	want := grants("administrator", "editor urn:dns:example.org:a: urn:dns:example.org:b:", "reader")
	if err != nil || out.Revision != 2 || out.Created || len(out.Warnings) > 0 || !out.User.Since.Equal(noon) {
		t.Fatalf("changed: %+v, %v", out, err)
	}
	if diff := cmp.Diff(out.User.Grants, want); diff != "" {
		t.Errorf("grants: (-got +want)\n%s", diff)
	}
	if _, err := d.PutUser(d.ctx, Operator(), u, 1, ""); !errors.As(err, new(*store.ConflictError)) {
		t.Errorf("on top of an earlier revision: %v", err)
	}
	if out, err := d.PutUser(d.ctx, Operator(), out.User, store.AnyRevision, ""); err != nil || out.Changed || out.Revision != 2 || out.User.Revision != 2 {
		t.Errorf("the same again: %+v, %v", out, err)
	}
	if _, err := d.PutUser(d.ctx, Operator(), &store.User{ID: "u-00000000", Name: "N"}, store.AnyRevision, ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an ID that the server did not make: %v", err)
	}
	if _, err := d.PutUser(d.ctx, Operator(), &store.User{Name: "Thief", Subjects: []string{"header zoe"}}, store.AnyRevision, ""); !errors.As(err, new(*store.StateError)) {
		t.Errorf("a subject of another user: %v", err)
	}
	if a := d.person(u); a.Who != u.ID || !a.MayAll(Administrator) {
		t.Errorf("Person: %+v", a)
	}
	next := out.User.Clone()
	next.Disabled = true
	out, err = d.PutUser(d.ctx, Operator(), next, store.AnyRevision, "leaves")
	if err != nil || !slices.Equal(codesOf(out.Warnings), []string{WarnLastAdministrator}) {
		t.Errorf("disabled, the last administrator: %+v, %v", out.Warnings, err)
	}
	a := d.person(u)
	if a.MayAny(Reader) || a.MayName(name.MustParse(alb), Reader) {
		t.Errorf("a disabled user has rights: %+v", a)
	}
	if _, err := d.PutUser(d.ctx, a, next, store.AnyRevision, ""); !errors.As(err, new(*DeniedError)) {
		t.Errorf("a disabled user changes users: %v", err)
	}
}

// TestPutUserRefuses checks the error for each field.
func TestPutUserRefuses(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("x", 8<<10)
	many := make([]string, maxRights+1)
	for i := range many {
		many[i] = fmt.Sprintf("urn:dns:example.org:%d:", i)
	}
	for _, c := range []struct {
		field string
		spoil func(u *store.User)
	}{
		{"name", func(u *store.User) { u.Name = "" }},
		{"name", func(u *store.User) { u.Name = " \t " }},
		{"name", func(u *store.User) { u.Name = "a\nb" }},
		{"name", func(u *store.User) { u.Name = "a\x1b[31m" }},
		{"name", func(u *store.User) { u.Name = "a\x00" }},
		{"name", func(u *store.User) { u.Name = "a\u202eb" }},
		{"name", func(u *store.User) { u.Name = "a\u2028b" }},
		{"name", func(u *store.User) { u.Name = "a\xff" }},
		{"name", func(u *store.User) { u.Name = long }},
		{"mail", func(u *store.User) { u.Mail = "anna" }},
		{"mail", func(u *store.User) { u.Mail = "Anna <anna@example.org>" }},
		{"mail", func(u *store.User) { u.Mail = "anna@example.org, b@example.org" }},
		{"mail", func(u *store.User) { u.Mail = "anna@example.org\r\nBcc: x@example.org" }},
		{"mail", func(u *store.User) { u.Mail = long + "@example.org" }},
		{"subjects[0]", func(u *store.User) { u.Subjects = []string{""} }},
		{"subjects[0]", func(u *store.User) { u.Subjects = []string{"anna"} }},
		{"subjects[0]", func(u *store.User) { u.Subjects = []string{"header "} }},
		{"subjects[0]", func(u *store.User) { u.Subjects = []string{"header  anna"} }},
		{"subjects[0]", func(u *store.User) { u.Subjects = []string{"javascript:alert(1) anna"} }},
		{"subjects[0]", func(u *store.User) { u.Subjects = []string{"https:///a anna"} }},
		{"subjects[0]", func(u *store.User) { u.Subjects = []string{"header a\x00b"} }},
		{"subjects[0]", func(u *store.User) { u.Subjects = []string{"header " + long} }},
		{"subjects[1]", func(u *store.User) { u.Subjects = []string{"header a", "header a"} }},
		{"subjects", func(u *store.User) { u.Subjects = make([]string, maxSubjects+1) }},
		{"grants[1].role", func(u *store.User) { u.Grants = grants("reader", "king") }},
		{"grants[0].role", func(u *store.User) { u.Grants = grants("") }},
		{"grants[0].prefixes[1]", func(u *store.User) { u.Grants = grants("owner urn:dns:example.org no-prefix") }},
		{"grants[0].prefixes[0]", func(u *store.User) { u.Grants = []store.UserGrant{{Role: "owner", Prefixes: []string{""}}} }},
		{"grants[0].prefixes[0]", func(u *store.User) { u.Grants = grants("owner ark:12345/x0") }}, // in the middle of a part
		{"grants", func(u *store.User) { u.Grants = []store.UserGrant{{Role: "owner", Prefixes: many}} }},
	} {
		u := &store.User{Name: "Anna"}
		c.spoil(u)
		_, err := d.PutUser(d.ctx, Operator(), u, store.AnyRevision, "")
		if field, _, _ := refusal(err); field != c.field {
			t.Errorf("PutUser(%.200q): %.200v, want a refusal of %s", fmt.Sprint(*u), err, c.field)
		}
	}
	if _, err := d.PutUser(d.ctx, Operator(), &store.User{Name: "Anna"}, store.AnyRevision, "a\x00"); err == nil {
		t.Error("a reason with a control character")
	}
}

// TestWhoGrants checks who may change users and grants.
func TestWhoGrants(t *testing.T) {
	d := newDesk(t)
	owner := d.user(&store.User{Name: "Owner", Grants: grants("owner urn:dns:example.org ark:1", "reader")})
	bob := d.user(&store.User{Name: "Bob", Grants: grants("administrator urn:dns:example.org:x:", "owner ark:12", "editor urn:dns:example.org:a:", "reader")})
	a := d.person(owner)
	grant := func(a Actor, id string, add, remove []store.UserGrant) error {
		_, err := d.GrantUser(d.ctx, a, id, Granting{Add: add, Remove: remove, Expected: store.AnyRevision}, "")
		return err
	}
	for _, add := range []string{
		"editor urn:dns:example.org", "owner urn:dns:example.org:b:", "owner ark:1", "owner ark:1/", "reader ark:1/x/", "editor ark:1/y/ urn:dns:example.org:c:",
	} {
		if err := grant(a, bob.ID, grants(add), nil); err != nil {
			t.Errorf("an owner grants %q: %v", add, err)
		}
	}
	for _, add := range []string{
		"administrator urn:dns:example.org", "administrator ark:1/x/", "owner", "reader urn:dns:example.com", "editor ark:12", "owner ark:123",
		"owner ark:1 ark:2", "editor urn:dns:example.org.evil", "administrator", "editor urn:nbn",
	} {
		if err := grant(a, bob.ID, grants(add), nil); !errors.As(err, new(*DeniedError)) {
			t.Errorf("an owner grants %q: %v, want it denied", add, err)
		}
	}
	if err := grant(a, bob.ID, grants("reader"), nil); err != nil { // bob has it already
		t.Errorf("a right that is there: %v", err)
	}
	for remove, want := range map[string]bool{
		"editor urn:dns:example.org:a:": true, "owner ark:1/": true,
		"administrator urn:dns:example.org:x:": false, "owner ark:12": false, "reader": false,
	} {
		err := grant(a, bob.ID, nil, grants(remove))
		if denied := errors.As(err, new(*DeniedError)); denied == want || want && err != nil {
			t.Errorf("an owner revokes %q: %v, want it allowed %t", remove, err, want)
		}
	}
	if err := grant(a, bob.ID, nil, grants("owner urn:dns:example.org:never:")); err == nil || errors.As(err, new(*DeniedError)) {
		t.Errorf("a right that is not there: %v, want a refusal", err)
	}
	for _, add := range []string{"editor ark:1/z/", "owner ark:2", "administrator"} {
		if err := grant(a, owner.ID, grants(add), nil); !errors.As(err, new(*DeniedError)) {
			t.Errorf("an owner grants %q to himself: %v, want it denied", add, err)
		}
	}
	for what, change := range map[string]func(u *store.User){
		"name":     func(u *store.User) { u.Name = "Bob B" },
		"mail":     func(u *store.User) { u.Mail = "b@example.org" },
		"subjects": func(u *store.User) { u.Subjects = []string{"header bob"} },
		"disabled": func(u *store.User) { u.Disabled = true },
		"grants":   func(u *store.User) { u.Grants = nil },
	} {
		next := d.there(bob.ID)
		change(next)
		if _, err := d.PutUser(d.ctx, a, next, store.AnyRevision, ""); !errors.As(err, new(*DeniedError)) {
			t.Errorf("an owner changes %s: %v, want it denied", what, err)
		}
	}
	if _, err := d.PutUser(d.ctx, a, &store.User{Name: "New"}, store.AnyRevision, ""); !errors.As(err, new(*DeniedError)) {
		t.Errorf("an owner makes a user: %v", err)
	}
	if _, err := d.RedactUser(d.ctx, a, bob.ID, Redaction{Reason: "x", Expected: store.AnyRevision}); !errors.As(err, new(*DeniedError)) {
		t.Errorf("an owner redacts a user: %v", err)
	}
	for _, other := range []Actor{{Who: "none"}, actor(Reader), actor(Editor), actor(Administrator, "urn:dns:example.org")} {
		if _, err := d.PutUser(d.ctx, other, &store.User{Name: "New"}, store.AnyRevision, ""); !errors.As(err, new(*DeniedError)) {
			t.Errorf("%+v makes a user: %v", other, err)
		}
		if err := grant(other, bob.ID, grants("administrator"), nil); !errors.As(err, new(*DeniedError)) {
			t.Errorf("%+v makes an administrator: %v", other, err)
		}
	}
}

// there returns a user as stored.
func (d *desk) there(id string) *store.User {
	d.Helper()
	users, err := store.UsersOf(d.store)
	if err != nil {
		d.Fatal(err)
	}
	u, err := users.User(d.ctx, id, time.Time{})
	if err != nil {
		d.Fatal(err)
	}
	return u
}

// TestGrantNeverWidens checks that an owner cannot give anyone a right for a name that the owner
// does not own.
func TestGrantNeverWidens(t *testing.T) {
	keys := []string{"ark:1/x", "ark:1.x", "ark:12/x", "ark:1/x/y", "ark:1/xy", "urn:nbn:fi:ex-1", "urn:nbn:fi:ex:1", "urn:nbn:fi:ex1-1", "urn:nbn:fi:e-1", "urn:nbn:se:1"}
	prefix := rapid.SampledFrom([]string{"ark:1", "ark:1/", "ark:12", "ark:1/x/", "urn:nbn:fi", "urn:nbn:fi:", "urn:nbn:fi-", "urn:nbn", "urn:nbn:se"})
	role := rapid.SampledFrom([]string{"reader", "editor", "owner", "administrator"})
	grant := rapid.Custom(func(t *rapid.T) store.UserGrant {
		return store.UserGrant{Role: role.Draw(t, "role"), Prefixes: rapid.SliceOfN(prefix, 0, 2).Draw(t, "prefixes")}
	})
	rapid.Check(t, func(t *rapid.T) {
		r := New(memstore.New(), Options{})
		ctx := context.Background()
		made := func(all []store.UserGrant) *store.User {
			out, err := r.PutUser(ctx, Operator(), &store.User{Name: "N", Grants: all}, store.AnyRevision, "")
			if err != nil {
				t.Fatal(err)
			}
			return out.User
		}
		owner := made(rapid.SliceOfN(grant, 0, 2).Draw(t, "owner"))
		other := made(rapid.SliceOfN(grant, 0, 2).Draw(t, "other"))
		actor, _ := Person(owner)
		before, _ := Person(other)
		next := other.Clone()
		next.Grants = rapid.SliceOfN(grant, 0, 3).Draw(t, "after")
		out, err := r.PutUser(ctx, actor, next, store.AnyRevision, "")
		if err != nil {
			if !errors.As(err, new(*DeniedError)) {
				t.Fatal(err)
			}
			return
		}
		after, _ := Person(out.User)
		for _, key := range keys {
			n := name.FromKey(key)
			for _, role := range []Role{Reader, Editor, Owner, Administrator} {
				gained := after.MayName(n, role) != before.MayName(n, role)
				if gained && !actor.MayAll(Administrator) && (role > Owner || !actor.MayName(n, Owner)) {
					t.Errorf("%+v changed the role %v for %s from %+v to %+v", owner.Grants, role, key, other.Grants, out.User.Grants)
				}
			}
		}
	})
}

// TestGrantRace checks that grants that are made at the same time are all kept, and that a grant
// that expects an earlier revision is a conflict.
func TestGrantRace(t *testing.T) {
	d := newDesk(t)
	u := d.user(&store.User{Name: "Anna"})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			g := Granting{Add: grants(fmt.Sprintf("editor urn:dns:example.org:%d:", i)), Expected: store.AnyRevision}
			if _, err := d.GrantUser(context.Background(), Operator(), u.ID, g, ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := d.there(u.ID); got.Revision != 21 || len(got.Grants) != 1 || len(got.Grants[0].Prefixes) != 20 {
		t.Errorf("%+v, want 20 grants", got)
	}
	if _, err := d.GrantUser(d.ctx, Operator(), u.ID, Granting{Add: grants("reader"), Expected: 1}, ""); !errors.As(err, new(*store.ConflictError)) {
		t.Errorf("a grant on top of an earlier revision: %v", err)
	}
	for _, id := range []string{"", "u-00000000"} {
		if _, err := d.GrantUser(d.ctx, Operator(), id, Granting{Add: grants("reader"), Expected: store.AnyRevision}, ""); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a grant to %q: %v", id, err)
		}
	}
}

// TestRedactUser checks that a person is erased, and that single revisions are redacted.
func TestRedactUser(t *testing.T) {
	d := newDesk(t)
	users, err := store.UsersOf(d.store)
	if err != nil {
		t.Fatal(err)
	}
	u := d.user(&store.User{Name: "Secret Name", Mail: "secret@example.org", Subjects: []string{"header secret"}})
	u.Name = "Other"
	u = d.user(u)
	redact := func(revisions ...uint64) (Outcome, error) {
		return d.RedactUser(d.ctx, Operator(), u.ID, Redaction{Revisions: revisions, Reason: "asked to", Expected: store.AnyRevision})
	}
	if _, err := redact(2); err == nil {
		t.Error("the current revision alone was redacted")
	}
	if out, err := redact(1); err != nil || out.Revision != 3 || out.User.Name != "Other" {
		t.Errorf("the first revision: %+v, %v", out, err)
	}
	for range 2 {
		out, err := redact()
		if errors.As(err, new(*RefusalError)) && d.there(u.ID).Revision == 4 {
			continue // the second time
		}
		if err != nil || out.Revision != 4 || out.User.Name != "" || !out.User.Disabled || out.User.Mail != "" || out.User.Subjects != nil {
			t.Errorf("erased: %+v, %v", out, err)
		}
	}
	for c, err := range users.UserHistory(d.ctx, u.ID) {
		if err != nil || c.Revision() < 4 && !c.Redacted || c.User.Name != "" || c.User.Mail != "" {
			t.Errorf("revision %d: %+v, %v", c.Revision(), c.User, err)
		}
	}
	if _, err := users.UserOf(d.ctx, "header secret"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the subject of an erased user: %v", err)
	}
	if _, err := d.RedactUser(d.ctx, Operator(), "u-00000000", Redaction{Reason: "x", Expected: store.AnyRevision}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a user who never was: %v", err)
	}
	fresh := d.user(&store.User{Name: "Only One"})
	if out, err := d.RedactUser(d.ctx, Operator(), fresh.ID, Redaction{Reason: "x", Expected: store.AnyRevision}); err != nil || out.Revision != 2 || out.User.Name != "" {
		t.Errorf("a user of one revision: %+v, %v", out, err)
	}
}

// TestUserIDs checks that IDs have the form that the history shows, that no token can use the ID of
// a user as its author, and that undoing changes of names does not change users.
func TestUserIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := newUserID()
		if !IsUserID(id) || seen[id] {
			t.Fatalf("ID %q, seen %t", id, seen[id])
		}
		seen[id] = true
	}
	for _, s := range []string{"", "u-", "u-1234567", "u-123456789", "u-1234567i", "u-1234567A", "t-12345678", "u-12345678 "} {
		if IsUserID(s) {
			t.Errorf("IsUserID(%q)", s)
		}
	}
	d := newDesk(t)
	err := d.PutToken(d.ctx, Operator(), &store.Token{ID: "t", Hash: [32]byte{1}, Role: "reader", Who: "u-12345678"}, "")
	if field, _, _ := refusal(err); field != "who" {
		t.Errorf("a token of a user's ID: %v", err)
	}
	u := d.user(&store.User{Name: "Anna"})
	d.good(d.put(&store.Record{Spelling: alb}))
	sum, err := d.Undo(d.ctx, Operator(), Undoing{From: 2, To: 9, Why: "x"})
	if err != nil || sum.Changes != 1 || d.there(u.ID).Revision != 1 {
		t.Errorf("Undo: %+v, %v, and the user is %+v", sum, err, d.there(u.ID))
	}
}

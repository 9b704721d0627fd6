package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen/store"
)

// RichUser returns a user in which every field is set.
func RichUser() *store.User {
	return &store.User{
		ID: "u-7k3m9qx0", Name: "Zoë Ångström", Mail: "zoe@example.org",
		Subjects: []string{"https://idp.example.org/ 248289761001", "header zoë@example.org\x00"},
		Grants: []store.UserGrant{
			{Role: "owner", Prefixes: []string{"urn:x-a", "ark:12345/"}}, {Role: "reader"},
		},
		Since: minute(0).Add(1500 * time.Microsecond),
	}
}

func userChange(id, name string, n int, subjects ...string) store.Change {
	return store.Change{
		User:     &store.User{ID: id, Name: name, Subjects: subjects},
		Expected: store.AnyRevision, Time: minute(n), Who: "archive", Why: "test",
	}
}

func (s *suite) users() store.Users {
	s.Helper()
	u, err := store.UsersOf(s.Store)
	if err != nil {
		s.Fatal(err)
	}
	return u
}

func (s *suite) user(id string, at time.Time) *store.User {
	s.Helper()
	u, err := s.users().User(s.Context(), id, at)
	return found(s, u, err)
}

func (s *suite) userOf(subject string) string {
	s.Helper()
	u, err := s.users().UserOf(s.Context(), subject)
	if u = found(s, u, err); u == nil {
		return ""
	}
	return u.ID
}

// sound waits until all changes are sealed, and verifies the store.
func (s *suite) sound() {
	s.Helper()
	if has[store.Feed](s.Store) {
		s.sealed()
	}
	s.verifies()
}

// users checks that users are created, changed, disabled, listed and found, now and at earlier
// times.
func users(s *suite) {
	if got := read(s, s.users().AllUsers(s.Context(), time.Time{})); got != nil || s.user("u-b", time.Time{}) != nil || s.userOf("") != "" {
		s.Errorf("users of an empty store: %+v", got)
	}
	rich := store.Change{User: RichUser(), Expected: 0, Time: minute(1), Who: "archive", Why: "joined"}
	s.equal("made", s.apply(rich, userChange("u-b", "Bea", 1, "header b"), userChange("u-a", "Ali", 2)), []store.Result{changed(1), changed(1), changed(1)})
	s.equal("again", s.apply(expecting(1, rich)), []store.Result{already(1)})
	s.equal("user", s.user(RichUser().ID, time.Time{}), kept(rich, 0, 1).User)
	s.conflict(expecting(0, rich), 0, 1)
	s.conflict(expecting(2, userChange("u-b", "B", 3)), 2, 1)
	s.conflict(expecting(1, userChange("u-never", "N", 3)), 1, 0)

	disabled := expecting(1, userChange("u-b", "Bea", 3, "header b"))
	disabled.User.Disabled = true
	s.equal("disabled", s.apply(disabled), []store.Result{changed(2)})
	s.equal("disabled user", s.user("u-b", time.Time{}), kept(disabled, 1, 3).User)
	s.equal("user before that", s.user("u-b", minute(2)), kept(userChange("u-b", "Bea", 1, "header b"), 0, 1).User)
	if u := s.user("u-b", minute(0)); u != nil {
		s.Errorf("before it was made: %+v", u)
	}
	listed := func(at time.Time) []string {
		return texts(read(s, s.users().AllUsers(s.Context(), at)), func(u *store.User) string { return fmt.Sprint(u.ID, u.Revision) })
	}
	s.equal("users", listed(time.Time{}), []string{"u-7k3m9qx01", "u-a1", "u-b2"})
	s.equal("users at minute 1", listed(minute(1)), []string{"u-7k3m9qx01", "u-b1"})
	leave(s, s.users().AllUsers(s.Context(), time.Time{}), 3)
	for _, subject := range RichUser().Subjects {
		s.equal("user of "+subject, s.userOf(subject), RichUser().ID)
	}
	for _, subject := range []string{"", "header", "header b\x00", "header zoë@example.org", "HEADER b"} {
		s.equal("user of "+subject, s.userOf(subject), "")
	}
	if n, _, err := store.Count(s.Context(), s.Store); err != nil || n != 0 || len(s.list(store.Scan{})) != 0 {
		s.Errorf("%d records, %v, want none", n, err)
	}
	s.equal("locations", read(s, store.Find(s.Context(), s.Store, "", store.Place{})), []store.Place(nil))
	s.equal("locations", read(s, store.Find(s.Context(), s.Store, "\x00user\x00", store.Place{})), []store.Place(nil))
	s.sound()
}

// userLimits checks that users that cannot be stored are rejected.
func userLimits(s *suite) {
	for what, spoil := range map[string]func(u *store.User){
		"a key with a space": func(u *store.User) { u.ID = "u 1" },
		"no key":             func(u *store.User) { u.ID = "" },
		"redacted":           func(u *store.User) { u.Redacted = true },
		"subject twice":      func(u *store.User) { u.Subjects = []string{"a", "b", "a"} },
		"added in year 0":    func(u *store.User) { u.Since = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		c := userChange("u-a", "A", 0)
		spoil(c.User)
		if got := refusal[*store.ChangeError](s, userChange("u-b", "B", 0), c); got.Index != 1 {
			s.Errorf("%s: %+v, want change 1", what, got)
		}
	}
	long := strings.Repeat("x", store.MaxText+1)
	many := make([]string, store.MaxValues+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for what, spoil := range map[string]func(u *store.User){
		"key":      func(u *store.User) { u.ID = strings.Repeat("u", store.MaxUserID+1) },
		"name":     func(u *store.User) { u.Name = long },
		"mail":     func(u *store.User) { u.Mail = long },
		"subjects": func(u *store.User) { u.Subjects = []string{long} },
		"values":   func(u *store.User) { u.Subjects = many },
		"role":     func(u *store.User) { u.Grants = []store.UserGrant{{Role: long}} },
		"prefixes": func(u *store.User) { u.Grants = []store.UserGrant{{Prefixes: []string{long}}} },
		"grants":   func(u *store.User) { u.Grants = make([]store.UserGrant, store.MaxValues+1) },
	} {
		c := userChange("u-a", "A", 0)
		spoil(c.User)
		if got := refusal[*store.LimitError](s, c); got.What != what {
			s.Errorf("%s: %+v", what, got)
		}
	}
	most := userChange("u-a", strings.Repeat("ä", store.MaxText/2), 0, strings.Repeat("s", store.MaxText), "\x00", "\xff", "")
	s.apply(most)
	s.equal("largest user", s.user("u-a", time.Time{}), kept(most, 0, 0).User)
	for _, subject := range most.User.Subjects {
		s.equal("user of a subject", s.userOf(subject), "u-a")
	}
	s.sound()
}

func userContent(s *suite) {
	u := &store.User{ID: "u-c"}
	s.apply(store.Change{User: u, Time: minute(0)})
	u.Subjects, u.Grants, u.Modified, u.Revision = []string{}, []store.UserGrant{}, minute(8), 8
	change := store.Change{User: u, Expected: 1, Time: minute(1)}
	s.equal("a user in other form", s.apply(change), []store.Result{already(1)})
	written := func(what string) {
		s.Helper()
		s.equal(what, s.apply(change), []store.Result{changed(change.Expected + 1)})
		s.equal(what, s.user("u-c", time.Time{}), kept(change, change.Expected, 1).User)
		change.Expected++
	}
	rich := RichUser()
	rich.Disabled, rich.Since = true, minute(3)
	to, from := reflect.ValueOf(u).Elem(), reflect.ValueOf(rich).Elem()
	for _, f := range reflect.VisibleFields(to.Type()) {
		if value := from.FieldByIndex(f.Index); f.Name != "ID" && !value.IsZero() {
			to.FieldByIndex(f.Index).Set(value)
			written("other content: " + f.Name)
		}
	}
	u.Grants[0].Prefixes[1] = "ark:12345"
	written("prefix of a grant")
	u.Grants[1].Role = "editor"
	written("role of a grant")
	got := s.user("u-c", time.Time{})
	got.Grants[0].Prefixes[0], got.Subjects[0] = "spoilt", "spoilt" // the result belongs to the caller
	s.equal("user", s.user("u-c", time.Time{}), kept(change, change.Expected-1, 1).User)
}

// userHistory checks that users have a history as authorities do, and that the feed contains users.
func userHistory(s *suite) {
	first, second := userChange("u-a", "Ali", 1, "a"), userChange("u-a", "Ali B", 3, "b")
	s.apply(first, userChange("u-aa", "A", 1), put("u-a", "u:1", 0))
	s.apply(second)
	seq := s.users().UserHistory(s.Context(), "u-a")
	s.equal("history", read(s, seq), []*store.Change{kept(second, 1, 3), kept(first, 0, 1)})
	leave(s, seq, 2)
	for _, id := range []string{"", "u-", "u-ab", "u-a\x00"} {
		if got := read(s, s.users().UserHistory(s.Context(), id)); got != nil {
			s.Errorf("history of %q: %+v", id, got)
		}
	}
	if !has[store.Feed](s.Store) {
		return
	}
	s.equal("head", s.sealed(), headOf(s.entries(0)))
	s.equal("changes", changesOf(s.entries(0)), []*store.Change{
		kept(first, 0, 1), kept(userChange("u-aa", "A", 1), 0, 1), kept(put("u-a", "u:1", 0), 0, 0), kept(second, 1, 3),
	})
	s.sound()
}

// userSubjects checks that no two users have the same subject.
func userSubjects(s *suite) {
	s.apply(userChange("u-a", "Ali", 1, "1", "2"), userChange("u-b", "Bea", 1, "3"))
	taken := func(what string, index int, changes ...store.Change) {
		s.Helper()
		if got := refusal[*store.StateError](s, changes...); got.Index != index || got.Key != changes[index].User.ID {
			s.Errorf("%s: %+v, want a StateError of change %d", what, got, index)
		}
	}
	taken("of another", 0, userChange("u-b", "Bea", 2, "3", "2"))
	taken("of a new user", 1, put("urn:x-a:1", "u:1", 1), userChange("u-c", "Cem", 2, "1"))
	taken("twice in a batch", 1, userChange("u-c", "Cem", 2, "4"), userChange("u-d", "Dan", 2, "4"))
	taken("of the one who keeps it", 0, userChange("u-c", "Cem", 2, "1"), userChange("u-a", "Ali", 2, "1"))
	s.equal("nothing written", s.keys(store.Scan{}), []string(nil))
	disabled := userChange("u-a", "Ali", 2, "1", "2")
	disabled.User.Disabled = true
	s.apply(disabled)
	taken("of a disabled user", 0, userChange("u-b", "Bea", 2, "1"))
	s.apply(userChange("u-b", "Bea", 3, "1"), userChange("u-a", "Ali", 3, "2")) // u-b takes over the subject of u-a, in either order of the changes
	s.equal("taken over", []string{s.userOf("1"), s.userOf("2"), s.userOf("3")}, []string{"u-b", "u-a", ""})
	s.apply(userChange("u-b", "Bea", 4), userChange("u-a", "Ali", 4, "2", "1"))
	s.equal("taken back", []string{s.userOf("1"), s.userOf("2")}, []string{"u-a", "u-a"})
	s.apply(userChange("u-c", "Cem", 4, "5"), userChange("u-c", "Cem", 4), userChange("u-d", "Dan", 4, "5"))
	s.equal("given up in the batch", s.userOf("5"), "u-d")
	s.apply(userChange("u-c", "Cem", 5, "5"), userChange("u-c", "Cem", 5))
	s.equal("held in the batch by another", s.userOf("5"), "u-d")
	s.sound()
}

func userRace(s *suite) {
	for round := range 5 {
		subject := fmt.Sprint("header ", round)
		var mu sync.Mutex
		var winners []string
		together(6, func(i int) {
			id := fmt.Sprintf("u-%d%d", round, i)
			_, err := s.Apply(s.Context(), []store.Change{userChange(id, "N", 1, subject)})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				winners = append(winners, id)
			} else if !errors.As(err, new(*store.StateError)) {
				s.Errorf("%s: %v", id, err)
			}
		})
		s.kept += len(winners)
		if len(winners) != 1 || s.userOf(subject) != winners[0] {
			s.Errorf("%q got %s, which belongs to %q", winners, subject, s.userOf(subject))
		}
	}
	s.sound()
}

// userRedaction checks that no read returns redacted content of a user, and that another user can
// get the subject.
func userRedaction(s *suite) {
	first := userChange("u-a", secret, 1, secret)
	first.Who, first.Why = secret, secret
	first.User.Mail, first.User.Grants = secret, []store.UserGrant{{Role: secret, Prefixes: []string{secret}}}
	s.apply(first)
	gone := userChange("u-a", "", 2)
	gone.Redacts = []uint64{1}
	s.equal("redacted", s.apply(gone), []store.Result{changed(2)})
	s.nowhere()
	s.equal("user at minute 1", s.user("u-a", minute(1)), kept(first, 0, 1).Redact().User)
	s.equal("history", read(s, s.users().UserHistory(s.Context(), "u-a")), []*store.Change{kept(gone, 1, 2), kept(first, 0, 1).Redact()})
	s.equal("user of the subject", s.userOf(secret), "")
	s.apply(userChange("u-b", "Bea", 3, secret))
	s.equal("user of the subject", s.userOf(secret), "u-b")
	if has[store.Feed](s.Store) {
		s.equal("head", s.sealed(), headOf(s.entries(0)))
	}
	s.sound()
}

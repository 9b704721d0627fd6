package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/nomen-project/nomen/store"
)

func richToken() *store.Token {
	return &store.Token{
		ID: "k3m9qx7a", Hash: [32]byte{1}, Role: "owner", Prefixes: []string{"urn:x-a", "ark:12345/"}, Who: "Zoë Ångström",
		Created: minute(0).Add(1500 * time.Microsecond), Expires: minute(60),
	}
}

// grant returns the two changes that write a token and its rights.
func grant(t *store.Token, n int) []store.Change {
	c := store.Change{Time: minute(n), Who: "archive", Why: "test"}
	rights := c
	c.Token, rights.Rights, rights.Expected = t, t.Rights(), store.AnyRevision
	return []store.Change{c, rights}
}

func (s *suite) rights() store.RightsHistorian {
	s.Helper()
	h, err := store.RightsOf(s.Store)
	if err != nil {
		s.Fatal(err)
	}
	return h
}

func (s *suite) rightsOf(id string, at time.Time) *store.TokenRights {
	s.Helper()
	r, err := s.rights().TokenRights(s.Context(), id, at)
	return found(s, r, err)
}

// tokenRights checks that the log contains the rights of tokens with all their content and without
// secrets. It checks that a token and its rights are written together or not at all. It also checks
// that another store can load the rights, and then has the same head.
func tokenRights(s *suite) {
	rich := richToken()
	made := grant(rich, 1)
	s.equal("made", s.apply(made...), []store.Result{{Changed: true}, changed(1)})
	s.equal("again", s.apply(made...), []store.Result{{}, already(1)})
	s.equal("rights", s.rightsOf(rich.ID, time.Time{}), kept(made[1], 0, 1).Rights)
	revoked := richToken()
	revoked.Revoked = true
	taken := grant(revoked, 2)
	s.equal("revoked", s.apply(taken...), []store.Result{{Changed: true}, changed(2)})
	s.equal("used", s.apply(store.Change{Token: &store.Token{ID: rich.ID, Used: minute(3)}, UseOnly: true, Time: minute(3)}), []store.Result{{Changed: true}})
	s.equal("rights", s.rightsOf(rich.ID, time.Time{}), kept(taken[1], 1, 2).Rights)
	s.equal("rights at minute 1", s.rightsOf(rich.ID, minute(1)), kept(made[1], 0, 1).Rights)
	s.equal("history", read(s, s.rights().TokenRightsHistory(s.Context(), rich.ID)), []*store.Change{kept(taken[1], 1, 2), kept(made[1], 0, 1)})

	other := grant(&store.Token{ID: "a", Role: "reader", Who: "archive"}, 3)
	s.refused(append(other, put("urn:x-a:b", "u:1", 3), expecting(7, put("urn:x-a:b", "u:2", 3)))...)
	if s.rightsOf("a", time.Time{}) != nil || s.token("a") != nil {
		s.Error("a batch that was refused has written a token or its rights")
	}
	s.apply(other...)
	s.equal("all", texts(read(s, s.rights().AllTokenRights(s.Context(), time.Time{})), func(r *store.TokenRights) string { return fmt.Sprint(r.ID, r.Revision) }), []string{"a1", rich.ID + "2"})
	if !has[store.Feed](s.Store) {
		return
	}
	s.equal("head", s.sealed(), headOf(s.entries(0)))
	s.equal("changes", changesOf(s.entries(0)), []*store.Change{kept(made[1], 0, 1), kept(taken[1], 1, 2), kept(other[1], 0, 3)})
	s.sound()
	if !has[store.Loader](s.Store) {
		return
	}
	to := newSuite(s.T, s.open)
	to.kept = s.kept
	if err := store.Load(s.Context(), to.Store, store.Changes(s.Context(), s.Store, 0)); err != nil {
		s.Fatal(err)
	}
	s.equal("head after Load", to.sealed(), s.sealed())
	s.equal("rights after Load", to.rightsOf(rich.ID, time.Time{}), s.rightsOf(rich.ID, time.Time{}))
	to.verifies()
}

func tokenRightsRefused(s *suite) {
	for what, spoil := range map[string]func(c *store.Change){
		"no ID":            func(c *store.Change) { c.Rights.ID = "" },
		"an ID with a NUL": func(c *store.Change) { c.Rights.ID = "a\x00" },
		"redacted":         func(c *store.Change) { c.Rights.Redacted = true },
		"a batch":          func(c *store.Change) { c.Batch = "b" },
		"expired in 0":     func(c *store.Change) { c.Rights.Expires = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) },
		"a token too":      func(c *store.Change) { c.Token = richToken() },
	} {
		c := grant(richToken(), 1)[1]
		spoil(&c)
		if got := refusal[*store.ChangeError](s, c); got.Reason == "" {
			s.Errorf("%s: no reason", what)
		}
	}
	for what, spoil := range map[string]func(r *store.TokenRights){
		"key":      func(r *store.TokenRights) { r.ID = strings.Repeat("t", store.MaxTokenID+1) },
		"role":     func(r *store.TokenRights) { r.Role = strings.Repeat("t", store.MaxText+1) },
		"prefixes": func(r *store.TokenRights) { r.Prefixes = []string{strings.Repeat("t", store.MaxText+1)} },
		"who":      func(r *store.TokenRights) { r.Who = strings.Repeat("t", store.MaxText+1) },
	} {
		c := grant(richToken(), 1)[1]
		spoil(c.Rights)
		if got := refusal[*store.LimitError](s, c); got.What != what {
			s.Errorf("%s: limit of %s", what, got.What)
		}
	}
}

// tokenRightsRedaction checks that no read returns the redacted bearer of a token, and that the
// redaction does not change the leaves of the log.
func tokenRightsRedaction(s *suite) {
	t := richToken()
	t.Who, t.Prefixes = secret, []string{secret}
	s.apply(grant(t, 1)...)
	erased := &store.Token{ID: t.ID, Hash: t.Hash, Role: t.Role, Revoked: true}
	gone := grant(erased, 2)
	gone[1].Redacts = []uint64{1}
	s.equal("redacted", s.apply(gone...), []store.Result{{Changed: true}, changed(2)})
	s.nowhere()
	s.equal("history", read(s, s.rights().TokenRightsHistory(s.Context(), t.ID)), []*store.Change{kept(gone[1], 1, 2), kept(grant(t, 1)[1], 0, 1).Redact()})
	if has[store.Feed](s.Store) {
		s.equal("head", s.sealed(), headOf(s.entries(0)))
	}
	s.sound()
}

// tokenRightsVerified checks that Verify finds a token whose rights differ from those in the log,
// and a token without rights in the log. It also checks that Verify accepts a log without any
// rights, which a program of an earlier version has written.
func tokenRightsVerified(s *suite) {
	s.apply(store.Change{Token: &store.Token{ID: "old", Role: "reader"}, Time: minute(0)})
	s.verifies()
	s.apply(grant(richToken(), 1)...)
	wider := richToken()
	wider.Role, wider.Prefixes = "administrator", nil
	s.apply(store.Change{Token: wider, Time: minute(2)})
	s.sealed()
	got := texts(faults(s.T, s.Store), func(f store.Fault) string { return f.Subject.Key + ": " + f.Problem })
	s.equal("faults", got, []string{
		"k3m9qx7a: the token does not have the rights of revision 1 of the log: it was altered",
		"old: the token is not in the log: it was added without the program, or by an earlier version of it",
	})
}

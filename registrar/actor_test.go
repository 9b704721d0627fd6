package registrar

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// grantDesk returns a registrar with names in every state under two authorities.
func grantDesk(t *rapid.T) *Registrar {
	s := memstore.New()
	var changes []store.Change
	for _, p := range []string{"urn:x-a", "urn:x-b"} {
		changes = append(changes, store.Change{Time: noon, Authority: &store.Authority{Prefix: name.MustParsePrefix(p), Owners: []string{"o", "p"}}})
		for key, status := range map[string]nomen.Status{":r:1": nomen.Reserved, ":a:1": nomen.Active, ":t:1": nomen.Retired} {
			changes = append(changes, store.Change{Time: noon, Record: &store.Record{
				Name: name.MustParse(p + key), Status: status, Locations: []nomen.Location{{URL: "https://old.example/" + p}}, Reason: map[bool]string{true: "gone"}[status == nomen.Retired],
			}})
		}
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	return New(s, Options{Now: func() time.Time { return noon.Add(time.Hour) }})
}

// TestUnionOfGrants checks that an actor with several grants may do exactly what actors with one
// of the grants each may do.
func TestUnionOfGrants(t *testing.T) {
	put := func(key string, status nomen.Status, expected uint64) func(*Registrar, *rapid.T, Actor) error {
		return func(r *Registrar, t *rapid.T, a Actor) error {
			_, err := r.Put(t.Context(), a, Request{Record: &store.Record{Spelling: key, Status: status}, Expected: expected}, "")
			return err
		}
	}
	operations := map[string]func(*Registrar, *rapid.T, Actor) error{
		"create":              put("urn:x-a:a:2", nomen.Active, 0),
		"create elsewhere":    put("urn:x-b:r:2", nomen.Reserved, 0),
		"without authority":   put("urn:x-c:1", nomen.Active, 0),
		"reactivate":          put("urn:x-a:t:1", nomen.Active, 1),
		"reactivate in the b": put("urn:x-b:t:1", nomen.Active, 1),
		"retire": func(r *Registrar, t *rapid.T, a Actor) error {
			_, err := r.Retire(t.Context(), a, name.MustParse("urn:x-a:a:1"), Retirement{Reason: "x", Expected: store.AnyRevision}, "")
			return err
		},
		"delete": func(r *Registrar, t *rapid.T, a Actor) error {
			_, err := r.Delete(t.Context(), a, name.MustParse("urn:x-b:r:1"), store.AnyRevision, "")
			return err
		},
		"redact": func(r *Registrar, t *rapid.T, a Actor) error {
			_, err := r.Redact(t.Context(), a, name.MustParse("urn:x-a:r:1"), Redaction{Revisions: []uint64{1}, Reason: "x", Expected: store.AnyRevision})
			return notRefused(err)
		},
		"redact an authority": func(r *Registrar, t *rapid.T, a Actor) error {
			_, err := r.RedactAuthority(t.Context(), a, name.MustParsePrefix("urn:x-b"), Redaction{Revisions: []uint64{1}, Reason: "x", Expected: store.AnyRevision})
			return notRefused(err)
		},
		"authority": func(r *Registrar, t *rapid.T, a Actor) error {
			_, err := r.PutAuthority(t.Context(), a, &store.Authority{Prefix: name.MustParsePrefix("urn:x-a"), Description: "d"}, store.AnyRevision, "")
			return err
		},
		"hosts of an authority": func(r *Registrar, t *rapid.T, a Actor) error {
			_, err := r.PutAuthority(t.Context(), a, &store.Authority{Prefix: name.MustParsePrefix("urn:x-a"), Hosts: []string{"a.example"}}, store.AnyRevision, "")
			return err
		},
		"authorities": func(r *Registrar, t *rapid.T, a Actor) error {
			_, err := r.PutAuthorities(t.Context(), a, []*store.Authority{{Prefix: name.MustParsePrefix("urn:x-d")}}, "")
			return err
		},
		"token": func(r *Registrar, t *rapid.T, a Actor) error {
			return r.PutToken(t.Context(), a, &store.Token{ID: "t", Hash: [32]byte{1}, Role: "reader", Who: "w"}, "")
		},
		"relocate": func(r *Registrar, t *rapid.T, a Actor) error {
			sum, err := r.Relocate(t.Context(), a, Relocation{From: "https://old.example/urn:x-b", To: "https://new.example/"})
			if err == nil && sum.Names == 0 {
				return &DeniedError{}
			}
			return err
		},
		"read": func(_ *Registrar, _ *rapid.T, a Actor) error {
			if !a.Reaches(name.MustParse("urn:x-a:t:1")) {
				return &DeniedError{}
			}
			return nil
		},
	}
	prefix := rapid.SampledFrom([]string{"urn:x-a", "urn:x-b", "urn:x-a:a", "urn:x-b:r", "urn:x-c", "urn:x-a:t:1", "urn:x-d"})
	grant := rapid.Custom(func(t *rapid.T) (g Grant) {
		g.Role = rapid.SampledFrom([]Role{Reader, Editor, Owner, Administrator}).Draw(t, "role")
		for _, p := range rapid.SliceOfN(prefix, 0, 2).Draw(t, "prefixes") {
			g.Prefixes = append(g.Prefixes, name.MustParsePrefix(p))
		}
		return g
	})
	rapid.Check(t, func(t *rapid.T) {
		grants := rapid.SliceOfN(grant, 0, 3).Draw(t, "grants")
		what := rapid.SampledFrom(slices.Sorted(maps.Keys(operations))).Draw(t, "operation")
		may := func(grants ...Grant) bool {
			err := operations[what](grantDesk(t), t, Actor{Who: "w", Grants: grants})
			if err != nil && !errors.As(err, new(*DeniedError)) {
				t.Fatalf("%s: %v", what, err)
			}
			return err == nil
		}
		want := slices.ContainsFunc(grants, func(g Grant) bool { return may(g) })
		if got := may(grants...); got != want {
			t.Errorf("%s with %v: allowed %t, want %t", what, grants, got, want)
		}
	})
}

// notRefused returns nil for a refusal, which shows that the actor had the permission.
func notRefused(err error) error {
	if errors.As(err, new(*RefusalError)) {
		return nil
	}
	return err
}

// TestDeniedRole checks that the error has the role that the actor has for the name. If the actor
// has no role for the name, the error has the actor's highest role.
func TestDeniedRole(t *testing.T) {
	a := Actor{Who: "w", Grants: append(actor(Owner, "urn:x-a").Grants, actor(Reader, "urn:x-b").Grants...)}
	for key, want := range map[string]Role{"urn:x-b:1": Reader, "urn:x-c:1": Owner} {
		if got := a.Denied(Editor, name.MustParse(key), key); got.Role != want || got.Need != Editor || got.Name != key {
			t.Errorf("Denied(%s) = %+v, want the role %v", key, got, want)
		}
	}
}

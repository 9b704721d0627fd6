package registrar

import (
	"fmt"
	"slices"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Role determines what an actor may do. Each role includes the rights of all lower roles.
type Role uint8

// Values of Role.
const (
	Reader        Role = iota // cannot change anything
	Editor                    // can change names
	Owner                     // can also reactivate names, and change authorities
	Administrator             // can do everything
)

var roleNames = []string{"reader", "editor", "owner", "administrator"}

// String returns the name of the role, as it is stored in tokens.
func (r Role) String() string { return roleNames[r] }

// ParseRole returns the role whose [Role.String] is s.
func ParseRole(s string) (Role, bool) {
	i := slices.Index(roleNames, s)
	return Role(max(i, 0)), i >= 0
}

// A Grant gives an actor a role, for all names or only for names with certain prefixes.
type Grant struct {
	Role     Role
	Prefixes []name.Prefix // the grant applies to names with these prefixes; to all names if empty
}

func (g Grant) covers(n name.Name) bool {
	return len(g.Prefixes) == 0 || slices.ContainsFunc(g.Prefixes, func(p name.Prefix) bool { return p.Covers(n) })
}

func (g Grant) contains(p name.Prefix) bool {
	return len(g.Prefixes) == 0 || slices.ContainsFunc(g.Prefixes, func(own name.Prefix) bool { return own == p || includes(own, p) })
}

func includes(outer, p name.Prefix) bool {
	spans := p.Spans()
	return len(spans) > 0 && !slices.ContainsFunc(spans, func(span string) bool { return !outer.Covers(name.FromKey(span + "0")) })
}

// An Actor is a token, a user or the operator on whose behalf a change is made. The permissions of
// an actor are those of all its grants together. The zero Actor may neither change nor read
// anything.
type Actor struct {
	Who    string // author of the actor's changes in the history; "" for the operator of the machine
	Grants []Grant
}

// Operator returns the actor for the operator of the machine, an administrator of all names.
func Operator() Actor { return Actor{Grants: []Grant{{Role: Administrator}}} }

// Bearer returns the actor who uses a token. A revoked token only permits what a [Reader] may do.
// Bearer returns an error if the role of the token is unknown, or if one of its prefixes is
// invalid.
func Bearer(t *store.Token) (Actor, error) {
	g, err := parseGrant(t.Role, t.Prefixes)
	if err != nil {
		return Actor{}, fmt.Errorf("registrar: token %s: %w", t.ID, err)
	}
	if t.Revoked {
		g.Role = Reader
	}
	return Actor{Who: t.Who, Grants: []Grant{g}}, nil
}

// parseGrant parses a grant as it is stored.
func parseGrant(role string, prefixes []string) (g Grant, err error) {
	var ok bool
	if g.Role, ok = ParseRole(role); !ok {
		return g, fmt.Errorf("unknown role %q", role)
	}
	g.Prefixes = make([]name.Prefix, len(prefixes))
	for i, s := range prefixes {
		if g.Prefixes[i], err = name.ParseScope(s); err != nil {
			return g, err
		}
	}
	return g, nil
}

// Role returns the highest role in the grants, or [Reader].
func (a Actor) Role() (highest Role) {
	for _, g := range a.Grants {
		highest = max(highest, g.Role)
	}
	return highest
}

// MayAny reports whether the actor has at least the given role for some name.
func (a Actor) MayAny(role Role) bool {
	return slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Role >= role })
}

// Reaches reports whether the name n is in the actor's scope, so that the actor may read its
// record. The name must be a result of [Registrar.Kept].
func (a Actor) Reaches(n name.Name) bool { return a.MayName(n, Reader) }

// MayName reports whether the actor has at least the given role for the name n, which must be a
// result of [Registrar.Kept].
func (a Actor) MayName(n name.Name, role Role) bool {
	return slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Role >= role && g.covers(n) })
}

// MayPrefix reports whether one grant gives at least the given role for all names with the prefix
// p.
func (a Actor) MayPrefix(p name.Prefix, role Role) bool {
	return slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Role >= role && g.contains(p) })
}

// MayAll reports whether the actor has at least the given role for all names.
func (a Actor) MayAll(role Role) bool {
	return slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Role >= role && len(g.Prefixes) == 0 })
}

// Scope returns the prefixes in all grants. If MayAll([Reader]) is true, the actor's scope is all
// names. Otherwise, the scope is the names with these prefixes.
func (a Actor) Scope() (all []name.Prefix) {
	for _, g := range a.Grants {
		all = append(all, g.Prefixes...)
	}
	return all
}

// Denied returns the error for an actor who needs a role for the name n. The message shows the name
// in the given spelling.
func (a Actor) Denied(need Role, n name.Name, spelling string) *DeniedError {
	return a.denied(need, spelling, func(g Grant) bool { return g.covers(n) })
}

// DeniedAny returns the error for an actor who needs a role for at least one name.
func (a Actor) DeniedAny(need Role, shown string) *DeniedError {
	return a.denied(need, shown, func(Grant) bool { return true })
}

// DeniedAll returns the error for an actor who needs a role for all names.
func (a Actor) DeniedAll(need Role, shown string) *DeniedError {
	e := a.DeniedAny(need, shown)
	e.Anywhere = true
	return e
}

func (a Actor) deniedPrefix(need Role, p name.Prefix) *DeniedError {
	return a.denied(need, p.String(), func(g Grant) bool { return g.contains(p) })
}

// denied returns an error that shows the highest role of the actor among the grants for which
// reaches returns true. If reaches returns false for every grant, denied considers all grants.
func (a Actor) denied(need Role, shown string, reaches func(Grant) bool) *DeniedError {
	there := Actor{Grants: slices.DeleteFunc(slices.Clone(a.Grants), func(g Grant) bool { return !reaches(g) })}
	if len(there.Grants) == 0 {
		there = a
	}
	return &DeniedError{Who: a.Who, Role: there.Role(), Need: need, Name: shown}
}

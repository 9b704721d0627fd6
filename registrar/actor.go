package registrar

import (
	"fmt"
	"slices"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Role determines what an actor may do. Each role includes the rights of the roles before
// it.
type Role uint8

// The roles.
const (
	Reader        Role = iota // may change nothing
	Editor                    // may change names
	Owner                     // may reactivate names, and change authorities
	Administrator             // may do everything
)

var roleNames = []string{"reader", "editor", "owner", "administrator"}

// String returns the role as tokens spell it.
func (r Role) String() string { return roleNames[r] }

// ParseRole returns the role with the name s; see [Role.String].
func ParseRole(s string) (Role, bool) {
	i := slices.Index(roleNames, s)
	return Role(max(i, 0)), i >= 0
}

// A Grant gives a role for some names.
type Grant struct {
	Role     Role
	Prefixes []name.Prefix // scope of the role; empty means all names
}

// covers reports whether a name is in the scope of the grant.
func (g Grant) covers(n name.Name) bool {
	return len(g.Prefixes) == 0 || slices.ContainsFunc(g.Prefixes, func(p name.Prefix) bool { return p.Covers(n) })
}

// contains reports whether all names under a prefix are in the scope of the grant.
func (g Grant) contains(p name.Prefix) bool {
	return len(g.Prefixes) == 0 || slices.ContainsFunc(g.Prefixes, func(own name.Prefix) bool { return own == p || includes(own, p) })
}

// includes reports whether own covers all names that p covers: those that begin with a span of p.
func includes(own, p name.Prefix) bool {
	spans := p.Spans()
	return len(spans) > 0 && !slices.ContainsFunc(spans, func(span string) bool { return !own.Covers(name.FromKey(span + "0")) })
}

// An Actor is the client that makes a change. It may do what any of its grants permits. The
// zero Actor may neither change nor read anything.
type Actor struct {
	Who    string // author in the history; "" for the operator of the machine
	Grants []Grant
}

// Operator returns the operator of the machine, an administrator of all names.
func Operator() Actor { return Actor{Grants: []Grant{{Role: Administrator}}} }

// Bearer returns the actor that a token stands for, with the role [Reader] if the token is
// revoked. It returns an error for an unknown role or an invalid prefix.
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

// parseGrant returns the grant of a stored role and its stored prefixes.
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

// Role returns the highest role of all grants, [Reader] if there are none.
func (a Actor) Role() (highest Role) {
	for _, g := range a.Grants {
		highest = max(highest, g.Role)
	}
	return highest
}

// MayAny reports whether the actor has at least this role for any name.
func (a Actor) MayAny(role Role) bool {
	return slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Role >= role })
}

// Reaches reports whether a name is in the scope of the actor, so that the actor may read it. The
// name must be as returned by [Registrar.Kept].
func (a Actor) Reaches(n name.Name) bool { return a.MayName(n, Reader) }

// MayName reports whether the actor has at least this role for a name, which must be as returned
// by [Registrar.Kept].
func (a Actor) MayName(n name.Name, role Role) bool {
	return slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Role >= role && g.covers(n) })
}

// MayPrefix reports whether the actor has at least this role for all names under p, in one grant.
func (a Actor) MayPrefix(p name.Prefix, role Role) bool {
	return slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Role >= role && g.contains(p) })
}

// MayAll reports whether the actor has at least this role for all names.
func (a Actor) MayAll(role Role) bool {
	return slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Role >= role && len(g.Prefixes) == 0 })
}

// Scope returns the prefixes of all grants of the actor: its scope, unless MayAll([Reader]) is
// true.
func (a Actor) Scope() (all []name.Prefix) {
	for _, g := range a.Grants {
		all = append(all, g.Prefixes...)
	}
	return all
}

// Denied returns the error for an actor who lacks a role for a name, which the error shows as
// shown.
func (a Actor) Denied(need Role, n name.Name, shown string) *DeniedError {
	return a.denied(need, shown, func(g Grant) bool { return g.covers(n) })
}

// DeniedAny returns the error for an actor who has a role for no name at all.
func (a Actor) DeniedAny(need Role, shown string) *DeniedError {
	return a.denied(need, shown, func(Grant) bool { return true })
}

// DeniedAll returns the error for an actor who lacks a role for all names.
func (a Actor) DeniedAll(need Role, shown string) *DeniedError {
	e := a.DeniedAny(need, shown)
	e.Anywhere = true
	return e
}

// deniedPrefix returns the error for an actor who lacks a role for all names under p.
func (a Actor) deniedPrefix(need Role, p name.Prefix) *DeniedError {
	return a.denied(need, p.String(), func(g Grant) bool { return g.contains(p) })
}

// denied returns an error with the highest role of the grants that reach what is shown, or of
// all grants if none does.
func (a Actor) denied(need Role, shown string, reaches func(Grant) bool) *DeniedError {
	there := Actor{Grants: slices.DeleteFunc(slices.Clone(a.Grants), func(g Grant) bool { return !reaches(g) })}
	if len(there.Grants) == 0 {
		there = a
	}
	return &DeniedError{Who: a.Who, Role: there.Role(), Need: need, Name: shown}
}

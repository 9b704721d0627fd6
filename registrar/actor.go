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

// denied returns the error for an actor who lacks a role.
func (a Actor) denied(need Role, name string) *DeniedError {
	return &DeniedError{Who: a.Who, Role: a.Role, Need: need, Name: name}
}

// An Actor is the client that makes a change. The zero Actor may change nothing.
type Actor struct {
	Who      string // author in the history; "" for the operator of the machine
	Role     Role
	Prefixes []name.Prefix // scope of the role; empty means no limit
}

// Operator returns the operator of the machine, an administrator without limits.
func Operator() Actor { return Actor{Role: Administrator} }

// Bearer returns the actor that a token stands for, with the role [Reader] if the token is
// revoked. It returns an error for an unknown role or an invalid prefix.
func Bearer(t *store.Token) (Actor, error) {
	role, ok := ParseRole(t.Role)
	if !ok {
		return Actor{}, fmt.Errorf("registrar: token %s: unknown role %q", t.ID, t.Role)
	}
	a := Actor{Who: t.Who, Role: role}
	if t.Revoked {
		a.Role = Reader
	}
	for _, s := range t.Prefixes {
		p, err := name.ParseScope(s)
		if err != nil {
			return Actor{}, fmt.Errorf("registrar: token %s: %w", t.ID, err)
		}
		a.Prefixes = append(a.Prefixes, p)
	}
	return a, nil
}

// Reaches reports whether n is in the scope of a. The scope limits reading as well as changes.
// The name must be as returned by [Registrar.Kept].
func (a Actor) Reaches(n name.Name) bool {
	return len(a.Prefixes) == 0 || slices.ContainsFunc(a.Prefixes, func(p name.Prefix) bool { return p.Covers(n) })
}

// mayName reports whether a has at least this role for n, which must be as returned by
// [Registrar.Kept].
func (a Actor) mayName(n name.Name, role Role) bool { return a.Role >= role && a.Reaches(n) }

// mayPrefix reports whether a has at least this role for an authority: all names under its
// prefix must be in scope.
func (a Actor) mayPrefix(p name.Prefix, role Role) bool {
	if a.Role < role {
		return false
	}
	for _, own := range a.Prefixes {
		if own == p || own.Covers(name.FromKey(p.String())) {
			return true
		}
	}
	return len(a.Prefixes) == 0
}

package registrar

import (
	"fmt"
	"slices"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Role says what an actor may do. Each includes those before it.
type Role uint8

// The roles.
const (
	Reader        Role = iota // may change nothing
	Editor                    // may change names
	Owner                     // may bring names back, and change authorities
	Administrator             // may do everything
)

// String returns the role as tokens spell it.
func (r Role) String() string {
	switch r {
	case Editor:
		return "editor"
	case Owner:
		return "owner"
	case Administrator:
		return "administrator"
	}
	return "reader"
}

// ParseRole returns the role with the name s; see [Role.String].
func ParseRole(s string) (Role, bool) {
	for r := Reader; r <= Administrator; r++ {
		if s == r.String() {
			return r, true
		}
	}
	return Reader, false
}

// An Actor is who asks for a change. The zero Actor may change nothing.
type Actor struct {
	Who      string        // written into the history; "" for the operator of the machine
	Role     Role          // what it may do
	Prefixes []name.Prefix // where; none for everywhere
}

// Operator returns the operator of the machine, who is administrator
// everywhere.
func Operator() Actor { return Actor{Role: Administrator} }

// Bearer returns the actor that a token speaks for.
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
		p, err := name.ParsePrefix(s)
		if err != nil {
			return Actor{}, fmt.Errorf("registrar: token %s: %w", t.ID, err)
		}
		a.Prefixes = append(a.Prefixes, p)
	}
	return a, nil
}

// Reaches reports whether the rights of a, reading included, reach n, which is a name as
// it is kept: see [Registrar.Kept].
func (a Actor) Reaches(n name.Name) bool {
	return len(a.Prefixes) == 0 || slices.ContainsFunc(a.Prefixes, func(p name.Prefix) bool { return p.Covers(n) })
}

// mayName reports whether a has at least the role where n lies, which is a name as it is
// kept.
func (a Actor) mayName(n name.Name, role Role) bool { return a.Role >= role && a.Reaches(n) }

// mayPrefix is mayName for an authority: p itself or what lies under it.
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

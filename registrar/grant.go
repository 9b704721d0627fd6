package registrar

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Granting adds some rights to a user and removes others. The user keeps all rights that the
// Granting does not mention.
type Granting struct {
	Add      []store.UserGrant `json:"add,omitempty"`
	Remove   []store.UserGrant `json:"remove,omitempty"`
	Expected uint64            `json:"-"` // expected revision of the user, as in Request
}

// GrantUser changes the grants of the user with the given ID. An administrator of all names may
// change all grants. An owner may grant and revoke roles up to owner, for names in the owner's
// scope, but not for the owner's own user. GrantUser returns the same errors as
// [Registrar.PutUser].
func (r *Registrar) GrantUser(ctx context.Context, a Actor, id string, g Granting, why string) (Outcome, error) {
	if id == "" {
		return Outcome{Err: store.ErrNotFound}, store.ErrNotFound
	}
	return r.changeUser(ctx, a, id, g.Expected, why, func(there *store.User) (*store.User, error) {
		rights := rightsOf(there.Grants)
		for i, grant := range g.Remove {
			for right := range rightsOf([]store.UserGrant{grant}) {
				if right = right.canonical(); !rights[right] {
					return nil, refuseAt(id, "remove", i, "", faultf(0, "grant", "the user does not have the role %s for %s", right.role, right.scope()))
				}
				delete(rights, right)
			}
		}
		next := there.Clone()
		next.Grants = append(grantsOf(rights), g.Add...)
		return next, nil
	})
}

// A right is a role for the names with one prefix, or for all names if the prefix is "".
type right struct{ role, prefix string }

func (r right) scope() string { return cmp.Or(r.prefix, "all names") }

func (r right) canonical() right {
	if p, err := name.CanonicalPrefix(r.prefix); err == nil && r.prefix != "" {
		r.prefix = p
	}
	return r
}

func rightsOf(grants []store.UserGrant) map[right]bool {
	all := map[right]bool{}
	for _, g := range grants {
		if len(g.Prefixes) == 0 {
			all[right{g.Role, ""}] = true
		}
		for _, p := range g.Prefixes {
			all[right{g.Role, p}] = true
		}
	}
	return all
}

// grantsOf converts rights to grants, the highest role first. For each role, the grant for all
// names comes before the grant with prefixes.
func grantsOf(rights map[right]bool) (grants []store.UserGrant) {
	sorted := slices.SortedFunc(maps.Keys(rights), func(a, b right) int {
		i, _ := ParseRole(a.role)
		j, _ := ParseRole(b.role)
		return cmp.Or(cmp.Compare(j, i), strings.Compare(a.prefix, b.prefix))
	})
	for _, r := range sorted {
		last := len(grants) - 1
		switch {
		case r.prefix == "":
			grants = append(grants, store.UserGrant{Role: r.role})
		case last >= 0 && grants[last].Role == r.role && len(grants[last].Prefixes) > 0:
			grants[last].Prefixes = append(grants[last].Prefixes, r.prefix)
		default:
			grants = append(grants, store.UserGrant{Role: r.role, Prefixes: []string{r.prefix}})
		}
	}
	return grants
}

// checkGrants checks and sorts the grants of a user. A prefix that the user did not have before
// must pass [CheckReach].
func (r *Registrar) checkGrants(ctx context.Context, u *store.User, old map[right]bool) error {
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return err
	}
	after := map[right]bool{}
	for i, g := range u.Grants {
		at := fmt.Sprintf("grants[%d]", i)
		if _, ok := ParseRole(g.Role); !ok {
			return refuse(u.ID, at+".role", faultf(0, "role", "%.40q must be reader, editor, owner or administrator", g.Role))
		}
		for j, p := range g.Prefixes {
			canonical, f := checkGrantPrefix(p, set, old[right{g.Role, p}])
			if f.bad() {
				return refuseAt(u.ID, at+".prefixes", j, "", f)
			}
			after[right{g.Role, canonical}] = true
		}
		if len(g.Prefixes) == 0 {
			after[right{g.Role, ""}] = true
		}
	}
	if len(after) > maxRights {
		return refuse(u.ID, "grants", faultf(0, "grant", "must not have more than %d prefixes", maxRights))
	}
	u.Grants = grantsOf(after)
	return nil
}

// checkGrantPrefix checks a prefix and returns its canonical form. If held is true, the user
// already has the prefix, which is then valid even if newer rules forbid it.
func checkGrantPrefix(p string, set *store.AuthoritySet, held bool) (string, fault) {
	if held {
		return p, fault{}
	}
	canonical, err := name.CanonicalPrefix(p)
	if err != nil {
		return p, faultOf(err)
	}
	if err := CheckReach(p, set); err != nil {
		return p, fault{rule: "prefix", message: err.Error(), err: err}
	}
	return canonical, fault{}
}

// permitRights returns an error if the actor may not change the rights of a user. It must not be
// called for an administrator of all names.
func permitRights(a Actor, id string, before, after map[right]bool) error {
	for r := range after {
		if before[r] {
			continue
		}
		if id == a.Who {
			denied := a.DeniedAll(Administrator, id)
			denied.Why = "you cannot extend your own rights"
			return denied
		}
		if err := permitRight(a, r); err != nil {
			return err
		}
	}
	for r := range before {
		if !after[r] {
			if err := permitRight(a, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func permitRight(a Actor, r right) error {
	role, ok := ParseRole(r.role)
	if !ok || role > Owner {
		denied := a.DeniedAll(Administrator, r.scope())
		denied.Why = "this grants or revokes the role " + r.role
		return denied
	}
	if r.prefix == "" {
		if !a.MayAll(Owner) {
			return a.DeniedAll(Owner, r.scope())
		}
		return nil
	}
	p, err := name.ParseScope(r.prefix)
	if err != nil || !a.MayPrefix(p, Owner) {
		return a.deniedPrefix(Owner, p)
	}
	return nil
}

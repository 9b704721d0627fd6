package admin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A requester is the person who made a request that a second person must approve.
type requester struct {
	Persons []string          `json:"persons"`        // result of [API.persons]
	Grants  []store.UserGrant `json:"grants"`         // rights at the time of the request
	Claimed []store.UserGrant `json:"claimed"`        // grants that are not in the store, such as rights by claims
	Node    bool              `json:"node,omitempty"` // the request used the token of a node, which other nodes do not know
}

func actorOf(who string, grants []store.UserGrant) (registrar.Actor, error) {
	return registrar.Person(&store.User{ID: who, Grants: grants})
}

func (s *API) requesterOf(c *call) (*requester, error) {
	persons, err := s.persons(c.r.Context(), c)
	if err != nil {
		return nil, err
	}
	all := grantsOf(c.actor)
	stored, err := s.stored(c.r.Context(), c.token())
	if err != nil && !errors.Is(err, errNotStored) {
		return nil, err
	}
	claimed := slices.DeleteFunc(slices.Clone(all), func(g store.UserGrant) bool {
		return slices.ContainsFunc(grantsOf(stored), func(h store.UserGrant) bool { return g.Role == h.Role && slices.Equal(g.Prefixes, h.Prefixes) })
	})
	return &requester{persons, all, claimed, s.isNodeToken(c.token())}, nil
}

func grantsOf(a registrar.Actor) (all []store.UserGrant) {
	for _, g := range a.Grants {
		of := store.UserGrant{Role: g.Role.String()}
		for _, p := range g.Prefixes {
			of.Prefixes = append(of.Prefixes, p.String())
		}
		all = append(all, of)
	}
	return all
}

func (s *API) isNodeToken(id string) bool { return s.nodeToken != nil && id == s.nodeToken.ID }

var errNotStored = errors.New("not in the store")

func (s *API) stored(ctx context.Context, token string) (registrar.Actor, error) {
	if id, ok := strings.CutPrefix(token, insidePrefix); ok {
		return s.storedUser(ctx, id)
	}
	if s.isNodeToken(token) {
		return registrar.Bearer(s.nodeToken)
	}
	tokens, ok := s.store.(store.Tokens)
	if !ok {
		return registrar.Actor{}, errNotStored
	}
	t, err := tokens.Token(ctx, token)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && (t.Revoked || t.Expired(s.now())):
		return registrar.Actor{}, errNotStored
	case err != nil:
		return registrar.Actor{}, err
	}
	return registrar.Bearer(t)
}

func (s *API) storedUser(ctx context.Context, id string) (registrar.Actor, error) {
	users, err := store.UsersOf(s.store)
	if err != nil {
		return registrar.Actor{}, errNotStored
	}
	u, err := users.User(store.Fresh(ctx), id, time.Time{})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return registrar.Actor{}, errNotStored
	case err != nil:
		return registrar.Actor{}, err
	case u.Disabled || u.Redacted:
		return registrar.Actor{}, errJobDisabled
	}
	return registrar.Person(u)
}

// requesterNow returns the actor who requested a job, with the current rights. Rights that come
// from claims are those at the time of the request, because claims are updated only when the user
// signs in again.
func (s *API) requesterNow(ctx context.Context, j *job) (registrar.Actor, error) {
	if j.Requester.Node {
		return actorOf(j.Who, j.Requester.Grants)
	}
	claimed, err := actorOf(j.Who, j.Requester.Claimed)
	if err != nil {
		return claimed, err
	}
	now, err := s.stored(ctx, j.Token)
	switch id, inside := strings.CutPrefix(j.Token, insidePrefix); {
	case errors.Is(err, errNotStored) && !(inside && !registrar.IsUserID(id)), errors.Is(err, errJobDisabled):
		return now, &adminapi.StatusError{Kind: adminapi.KindSecond, Status: http.StatusForbidden, Detail: "the person who made the request, or the token, is no longer valid; nothing was changed"}
	case err != nil && !errors.Is(err, errNotStored):
		return now, err
	}
	return registrar.Actor{Who: j.Who, Grants: slices.Concat(now.Grants, claimed.Grants)}, nil
}

func (s *API) isRequester(c *call, j *job) (bool, error) {
	if j.Requester == nil {
		return j.Token == c.token(), nil
	}
	persons, err := s.persons(c.r.Context(), c)
	return slices.ContainsFunc(persons, func(p string) bool { return slices.Contains(j.Requester.Persons, p) }), err
}

// persons returns the IDs of the persons behind the caller. These are the author of the caller's
// changes, and the user or token that created the caller's token. Two callers with a common ID
// count as the same person.
func (s *API) persons(ctx context.Context, c *call) ([]string, error) {
	all := []string{c.actor.Who}
	if _, inside := insideActor(c.r.Context()); inside || s.nodeToken != nil && c.token() == s.nodeToken.ID {
		return all, nil
	}
	makers, err := s.makers(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{"": true}
	for next := []string{makers.of[c.token()]}; len(next) > 0; next = next[1:] {
		if who := next[0]; !seen[who] {
			seen[who] = true
			if who != adminapi.AdministratorGrant().Who { // the operator creates tokens for other persons
				all = append(all, who)
			}
			next = append(next, makers.by[who]...)
		}
	}
	return all, nil
}

// makers records who created each token.
type makers struct {
	of map[string]string   // by the ID of the token
	by map[string][]string // by the bearer of the token
}

func (s *API) makers(ctx context.Context) (makers, error) {
	all := makers{map[string]string{}, map[string][]string{}}
	for change, err := range store.TokenChanges(ctx, s.store) {
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return all, nil
		case err != nil:
			return all, err
		case change.Token != nil:
			all.of[change.Token.ID] = change.Who
			all.by[change.Token.Who] = append(all.by[change.Token.Who], change.Who)
		}
	}
	return all, nil
}

// mayDecide reports whether the caller has rights for everything that a job would change. Such a
// caller may see the job, and may approve or reject it if another person has requested it. The
// mutex of the jobs must be held.
func (c *call) mayDecide(j *job) bool {
	if j.Approval == nil || j.Requester == nil {
		return false
	}
	if j.Kind == adminapi.JobRedact {
		return c.mayRedact(j.Approval)
	}
	return c.actor.MayAll(registrar.Editor) || c.reachesRequester(j.Requester) || c.reachesAll(j.Result)
}

func (c *call) mayRedact(a *adminapi.Approval) bool {
	switch a.Of {
	case redactsName:
		return c.actor.MayName(name.FromKey(a.Key), registrar.Administrator)
	case redactsAuthority:
		return c.actor.MayPrefix(name.PrefixFromKey(a.Key), registrar.Administrator)
	}
	return c.actor.MayAll(registrar.Administrator)
}

// reachesRequester reports whether the caller may edit all names that a requester may edit.
func (c *call) reachesRequester(of *requester) bool {
	all, err := actorOf(c.actor.Who, of.Grants)
	if err != nil || all.MayAll(registrar.Editor) {
		return false
	}
	for _, g := range all.Grants {
		if g.Role >= registrar.Editor && slices.ContainsFunc(g.Prefixes, func(p name.Prefix) bool { return !c.actor.MayPrefix(p, registrar.Editor) }) {
			return false
		}
	}
	return all.MayAny(registrar.Editor)
}

// reachesAll reports whether the caller may edit all names of the authorities in the result of a
// relocation.
func (c *call) reachesAll(r *adminapi.JobResult) bool {
	if r == nil || r.Relocated == nil {
		return false
	}
	names := int64(0)
	for _, of := range r.Reach {
		p, err := name.ParsePrefix(of.Prefix)
		if err != nil || !c.actor.MayPrefix(p, registrar.Editor) {
			return false
		}
		names += of.Names
	}
	return names > 0 && names == r.Relocated.Names // otherwise not all authorities are listed
}

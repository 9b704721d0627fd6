package registrar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// PutAuthority creates or replaces an authority. It stores hosts in lower case and without port. No
// two authorities can have the same host or address, and only one can be the default.
//
// Only an administrator of all names may change:
//   - the fields that select the authority of a request: Hosts, Addresses, Default, and the host of
//     a new prefix urn:dns:HOST or https://HOST;
//   - the resolver that the server queries about the names.
//
// Other actors cannot add an owner who also owns an authority outside the actor's scope.
//
// The errors are those of [Registrar.Put].
func (r *Registrar) PutAuthority(ctx context.Context, a Actor, auth *store.Authority, expected uint64, why string) (Outcome, error) {
	out, err := r.putAuthority(ctx, a, auth, putting{expected: expected, why: why})
	out.Err = err
	return out, err
}

// PreviewAuthority returns the outcome that PutAuthority would have, without changing anything. The
// authority in the outcome is in normal form.
func (r *Registrar) PreviewAuthority(ctx context.Context, a Actor, auth *store.Authority) (Outcome, error) {
	return r.putAuthority(ctx, a, auth, putting{dry: true})
}

type putting struct {
	expected uint64
	why      string
	batch    string
	dry      bool // change nothing
}

func (r *Registrar) putAuthority(ctx context.Context, a Actor, auth *store.Authority, how putting) (Outcome, error) {
	ctx = store.Fresh(ctx)
	next := auth.Clone()
	if err := checkAuthority(next, how.why); err != nil {
		return Outcome{}, err
	}
	if err := checkAnswers(next.Prefix.String(), next); err != nil {
		return Outcome{}, err
	}
	there, err := r.store.Authority(ctx, next.Prefix, time.Time{})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Outcome{}, err
	}
	if err := r.permitAuthority(ctx, a, next, there); err != nil {
		return Outcome{}, err
	}
	if err := r.checkAgainst(ctx, next, there); err != nil {
		return Outcome{}, err
	}
	if how.dry {
		return Outcome{Created: there == nil, Authority: next, Warnings: append(warnings(next, there), r.hidden(ctx, next)...)}, nil
	}
	results, err := r.apply(ctx, []store.Change{{Authority: next, Expected: how.expected, Time: r.now(), Who: a.Who, Why: how.why, Batch: how.batch}})
	if err != nil {
		return Outcome{}, err
	}
	kept, err := r.store.Authority(ctx, next.Prefix, time.Time{})
	if err != nil {
		r.authorities.Forget()
		return Outcome{Result: results[0]}, err
	}
	r.authorities.Replace(kept.Clone())
	return Outcome{Result: results[0], Created: there == nil, Authority: kept, Warnings: append(warnings(next, there), r.hidden(ctx, next)...)}, nil
}

func (r *Registrar) permitAuthority(ctx context.Context, a Actor, next, there *store.Authority) error {
	if !a.MayPrefix(next.Prefix, Owner) {
		return a.deniedPrefix(Owner, next.Prefix)
	}
	if a.MayAll(Administrator) {
		return nil
	}
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return err
	}
	why := ""
	if takesRequests(next, there, set) {
		why = "it would answer requests for other hosts or addresses, or be the default"
	} else if owner, other := sharedOwner(a, next, there, set); other != nil {
		why = fmt.Sprintf("it would share the owner %q with %s, so its names could stand for names of that authority", owner, other.Prefix)
	} else if asksAnew(next, there) {
		why = "the server would send requests to this resolver, which may be in a private network"
	}
	if why == "" {
		return nil
	}
	denied := a.DeniedAll(Administrator, next.Prefix.String())
	denied.Why = why
	return denied
}

// takesRequests reports whether a change of an authority would divert requests from other
// authorities, which may be outside the actor's scope. New hosts can do this, and so can a new
// prefix: an authority with the prefix urn:dns:HOST answers requests for HOST (1995, 2.2.1), and an
// authority with a web prefix answers requests for its host and path. A web prefix diverts nothing
// if an existing authority covers its path.
func takesRequests(next, there *store.Authority, set *store.AuthoritySet) bool {
	if there == nil {
		there = &store.Authority{}
		p := next.Prefix.String()
		isWeb := strings.HasPrefix(p, "http://") || strings.HasPrefix(p, "https://")
		if strings.HasPrefix(p, "urn:dns:") || isWeb && set.Of(name.FromKey(p+"/0")) == nil {
			return true
		}
	}
	return !slices.Equal(next.Hosts, there.Hosts) || !slices.Equal(next.Addresses, there.Addresses) || next.Default != there.Default
}

// asksAnew reports whether a change makes the server ask a resolver that it did not ask before.
// Only an operator may permit this, because a delegation to a machine in the local network would
// disclose the answers of that machine. A delegation without an address is harmless: the server
// then finds the resolver by discovery, and connects only to public addresses.
func asksAnew(next, there *store.Authority) bool {
	d := next.Delegation
	if d == nil || d.Mode != store.ModeAsk || d.To == "" {
		return false
	}
	return there == nil || there.Delegation == nil || *there.Delegation != *d
}

// sharedOwner returns an owner that the change adds although the same owner has an authority
// outside the actor's scope, and that other authority. Authorities with a common owner can make
// their names aliases of each other (same_as). The change would therefore give the actor control
// over names of the other authority.
func sharedOwner(a Actor, next, current *store.Authority, set *store.AuthoritySet) (string, *store.Authority) {
	for _, owner := range next.Owners {
		if current != nil && slices.Contains(current.Owners, owner) {
			continue
		}
		for _, other := range set.All() {
			if slices.Contains(other.Owners, owner) && !a.MayPrefix(other.Prefix, Owner) {
				return owner, other
			}
		}
	}
	return "", nil
}

// HasFewOwners reports whether an authority has fewer than two owners. If the only owner leaves,
// the names of the authority have no owner.
func HasFewOwners(a *store.Authority) bool { return len(a.Owners) < 2 }

func warnings(next, there *store.Authority) []Warning {
	var all []Warning
	if HasFewOwners(next) {
		all = append(all, Warning{WarnOwners, fmt.Sprintf("%s has fewer than two owners: add another, so that its names still have an owner when one leaves", next.Prefix)})
	}
	if there != nil && there.FoldCase && !next.FoldCase {
		all = append(all, Warning{WarnFoldOff, "names of " + next.Prefix.String() + " spelled in upper case are no longer found"})
	}
	return all
}

// checkAuthority makes the checks that do not need the store, and normalizes hosts and addresses.
func checkAuthority(a *store.Authority, why string) error {
	of := a.Prefix.String()
	if a.Prefix.IsZero() {
		return refuse(of, "prefix", faultf(0, "prefix", "an authority needs a prefix"))
	}
	if err := cmp.Or(checkAsked(of, a), checkKin(of, "parents", a.Parents), checkKin(of, "children", a.Children)); err != nil {
		return err
	}
	for i, s := range a.Owners {
		if f := checkFull(s, false); f.bad() {
			return refuseAt(of, "owners", i, "", f)
		}
	}
	return checkPolicy(of, a, why)
}

func checkAsked(of string, a *store.Authority) error {
	for i, s := range a.Hosts {
		a.Hosts[i] = store.CanonicalHost(s)
		if !isHost(a.Hosts[i]) {
			return refuseAt(of, "hosts", i, "", faultf(0, "host", "invalid host %q: expected a domain name or an IP address", s))
		}
	}
	for i, s := range a.Addresses {
		ip, err := netip.ParseAddr(s)
		if err != nil {
			return refuseAt(of, "addresses", i, "", fault{rule: "IP-address", message: err.Error(), err: err})
		}
		a.Addresses[i] = ip.Unmap().String()
	}
	return nil
}

// isHost reports whether s is a valid host in lower case: an IP address, or labels of letters,
// digits, hyphens and underscores.
func isHost(s string) bool {
	if literal, ok := strings.CutPrefix(s, "["); ok {
		ip, err := netip.ParseAddr(strings.TrimSuffix(literal, "]"))
		return err == nil && ip.Is6() && strings.HasSuffix(s, "]")
	}
	const maxHost, maxLabel = 253, 63
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; !ascii.IsAlnum(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	return len(s) <= maxHost
}

// checkKin checks a list of parents or children. Each element is the prefix of an authority, or a
// URI.
func checkKin(of, field string, list []string) error {
	for i, s := range list {
		if _, err := name.ParsePrefix(s); err == nil && !location.Runs(s[:strings.IndexByte(s, ':')]) {
			continue
		}
		if _, f := parseURI(s); f.bad() {
			return refuseAt(of, field, i, "", f)
		}
	}
	return nil
}

func checkPolicy(of string, a *store.Authority, why string) error {
	for _, c := range [...]struct {
		field string
		fault fault
	}{
		{"contact", checkContact(a.Contact)},
		{"description", checkText(a.Description, true)},
		{"default_service", checkService(a.Service)},
		{"redirect_status", checkRedirect(a.Redirect)},
		{"why", checkText(why, true)},
	} {
		if c.fault.bad() {
			return refuse(of, c.field, c.fault)
		}
	}
	return nil
}

func checkContact(s string) fault {
	if s == "" {
		return fault{}
	}
	err := location.CheckContact(s)
	if err == nil {
		return fault{}
	}
	f := faultOf(err)
	if strings.Contains(s, "@") && !strings.Contains(s, ":") {
		f.message += "; write an email address as mailto:" + s
	}
	return f
}

func checkService(s nomen.Service) fault {
	if s != "" && !s.Known() {
		return faultf(0, "service", "%q is not a service of RFC 2483", string(s))
	}
	return fault{}
}

func checkRedirect(code int) fault {
	switch code {
	case 0, http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return fault{}
	}
	return faultf(0, "status", "%d must be one of 301, 302, 303, 307, 308", code)
}

// checkAgainst checks next against the other authorities and the existing names. It reads the other
// authorities only if next could conflict with them.
func (r *Registrar) checkAgainst(ctx context.Context, next, there *store.Authority) error {
	folds := next.FoldCase && (there == nil || !there.FoldCase)
	if len(next.Hosts) == 0 && len(next.Addresses) == 0 && !next.Default && !folds {
		return nil
	}
	r.authorities.Forget()
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return err
	}
	if err := checkOthers(next, set.All()); err != nil {
		return err
	}
	if folds {
		return r.checkFolded(ctx, next, set)
	}
	return nil
}

// checkOthers returns an error if next would answer requests that another authority answers.
func checkOthers(next *store.Authority, others []*store.Authority) error {
	of := next.Prefix.String()
	for _, other := range others {
		if other.Prefix == next.Prefix {
			continue
		}
		if i := shared(next.Hosts, other.Hosts); i >= 0 {
			return refuseAt(of, "hosts", i, "", faultf(0, "host", "%q belongs to %s already", next.Hosts[i], other.Prefix))
		}
		if i := shared(next.Addresses, other.Addresses); i >= 0 {
			return refuseAt(of, "addresses", i, "", faultf(0, "address", "%s belongs to %s already", next.Addresses[i], other.Prefix))
		}
		if next.Default && other.Default {
			return refuse(of, "default", faultf(0, "default", "%s is the default already", other.Prefix))
		}
	}
	return nil
}

func shared(a, b []string) int {
	return slices.IndexFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// checkFolded returns an error if next turns on case folding while names with upper-case letters
// exist, because requests would no longer find these names. It reads every name of the authority.
func (r *Registrar) checkFolded(ctx context.Context, next *store.Authority, set *store.AuthoritySet) error {
	for rec, err := range r.store.List(ctx, store.Scan{Prefix: next.Prefix.String()}) {
		if err != nil {
			return err
		}
		if !next.Prefix.Covers(rec.Name) || next.Fold(rec.Name) == rec.Name {
			continue
		}
		if a := set.Of(rec.Name); a != nil && len(a.Prefix.String()) > len(next.Prefix.String()) {
			continue
		}
		return refuse(next.Prefix.String(), "fold_case", faultf(0, "state",
			"the name %s is not in lower case, so clients could not find it any more", rec.Name))
	}
	return nil
}

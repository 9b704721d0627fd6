package registrar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// PutAuthority makes an authority as given, replacing all of it. Only an administrator
// without prefixes may change where it is asked (Hosts, Addresses, Default, and the host
// of a new prefix urn:dns:HOST or https://HOST), give it an owner that an authority
// has out of reach, and name the resolver that the server asks. No two authorities may be asked in the same place. Hosts are kept without port, in
// lower case. The errors are those of Put.
func (r *Registrar) PutAuthority(ctx context.Context, a Actor, auth *store.Authority, expected uint64, why string) (Outcome, error) {
	out, err := r.putAuthority(ctx, a, auth, putting{expected: expected, why: why})
	out.Err = err
	return out, err
}

// putting is how an authority is put.
type putting struct {
	expected uint64
	why      string
	batch    string
	dry      bool // only check
}

func (r *Registrar) putAuthority(ctx context.Context, a Actor, auth *store.Authority, how putting) (Outcome, error) {
	ctx = store.Fresh(ctx)
	next := auth.Clone()
	if err := checkAuthority(next, how.why); err != nil {
		return Outcome{}, err
	}
	if err := r.checkAnswers(next.Prefix.String(), next); err != nil {
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
		return Outcome{}, nil
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
	if !a.mayPrefix(next.Prefix, Owner) {
		return &DeniedError{Who: a.Who, Role: a.Role, Need: Owner, Name: next.Prefix.String()}
	}
	if a.Role == Administrator && len(a.Prefixes) == 0 {
		return nil
	}
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return err
	}
	why := ""
	if takesRequests(next, there, set) {
		why = "it would answer the requests of other hosts, addresses or of the default"
	} else if owner, other := sharedOwner(a, next, there, set); other != nil {
		why = fmt.Sprintf("it would have the owner %q in common with %s, and its names could then stand for names of that", owner, other.Prefix)
	} else if asksAnew(next, there) {
		why = "the server itself would ask this resolver, which may be in a private network"
	}
	if why == "" {
		return nil
	}
	return &DeniedError{Who: a.Who, Role: a.Role, Need: Administrator, Name: next.Prefix.String(), Anywhere: true, Why: why}
}

// takesRequests reports whether a change makes an authority answer requests that it
// has not answered before: those requests may be another authority's, wherever its
// prefix lies. A prefix urn:dns:HOST answers those of HOST (1995, 2.2.1), and a web
// prefix those of its own host and path.
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

// asksAnew reports whether a change makes the server ask a resolver that it was not told
// to ask before. It does so wherever that is: an operator delegates to machines of the own
// network, and nobody else may have them read. One that has to be discovered is asked in
// the public Internet alone.
func asksAnew(next, there *store.Authority) bool {
	d := next.Delegation
	if d == nil || d.Mode != store.ModeAsk || d.To == "" {
		return false
	}
	return there == nil || there.Delegation == nil || *there.Delegation != *d
}

// sharedOwner returns an owner that a change gives to an authority, and another authority
// that has it, out of the actor's reach; nil for none. Names of authorities with an owner
// in common may stand for each other (same_as), so who names an owner of others would
// answer for their names.
func sharedOwner(a Actor, next, there *store.Authority, set *store.AuthoritySet) (string, *store.Authority) {
	for _, owner := range next.Owners {
		if there != nil && slices.Contains(there.Owners, owner) {
			continue
		}
		for _, other := range set.All() {
			if slices.Contains(other.Owners, owner) && !a.mayPrefix(other.Prefix, Owner) {
				return owner, other
			}
		}
	}
	return "", nil
}

func warnings(next, there *store.Authority) []Warning {
	var all []Warning
	if len(next.Owners) < 2 {
		all = append(all, Warning{WarnOwners, fmt.Sprintf("%s has fewer than two owners: who looks after its names when one has left?", next.Prefix)})
	}
	if there != nil && there.FoldCase && !next.FoldCase {
		all = append(all, Warning{WarnFoldOff, "names of " + next.Prefix.String() + " spelled in upper case are no longer found"})
	}
	return all
}

// checkAuthority checks what can be seen from a alone, and puts its hosts and
// addresses in the form in which they are kept.
func checkAuthority(a *store.Authority, why string) error {
	of := a.Prefix.String()
	if a.Prefix.IsZero() {
		return refuse(of, "prefix", faultf(0, "prefix", "an authority needs a prefix"))
	}
	if err := checkAsked(of, a); err != nil {
		return err
	}
	if err := checkKin(of, "parents", a.Parents); err != nil {
		return err
	}
	if err := checkKin(of, "children", a.Children); err != nil {
		return err
	}
	for i, s := range a.Owners {
		f := checkText(s, false)
		if s == "" {
			f = faultf(0, "text", "is empty")
		}
		if f.bad() {
			return refuseAt(of, "owners", i, "", f)
		}
	}
	return checkPolicy(of, a, why)
}

// checkAsked checks where an authority is asked.
func checkAsked(of string, a *store.Authority) error {
	for i, s := range a.Hosts {
		a.Hosts[i] = store.CanonicalHost(s)
		if !isHost(a.Hosts[i]) {
			return refuseAt(of, "hosts", i, "", faultf(0, "host", "%q is neither a domain name nor an address", s))
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

// isHost reports whether s, in lower case, can stand in a Host field: labels of
// letters, digits, hyphens and underscores, or an address.
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
			if c := label[i]; !isAlnum(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	return len(s) <= maxHost
}

// checkKin accepts the prefixes of authorities, or URIs of what stands for one.
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
		f.message += "; an address of mail is written mailto:" + s
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
	return faultf(0, "status", "%d is not one of 301, 302, 303, 307, 308", code)
}

// checkAgainst checks next against the other authorities and the names that are
// there. All authorities are read for that, unless there is nothing that could
// collide.
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
	of := next.Prefix.String()
	for _, other := range set.All() {
		if other.Prefix == next.Prefix {
			continue
		}
		if i := shared(next.Hosts, other.Hosts); i >= 0 {
			return refuseAt(of, "hosts", i, "", faultf(0, "host", "%s is asked there already", other.Prefix))
		}
		if i := shared(next.Addresses, other.Addresses); i >= 0 {
			return refuseAt(of, "addresses", i, "", faultf(0, "address", "%s is asked there already", other.Prefix))
		}
		if next.Default && other.Default {
			return refuse(of, "default", faultf(0, "default", "%s is the default already", other.Prefix))
		}
	}
	if folds {
		return r.checkFolded(ctx, next, set)
	}
	return nil
}

// shared returns the index of the first of a that is in b too, or -1.
func shared(a, b []string) int {
	return slices.IndexFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// checkFolded refuses to fold the case of an authority that has a name in upper
// case, since nobody would find it again. It reads every name under the prefix.
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
			"%s is not in lower case: nobody would find it again", rec.Name))
	}
	return nil
}

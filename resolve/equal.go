package resolve

import (
	"errors"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

func (d *decision) equal() (*nomen.Answer, error) {
	if !d.q.Other.IsValid() {
		return nil, &nomen.Error{Kind: nomen.Malformed, Service: d.service, Rule: "I=I", Message: "missing the second identifier to compare"}
	}
	other, err := nameOf(assigned(d.q.Other), d.service)
	if err != nil {
		return nil, err
	}
	second := *d
	second.why = nil
	if second.about(other); second.name == d.name {
		return d.verdict(true, time.Time{}, "both are spellings of %s", d.name), nil
	}
	if err := second.admit(); err != nil {
		return nil, err
	}
	d.why = append(d.why, second.why...)
	return d.compare(&second)
}

// compare compares two different names by their aliases.
func (d *decision) compare(second *decision) (*nomen.Answer, error) {
	mine, changed, err := d.sameAs()
	if err != nil {
		return nil, err
	}
	theirs, changedToo, err := second.sameAs()
	if err != nil {
		return nil, err
	}
	switch {
	case mine == nil && theirs == nil && d.policy.Delegation != nil:
		return d.delegated()
	case mine == nil && theirs == nil:
		return nil, d.unknown()
	case changedToo.After(changed):
		changed = changedToo
	}
	if mine[second.name] || theirs[d.name] {
		return d.verdict(true, changed, "one is an alias of the other"), nil
	}
	for n := range mine {
		if theirs[n] {
			return d.verdict(true, changed, "both are aliases of %s", n), nil
		}
	}
	return d.verdict(false, changed, "no record or rule says that they are the same"), nil
}

// assigned returns a URN without its r-component, q-component and query, which comparisons ignore
// (RFC 8141, section 3; draft of 2012, section 5: N12-51). It returns any other URI unchanged,
// because the query of other URIs is part of the name.
func assigned(u uri.URI) uri.URI {
	if scheme, _ := u.Scheme(); !strings.EqualFold(scheme, "urn") {
		return u
	}
	short, err := u.Without(uri.ComponentQuery)
	if err != nil {
		return u
	}
	return short
}

// verdict returns the answer to the service I=I. The answer has been valid since start, or always
// if start is zero.
func (d *decision) verdict(same bool, start time.Time, why string, args ...any) *nomen.Answer {
	if d.q.Explain {
		d.explain(why, args...)
	}
	return &nomen.Answer{Service: nomen.IisI, Name: d.name, Status: nomen.Active, Same: same, MaxAge: d.maxAge(), Modified: start}
}

// sameAs returns the aliases of the name from its record or from rules, and the time since which
// they have been valid. It returns nil if the name is unknown.
func (d *decision) sameAs() (map[name.Name]bool, time.Time, error) {
	var spellings []string
	var since time.Time
	rec, err := d.records.Get(d.ctx, d.name, d.q.At)
	switch {
	case errors.Is(err, store.ErrNotFound):
		result, err := d.applied(d.authority, d.name)
		if err != nil || result == nil {
			return nil, since, err
		}
		spellings, since = result.SameAs, d.authority.Modified
	case err != nil:
		return nil, since, err
	case rec.Status == nomen.Reserved:
		return nil, since, nil
	case rec.Status == nomen.Retired || rec.Redacted:
		_, err := d.registered(rec)
		return nil, since, err
	default:
		spellings, since = rec.SameAs, rec.Modified
	}
	names := make(map[name.Name]bool, len(spellings))
	for _, s := range spellings {
		if n, err := name.Parse(s); err == nil {
			names[d.set.Of(n).Fold(n)] = true
		}
	}
	return names, since, nil
}

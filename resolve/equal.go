package resolve

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// equal answers I=I.
func (d *decision) equal() (*nomen.Answer, error) {
	if !d.q.Other.IsValid() {
		e := d.refuse(nomen.Malformed, "two identifiers are compared; the second one is missing")
		e.Name, e.Rule = "", "I=I"
		return nil, e
	}
	other, err := nameOf(assigned(d.q.Other), d.service)
	if err != nil {
		return nil, err
	}
	second := *d
	second.why = nil
	if second.about(other); second.name == d.name {
		return d.verdict(true, "they are two spellings of %s", d.name), nil
	}
	if err := second.admit(); err != nil {
		return nil, err
	}
	d.why = append(d.why, second.why...)
	mine, err := d.sameAs()
	if err != nil {
		return nil, err
	}
	theirs, err := second.sameAs()
	if err != nil {
		return nil, err
	}
	if mine == nil && theirs == nil {
		if d.policy.Delegation != nil {
			return d.delegated()
		}
		return nil, d.unknown()
	}
	if mine[second.name] || theirs[d.name] {
		return d.verdict(true, "one is said to be the same as the other"), nil
	}
	for n := range mine {
		if theirs[n] {
			return d.verdict(true, "both are said to be the same as %s", n), nil
		}
	}
	return d.verdict(false, "nothing says that they are the same"), nil
}

// assigned returns a URN without what follows the name, which has no part in
// whether two are the same (RFC 8141, 3; 2012, 5: N12-51). The query of any other
// URI is part of it.
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

func (d *decision) verdict(same bool, why string, args ...any) *nomen.Answer {
	if d.q.Explain {
		d.explain(why, args...)
	}
	return &nomen.Answer{Service: nomen.IisI, Name: d.name, Status: nomen.Active, Same: same, MaxAge: d.maxAge()}
}

// sameAs returns the names that the record or the rules of the name say it is the
// same as; nil if the name is not known.
func (d *decision) sameAs() (map[name.Name]bool, error) {
	var spellings []string
	rec, err := d.records.Get(d.ctx, d.name, d.q.At)
	switch {
	case errors.Is(err, store.ErrNotFound):
		result, err := d.applied(d.authority, d.name)
		if err != nil || result == nil {
			return nil, err
		}
		spellings = result.SameAs
	case err != nil:
		return nil, err
	case rec.Status == nomen.Reserved:
		return nil, nil
	case rec.Status == nomen.Retired || rec.Redacted:
		_, err := d.registered(rec)
		return nil, err
	default:
		spellings = rec.SameAs
	}
	names := make(map[name.Name]bool, len(spellings))
	for _, s := range spellings {
		if n, err := name.Parse(s); err == nil {
			names[d.set.Of(n).Fold(n)] = true
		}
	}
	return names, nil
}

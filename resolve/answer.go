package resolve

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// answer tries the sources of an answer in the order that the package comment describes.
func (d *decision) answer() (*nomen.Answer, error) {
	if d.service == nomen.IisI {
		return d.equal()
	}
	rec, err := d.records.Get(d.ctx, d.name, d.q.At)
	if err == nil {
		return d.registered(rec)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if d.q.Explain {
		d.explain("it has no record")
	}
	request := d.isRequest()
	if d.policy.Suffix == store.SuffixAppend && !request {
		if a, err := d.extended(); a != nil || err != nil {
			return a, err
		}
	}
	if len(d.policy.Rules) > 0 && !request {
		if a, err := d.ruled(); a != nil || err != nil {
			return a, err
		}
	}
	if d.policy.Delegation != nil {
		return d.delegated()
	}
	return d.aliased()
}

func (d *decision) registered(rec *store.Record) (*nomen.Answer, error) {
	if d.q.Explain {
		d.explain("its record, revision %d, is %s", rec.Revision, rec.Status)
	}
	switch {
	case rec.Status == nomen.Reserved:
		return nil, d.unknown()
	case rec.Redacted:
		e := d.refuse(nomen.Denied, "the revision that was current at that time has been redacted")
		e.Legal = true
		return nil, e
	case rec.Status == nomen.Retired:
		return d.retired(rec)
	}
	return d.found(d.describe(rec))
}

// retired returns a redirect to the successor, or a tombstone.
func (d *decision) retired(rec *store.Record) (*nomen.Answer, error) {
	a := d.describe(rec)
	a.Locations = d.fit(a.Locations)
	leads := (d.service == nomen.I2L || d.service == nomen.I2R || d.q.Succeed) && len(a.Successors) == 1 && rec.Name == d.name
	if leads {
		circle, err := d.comesBack(a.Successors[0])
		if err != nil {
			return nil, err
		}
		if leads = !circle; circle && d.q.Explain {
			d.explain("its successors form a loop")
		}
	}
	if leads {
		a.Redirect = a.Successors[0].Key()
		a.MaxAge = successorAge
		if d.q.Explain {
			d.explain("it has exactly one successor, %s", a.Redirect)
		}
		return a, nil
	}
	message := rec.Reason
	if message == "" {
		message = "retired"
	}
	e := d.refuse(nomen.Gone, message)
	e.Answer = a
	return nil, e
}

// maxSuccessors is the maximum length of a chain of retired successors that is searched for loops.
const maxSuccessors = 16

func (d *decision) comesBack(n name.Name) (bool, error) {
	for range maxSuccessors {
		if n = d.set.Of(n).Fold(n); n == d.name {
			return true, nil
		}
		rec, err := d.records.Get(d.ctx, n, d.q.At)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case rec.Status != nomen.Retired || len(rec.Successors) != 1:
			return false, nil
		}
		if n, err = name.Parse(rec.Successors[0]); err != nil {
			return false, nil // the chain ends here
		}
	}
	return false, nil
}

// successorAge is how long a client may cache a redirect to a successor, whatever the max_age of
// the authority is.
const successorAge = 24 * time.Hour

func (d *decision) describe(rec *store.Record) *nomen.Answer {
	a := &nomen.Answer{
		Service:   d.service,
		Name:      rec.Name,
		Status:    rec.Status,
		Locations: rec.PublicLocations(),
		Metadata:  rec.Metadata,
		Names:     rec.SameAs,
		Reason:    rec.Reason,
		MaxAge:    d.maxAge(),
		Modified:  rec.Modified,
		Revision:  rec.Revision,
	}
	if rec.Status == nomen.Retired && !rec.ShowLocations {
		a.Locations = nil // withdrawn locations must not appear in any format
	}
	if rec.Spelling != rec.Name.Key() {
		a.Spelling = rec.Spelling
	}
	for _, s := range rec.Successors {
		if n, err := name.Parse(s); err == nil {
			a.Successors = append(a.Successors, n)
		}
	}
	return a
}

func (d *decision) found(a *nomen.Answer) (*nomen.Answer, error) {
	switch d.service {
	case nomen.I2N, nomen.I2Ns:
		preferURN(a.Names)
		if a.Narrow(d.service) {
			return a, nil
		}
		return nil, d.refuse(nomen.NoResult, "the name has no other names")
	}
	a.Locations = d.usable(d.fit(a.Locations))
	if d.service != nomen.I2C && d.service != nomen.I2Cs {
		a.Locations = ofResource(a.Locations)
	}
	if d.validity != (validity{}) && d.q.At.IsZero() {
		d.validity.bound(a, d.o.Now())
	}
	if a.Private = d.isPrivate(a.Locations); a.Private {
		d.depends.Unknown() // the answer depends on the client
	}
	var c choice
	c.read(&d.q)
	d.failover(&c, a)
	if d.service == nomen.I2L || d.service == nomen.I2R {
		if i := c.best(a.Locations, d.policy.Choice, d.pick); i > 0 {
			a.Locations[0], a.Locations[i] = a.Locations[i], a.Locations[0]
		}
	} else {
		c.order(a.Locations)
	}
	if d.q.Explain {
		d.explainRanks(&c, a.Locations)
	}
	return d.located(a, &c)
}

// located returns the answer for the requested service. The best location must be the first in a.
func (d *decision) located(a *nomen.Answer, c *choice) (*nomen.Answer, error) {
	switch d.service {
	case nomen.I2R:
		return d.resource(a, c)
	case nomen.I2Rs:
		return d.resources(a, c), nil
	}
	if !a.Narrow(d.service) {
		return nil, d.refuse(nomen.NoResult, "the name has no location")
	}
	if d.service == nomen.I2L || d.service == nomen.I2Ls {
		for i := range a.Locations {
			a.Locations[i].URL = d.passing(a.Locations[i].URL)
		}
		if d.service == nomen.I2L && d.q.Explain {
			d.explain("chosen: %s", a.Locations[0].URL)
		}
	}
	return a, nil
}

func (d *decision) isPrivate(locations []nomen.Location) bool {
	return d.q.Country != "" && !d.countryGiven &&
		slices.ContainsFunc(locations, func(l nomen.Location) bool { return l.Country != "" })
}

// preferURN moves the first URN to the front, as I2N requires (RFC 2483, section 4.7).
func preferURN(names []string) {
	i := slices.IndexFunc(names, func(s string) bool {
		return len(s) > len("urn:") && strings.EqualFold(s[:len("urn:")], "urn:")
	})
	if i > 0 {
		urn := names[i]
		copy(names[1:], names[:i])
		names[0] = urn
	}
}

func (d *decision) ruled() (*nomen.Answer, error) {
	result, err := d.applied(d.authority, d.name)
	if err != nil || result == nil {
		if d.q.Explain && err == nil {
			d.explain("no rule of %[2]s matches it (%[1]d tried)", len(d.policy.Rules), d.authority.Prefix)
		}
		return nil, err
	}
	if d.q.Explain {
		d.explain("rule %d of %s matches it: %s", result.Rule+1, d.authority.Prefix, result.Pattern)
		for _, left := range result.Left {
			d.explain("left out: %s", left)
		}
	}
	d.ruling = result
	if e := d.ruledOut(result); e != nil {
		return nil, e
	}
	return d.found(&nomen.Answer{
		Service: d.service, Name: d.name, Status: nomen.Active, Locations: result.Locations, Names: result.SameAs,
		MaxAge: d.maxAge(), Modified: d.authority.Modified,
	})
}

func (d *decision) ruledOut(result *rule.Result) error {
	kind, message := nomen.NoResult, "a rule gives nothing for this request"
	switch result.Status {
	case http.StatusForbidden:
		kind = nomen.Denied
	case http.StatusNotFound:
		return d.notFound()
	case http.StatusGone:
		kind, message = nomen.Gone, "retired by a rule"
	case http.StatusNotAcceptable:
		message = "a rule gives nothing for what the client accepts"
	default:
		return nil
	}
	e := d.refuse(kind, message)
	e.Status = result.Status
	return e
}

func (d *decision) applied(a *store.Authority, n name.Name) (*rule.Result, error) {
	if a == nil || len(a.Rules) == 0 {
		return nil, nil
	}
	c, err := d.set.Compiled(a)
	if err != nil {
		return nil, err
	}
	request := rule.Request{Accept: d.q.Accept, Languages: d.q.Languages, UserAgent: d.q.UserAgent, Query: d.q.Query}
	result, ok, on := c.Rules.Apply(n, request)
	if d.consults = on; on.UserAgent {
		d.depends.Unknown() // a cached answer would be used for every User-Agent
	}
	if !ok {
		return nil, nil
	}
	return result, nil
}

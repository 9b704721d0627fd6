package resolve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// delegated answers by the resolver to which the authority hands its names.
func (d *decision) delegated() (*nomen.Answer, error) {
	c, err := d.set.Compiled(d.authority)
	if err != nil {
		return nil, err
	}
	if d.policy.Delegation.Mode == store.ModeAsk {
		to := c.Host
		if c.Link != nil {
			to = c.Link.String()
		}
		return d.ask(to)
	}
	return d.redirect(c)
}

// redirect sends the client to the other resolver, with the components that are
// for resolvers, or the service as a directive (2012, 2.3.1).
func (d *decision) redirect(c *store.Compiled) (*nomen.Answer, error) {
	service := d.service
	if d.q.Service.Known() && d.permits(d.q.Service) { // there the resource may be sent, if not here
		service = d.q.Service
	}
	a := &nomen.Answer{Service: service, Name: d.name, Status: nomen.Active, MaxAge: d.maxAge(), Modified: d.authority.Modified}
	switch {
	case c.Link != nil:
		link, err := c.Link.For(d.authority.Prefix, d.name)
		if err != nil {
			return nil, d.refuse(nomen.NoResult, "the resolver to which it is delegated cannot be asked about it: "+err.Error())
		}
		a.Redirect = d.withComponents(link)
	case c.Host != "":
		a.Redirect = d.withComponents("http://" + c.Host + "/" + strings.NewReplacer("?", "%3F", "#", "%23").Replace(d.name.Key()))
		if service != nomen.I2L && d.q.R == "" && d.q.Q == "" {
			a.Redirect += "?s=" + url.QueryEscape(string(service))
		}
	default:
		return nil, d.refuse(nomen.NoResult, "it is delegated to a resolver that nobody has named")
	}
	if d.q.Explain {
		d.explain("%s delegates it to %s", d.authority.Prefix, a.Redirect)
	}
	return a, nil
}

// withComponents puts r- and q-component behind a name at the end of a link. Where
// the link has a query or a fragment they have no place.
func (d *decision) withComponents(link string) string {
	if strings.ContainsAny(link, "?#") {
		return link
	}
	longer := link
	if d.q.R != "" {
		longer += "?+" + d.q.R
	}
	if d.q.Q != "" {
		longer += "?=" + d.q.Q
	}
	if u, err := uri.Parse(longer); err != nil {
		return link
	} else if _, has := u.Fragment(); has {
		return link
	}
	return longer
}

// ask puts the question to the other resolver and passes its answer on. The
// q-component and the query stay here: they belong to the location.
func (d *decision) ask(to string) (*nomen.Answer, error) {
	shown := to
	if to == "" {
		shown = "the resolver that can be discovered"
	}
	if d.q.Explain {
		d.explain("%s delegates it: %s is asked", d.authority.Prefix, shown)
	}
	if d.q.Hops >= nomen.MaxHops {
		return nil, fmt.Errorf("resolve: %s: %w", d.name, nomen.ErrLoop)
	}
	if d.o.Ask == nil {
		return nil, d.refuse(nomen.NoResult, "it is delegated to "+shown+", whom this service does not ask")
	}
	other, err := d.o.Ask(to)
	if err != nil {
		return nil, fmt.Errorf("resolve: %w: %s: %w", nomen.ErrUpstream, shown, err)
	}
	q := d.q
	q.Name, q.Subject, q.Service = d.name, uri.URI{}, d.service
	q.Q, q.Query = "", ""
	q.Hops++
	a, err := other.Resolve(d.ctx, q)
	if err != nil {
		return nil, d.passedOn(shown, err)
	}
	return d.adopt(a)
}

// passedOn returns the error of another resolver as ours: what it says about the
// name stays, and a failure is told as what it is.
func (d *decision) passedOn(shown string, err error) error {
	if e, ok := errors.AsType[*nomen.Error](err); ok {
		own := *e
		own.Name, own.Err = d.name.Key(), err
		if own.Answer != nil {
			a := *own.Answer
			own.Answer = &a
			store.Clean(&a)
		}
		return &own
	}
	switch {
	case d.ctx.Err() != nil:
		return d.ctx.Err()
	case errors.Is(err, nomen.ErrLoop), errors.Is(err, context.Canceled):
		return fmt.Errorf("resolve: %s: %w", shown, err)
	}
	return fmt.Errorf("resolve: %w: %s: %w", nomen.ErrUpstream, shown, err)
}

// adopt makes the answer of another resolver ours.
func (d *decision) adopt(a *nomen.Answer) (*nomen.Answer, error) {
	own := *a
	store.Clean(&own)
	if own.Name.IsZero() {
		own.Name = d.name
	}
	if d.policy.MaxAge > 0 {
		own.MaxAge = d.maxAge()
	}
	if own.Service == nomen.I2L || own.Service == nomen.I2Ls {
		for i := range own.Locations {
			own.Locations[i].URL = d.passing(own.Locations[i].URL)
		}
	}
	if own.Service == nomen.I2L && own.Redirect == "" && len(own.Locations) == 0 {
		return nil, d.refuse(nomen.NoResult, "the resolver to which it is delegated knows no location that could be passed on")
	}
	return &own, nil
}

package resolve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

func (d *decision) delegated() (*nomen.Answer, error) {
	d.depends.Unknown() // the answer depends on the other resolver
	c, err := d.set.Compiled(d.authority)
	if err != nil {
		return nil, err
	}
	if d.policy.Delegation.Mode == store.ModeAsk {
		to := c.Host
		switch {
		case c.Via != "":
			to = c.Via
		case c.Link != nil:
			to = c.Link.String()
		case c.Form != "":
			to += "/" + c.Form
		}
		return d.ask(to)
	}
	return d.redirect(c)
}

// redirect returns a redirect to the resolver of the delegation. The URL contains the whole
// question.
func (d *decision) redirect(c *store.Compiled) (*nomen.Answer, error) {
	service := d.service
	if d.q.Service != "" { // the other resolver may offer the service
		service = d.q.Service
	}
	a := &nomen.Answer{Service: service, Name: d.name, Status: nomen.Active, MaxAge: d.maxAge(), Modified: d.authority.Modified}
	asked := d.directives(service)
	switch {
	case c.Link != nil:
		link, err := c.Link.Asking(d.authority.Prefix, d.name, asked)
		if err != nil {
			return nil, d.refuse(nomen.NoResult, "cannot redirect to the delegated resolver: "+err.Error())
		}
		a.Redirect = d.withComponents(link)
	case c.Form == store.FormElement: // a request for an ElementID cannot have directives (draft of 1995, section 2.3: Y95-08)
		u, err := urn.Draft1995.Parse(d.name.Key())
		if err != nil || !d.q.At.IsZero() || service == nomen.IisI {
			return nil, d.refuse(nomen.NoResult, "cannot redirect to the delegated resolver: it takes only ElementIDs")
		}
		a.Redirect = "http://" + c.Host + "/" + u.ElementID()
	case c.Host != "":
		link := "http://" + c.Host + "/" + strings.NewReplacer("?", "%3F", "#", "%23").Replace(d.name.Key())
		a.Redirect = d.withComponents(withDirectives(link, asked))
	default:
		return nil, d.refuse(nomen.NoResult, "it is delegated to a resolver found by discovery, so the server cannot redirect to it")
	}
	if d.q.Explain {
		d.explain("%s delegates it to %s", d.authority.Prefix, a.Redirect)
	}
	return a, nil
}

// isRequest reports whether the element of the name is a reserved request such as "urn+p", which
// the resolver itself answers (draft of 1995, section 3.5). Suffixes and rules do not apply to it.
func (d *decision) isRequest() bool {
	return d.authority != nil && strings.HasPrefix(d.name.Key(), "urn:") &&
		strings.HasPrefix(d.authority.Prefix.Element(d.name), urn.ReservedPrefix)
}

// directives converts the question to directives by keyword (draft of 2012, section 2.3). It omits
// directives with default values. It returns nil if the question has components of RFC 8141,
// because the request then has these components instead of directives.
func (d *decision) directives(service nomen.Service) map[string]string {
	if d.q.R != "" || d.q.Q != "" || d.isRequest() {
		return nil
	}
	asked := map[string]string{}
	if service != nomen.I2L {
		asked["s"] = string(service)
	}
	if d.q.Component != "" {
		asked["c"] = d.q.Component
	}
	if service == nomen.IisI {
		asked["with"] = d.q.Other.String()
	}
	if !d.q.At.IsZero() {
		asked["at"] = d.q.At.UTC().Format(time.RFC3339Nano)
	}
	return asked
}

func withDirectives(link string, asked map[string]string) string {
	separator := "?"
	for _, keyword := range rule.Directives {
		value, ok := asked[keyword]
		switch {
		case !ok:
			continue
		case keyword == "with": // an ampersand would end the value
			value = url.QueryEscape(value)
		case keyword == "c":
			value = uri.EscapeQueryPart(value)
		}
		link += separator + keyword + "=" + value
		separator = "&"
	}
	return link
}

// withComponents appends the r-component and the q-component to a link that ends in a name. If the
// question has neither, it appends the plain query, provided that the authority permits this. It
// does not change a link that has a query or a fragment.
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
	if longer == link && d.q.Query != "" && d.policy.PassesQuery() {
		longer += "?" + d.q.Query
	}
	if u, err := uri.Parse(longer); err != nil {
		return link
	} else if _, has := u.Fragment(); has {
		return link
	}
	return longer
}

// ask sends the question to the resolver of the delegation, without the q-component and the query.
// This engine appends them to the locations in the answer.
func (d *decision) ask(to string) (*nomen.Answer, error) {
	shown := to
	if to == "" {
		shown = "the resolver found by discovery"
	}
	if d.q.Explain {
		d.explain("%s delegates it; asking %s", d.authority.Prefix, shown)
	}
	if d.q.Hops >= nomen.MaxHops {
		return nil, fmt.Errorf("resolve: %s: %w", d.name, nomen.ErrLoop)
	}
	if d.o.Ask == nil {
		return nil, d.refuse(nomen.NoResult, "it is delegated to "+shown+", which this service does not ask")
	}
	other, err := d.o.Ask(to)
	if err != nil {
		return nil, fmt.Errorf("resolve: %w: %s: %w", nomen.ErrUpstream, shown, err)
	}
	q := d.q
	q.Name, q.Subject, q.Service = d.name, uri.URI{}, d.service
	q.Default, q.Strict = "", false
	q.Q, q.Query = "", ""
	q.Hops++
	a, err := other.Resolve(d.ctx, q)
	if err != nil {
		return nil, d.passedOn(shown, err)
	}
	return d.adopt(a)
}

// passedOn converts an error of the resolver of the delegation. If the error is about the name,
// passedOn returns it for this name. Other errors are wrapped in [nomen.ErrUpstream].
func (d *decision) passedOn(shown string, err error) error {
	var e *nomen.Error
	if errors.As(err, &e) {
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

// adopt converts an answer from the resolver of the delegation to an answer of this engine.
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
		return nil, d.refuse(nomen.NoResult, "the delegated resolver returned no location that is allowed here")
	}
	return &own, nil
}

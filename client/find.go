package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
)

// ways yields whom to ask at a step: the resolver of the step before, else the
// one that the user named, else those that the name leads to.
func (c *Client) ways(ctx context.Context, s stop, q nomen.Question) iter.Seq2[way, error] {
	return func(yield func(way, error) bool) {
		switch {
		case s.way != nil:
			yield(s.way, nil)
		case c.via != nil:
			yield(c.via, nil)
		case c.o.Finder == nil:
			yield(c.directTo(s.subject, q))
		default:
			c.find(ctx, s, q, yield)
		}
	}
}

// find yields the ways of the Finder that offer what is asked.
func (c *Client) find(ctx context.Context, s stop, q nomen.Question, yield func(way, error) bool) {
	some := false
	for found, err := range c.o.Finder.Find(ctx, s.name) {
		some = true
		var w way
		if err == nil {
			c.tracef("%s: %s", found.How, wayText(found))
			w, err = c.wayOf(found, s, q)
		}
		if !yield(w, err) {
			return
		}
	}
	if !some && ctx.Err() == nil {
		_, err := c.directTo(s.subject, q)
		if err == nil {
			err = &RouteError{Name: s.spelling, Reason: "nothing is found that leads to it"}
		}
		yield(nil, err)
	}
}

// wayText tells where a way leads.
func wayText(w discover.Way) string {
	if w.URL != "" {
		return w.URL
	}
	return hostPort(w.Host, w.Port)
}

// wayOf returns the form in which to ask where a way leads. The error says why a
// question cannot be put there.
func (c *Client) wayOf(w discover.Way, s stop, q nomen.Question) (way, error) {
	if len(w.Services) > 0 && w.Kind != discover.Location && !offers(w.Services, q.Service) {
		return nil, &nomen.Error{
			Kind: nomen.NoResult, Name: s.spelling, Service: q.Service,
			Message: fmt.Sprintf("%s offers %v alone", wayText(w), w.Services),
		}
	}
	switch w.Kind {
	case discover.Authority:
		return c.authorityAt(w, s, q)
	case discover.THTTP, discover.Path:
		return parseURL(w.URL)
	case discover.Location:
		return location{w.URL, " " + strings.Join(w.Services, " ") + " "}, nil
	}
	return nil, &RouteError{Name: s.spelling, Reason: fmt.Sprintf("a way of the kind %q is not understood", w.Kind)}
}

// authorityAt returns the way to ask by the protocol of 1995 at the host of w: in the
// form that w names, else by the ElementID of a urn:dns name and the full name of others.
func (c *Client) authorityAt(w discover.Way, s stop, q nomen.Question) (way, error) {
	switch {
	case w.Form != "":
		return proxy{host: w.Host, port: w.Port, found: true, form: w.Form}, nil
	case s.name.NID() != "dns":
		return proxy{host: w.Host, port: w.Port, found: true, form: discover.FormFull}, nil
	}
	direct, err := c.directTo(s.subject, q)
	if err != nil {
		return nil, err
	}
	a := direct.(authority)
	a.host, a.port = w.Host, w.Port
	return a, nil
}

// offers reports whether a service is among those offered, or follows from one
// that is.
func offers(offered []string, s nomen.Service) bool {
	has := func(s nomen.Service) bool { return slices.Contains(offered, string(s)) }
	switch {
	case !s.Known(), has(s):
		return true
	case s == nomen.I2L, s == nomen.I2N, s == nomen.I2C, s == nomen.I2R:
		return has(s + "s")
	}
	return false
}

// A location is where a rule of the domain name system says that what is wanted
// is.
type location struct {
	url      string
	services string // whose results are there, each between spaces; "" for none: the resource is there
}

func (l location) key(about subject) string { return l.url + " " + about.name.Key() }

func (l location) asked(service nomen.Service) nomen.Service { return site{}.asked(service) }

// has reports whether the result of a service is at l, and can be read there: another
// URI than one of the web is itself what the rule has to say.
func (l location) has(s nomen.Service) bool {
	scheme, _, _ := strings.Cut(l.url, ":")
	return s != "" && strings.Contains(l.services, " "+string(s)+" ") && isWebScheme(strings.ToLower(scheme))
}

// ask reads the result of a service that is found at a location, or tells that
// the resource is there.
func (l location) ask(ctx context.Context, c *Client, at stop, q inquiry) (*reply, error) {
	if l.has(q.Service) {
		return c.getAbout(ctx, at, q, l.url, l.url)
	}
	return &reply{status: http.StatusSeeOther, header: http.Header{"Location": {l.url}}, public: true}, nil
}

func (l location) locates(s nomen.Service) bool { return !l.has(s) || wantsLocations(s) }

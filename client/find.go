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

// ways returns the resolvers to try for a hop. If the hop has a way, this is the only one.
// Otherwise, the resolver in [Options.Via] is used, or the Finder is asked.
func (c *Client) ways(ctx context.Context, s hop, q nomen.Question) iter.Seq2[way, error] {
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

// find yields the ways from the Finder. If a way does not offer the service, find yields an error
// for it.
func (c *Client) find(ctx context.Context, s hop, q nomen.Question, yield func(way, error) bool) {
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
			err = &RouteError{Name: s.spelling, Reason: "neither DNS nor a table names one"}
		}
		yield(nil, err)
	}
}

func wayText(w discover.Way) string {
	if w.URL != "" {
		return w.URL
	}
	return hostPort(w.Host, w.Port)
}

// wayOf returns the way to ask the resolver at w, or an error if the question cannot be asked
// there.
func (c *Client) wayOf(w discover.Way, s hop, q nomen.Question) (way, error) {
	if len(w.Services) > 0 && w.Kind != discover.Location && !offers(w.Services, q.Service) {
		return nil, &nomen.Error{
			Kind: nomen.NoResult, Name: s.spelling, Service: q.Service,
			Message: fmt.Sprintf("%s offers only %v", wayText(w), w.Services),
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
	return nil, &RouteError{Name: s.spelling, Reason: fmt.Sprintf("unsupported kind of way %q", w.Kind)}
}

// authorityAt returns the way to ask the host of w by the 1995 protocol. If w specifies no form of
// the name, the request has the ElementID of a urn:dns name and the full spelling of any other
// name.
func (c *Client) authorityAt(w discover.Way, s hop, q nomen.Question) (way, error) {
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

// A location is a URL that a NAPTR rule assigns to a resource or to the result of a service.
type location struct {
	url      string
	services string // services whose results are at the URL, with spaces around each; "" for the URL of the resource
}

func (l location) key(about subject) string { return l.url + " " + about.name.Key() }

func (l location) asked(service nomen.Service) nomen.Service { return site{}.asked(service) }

// has reports whether l is the URL of the result of a service. If the URI is not an http or https
// URL, the URI itself is the result.
func (l location) has(s nomen.Service) bool {
	scheme, _, _ := strings.Cut(l.url, ":")
	return s != "" && strings.Contains(l.services, " "+string(s)+" ") && isWebScheme(strings.ToLower(scheme))
}

// ask reads the result of a service at a location. If the location is that of the resource, the
// location itself is the answer.
func (l location) ask(ctx context.Context, c *Client, at hop, q inquiry) (*reply, error) {
	if l.has(q.Service) {
		return c.getAbout(ctx, at, q, l.url, l.url)
	}
	return &reply{status: http.StatusSeeOther, header: http.Header{"Location": {l.url}}, public: true}, nil
}

func (l location) locates(s nomen.Service) bool { return !l.has(s) || wantsLocations(s) }

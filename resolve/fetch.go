package resolve

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/nomen-project/nomen"
)

// Limits on I2R and I2Rs.
const (
	maxTried     = 3  // maximum number of locations that are tried for a resource
	maxResources = 16 // maximum number of resources in an answer
)

// resource returns the answer to the service I2R. It fetches the best location. If a fetch fails,
// it tries the next location.
func (d *decision) resource(a *nomen.Answer, c *choice) (*nomen.Answer, error) {
	d.depends.Unknown() // the answer depends on another server
	if len(a.Locations) == 0 {
		return nil, d.refuse(nomen.NoResult, "the name has no location")
	}
	c.order(a.Locations[1:])
	var failure error
	for i := range a.Locations[:min(len(a.Locations), maxTried)] {
		l := a.Locations[i]
		l.URL = d.passing(l.URL)
		r, err := d.o.Fetch(d.ctx, l.URL)
		if err == nil {
			if d.q.Explain {
				d.explain("fetched: %s", l.URL)
			}
			a.Locations, a.Metadata, a.Names, a.Resource = a.Locations[i:i+1], nil, nil, r
			a.Locations[0] = l
			return a, nil
		}
		if d.ctx.Err() != nil {
			return nil, d.ctx.Err()
		}
		if d.q.Explain {
			d.explain("not fetched: %s: %s", l.URL, err)
		}
		failure = fmt.Errorf("resolve: %w: %w", nomen.ErrUpstream, err)
	}
	return nil, failure
}

// resources returns the answer to the service I2Rs, which has the resources that the client accepts
// (RFC 2169, section 3.4). Each resource is fetched when its body is first read.
func (d *decision) resources(a *nomen.Answer, c *choice) *nomen.Answer {
	d.depends.Unknown() // other servers decide
	a.Metadata, a.Names = nil, nil
	a.Locations = slices.DeleteFunc(a.Locations, func(l nomen.Location) bool {
		return l.Type != "" && c.mediaQ(l.Type) <= unstated
	})
	a.Locations = a.Locations[:min(len(a.Locations), maxResources)]
	for i := range a.Locations {
		l := &a.Locations[i]
		l.URL = d.passing(l.URL)
		r := &nomen.Resource{Type: l.Type, Size: -1, URL: l.URL}
		r.Body = &lazy{ctx: d.ctx, fetch: d.o.Fetch, of: r}
		a.Resources = append(a.Resources, r)
	}
	return a
}

// A lazy is a body that is fetched when it is first read. The fetch also sets the attributes of the
// resource.
type lazy struct {
	ctx   context.Context // the context of the question, which must last until the body has been read
	fetch func(context.Context, string) (*nomen.Resource, error)
	of    *nomen.Resource
	body  io.ReadCloser
	err   error
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.body == nil && l.err == nil {
		l.open()
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.body.Read(p)
}

func (l *lazy) open() {
	r, err := l.fetch(l.ctx, l.of.URL)
	if err != nil {
		l.err = fmt.Errorf("resolve: %w: %w", nomen.ErrUpstream, err)
		return
	}
	l.body, l.of.Size = r.Body, r.Size
	l.of.Type = cmp.Or(r.Type, l.of.Type)
	l.of.URL = cmp.Or(r.URL, l.of.URL)
}

func (l *lazy) Close() error {
	if l.err == nil {
		l.err = io.ErrClosedPipe
	}
	if l.body == nil {
		return nil
	}
	return l.body.Close()
}

package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/name"
)

// A Report has the answer of each address of a resolver to the same question. All addresses of a
// resolver must know the same names and give the same answers (1995, 2.2.1: Y95-24).
type Report struct {
	Name    string
	Host    string // "host:port"
	Answers []Audited
}

// An Audited is the answer or the error from one address. Redirects are not followed: the answer
// then has Redirect set.
type Audited struct {
	Addr   netip.AddrPort
	Answer *nomen.Answer
	Err    error

	// Differs lists the parts in which the answer differs from the reference, which is the first
	// answer in the report that is about the name.
	Differs []string
}

// Agree reports whether all addresses have answered and all answers are the same.
func (r *Report) Agree() bool {
	return !slices.ContainsFunc(r.Answers, func(a Audited) bool { return a.Failed() || a.Differs != nil })
}

// Failed reports whether the address returned neither an answer nor an error about the name.
func (a Audited) Failed() bool { return a.Answer == nil && OnFailure(a.Err) }

// Audit sends a question to every address of the resolver in [Options.Via]. If Via is "", it sends
// the question to every address of the host in a urn:dns name. The report is sorted by address.
func (c *Client) Audit(ctx context.Context, q nomen.Question) (*Report, error) {
	s, q, err := subjectOf(q)
	if err != nil {
		return nil, err
	}
	if err := checkComponents(q); err != nil {
		return nil, err
	}
	at := hop{subject: s, guarded: c.o.Guard}
	e, messages, err := c.audited(ctx, &at, q)
	if err != nil {
		return nil, err
	}
	r := &Report{Name: s.spelling, Host: hostPort(e.host, e.port), Answers: make([]Audited, len(e.addrs))}
	slices.SortFunc(e.addrs, netip.Addr.Compare)
	var all sync.WaitGroup
	for i, a := range e.addrs {
		all.Go(func() {
			ap := netip.AddrPortFrom(a, e.port)
			leave, err := c.hosts.enter(ctx, e.host)
			if err != nil {
				r.Answers[i] = Audited{Addr: ap, Err: err}
				return
			}
			defer leave()
			r.Answers[i] = c.auditOne(ctx, ap, at, messages, q)
		})
	}
	all.Wait()
	r.compare()
	return r, ctx.Err()
}

// audited returns the endpoint to audit, and the possible forms of the request in the order in
// which to try them.
func (c *Client) audited(ctx context.Context, at *hop, q nomen.Question) (endpoint, []formed, error) {
	for w, err := range c.ways(ctx, *at, q) {
		at.way = w
		switch w := w.(type) {
		case authority:
			e, err := w.endpoint(ctx, c, *at)
			return e, []formed{{message: w.message(c, inquiry{Question: q})}}, err
		case proxy:
			e, err := w.endpoint(ctx, c, *at)
			if err != nil {
				return e, nil, err
			}
			all, err := w.requests(c, *at, inquiry{Question: q})
			return e, all, err
		}
		if err != nil {
			return endpoint{}, nil, err
		}
	}
	return endpoint{}, nil, &RouteError{Name: at.spelling, Reason: "only resolvers of the 1995 protocol can be audited address by address"}
}

func (c *Client) auditOne(ctx context.Context, ap netip.AddrPort, at hop, all []formed, q nomen.Question) Audited {
	out := Audited{Addr: ap}
	r, err := askEach(all, new(knownForms), func(m message) (*reply, error) {
		request, err := m.bytes()
		if err != nil {
			return nil, err
		}
		c.tracef("%s at %s, unencrypted: %s", addressOf(at.way), ap, m.line())
		return c.attempt(ctx, ap, at.guarded, request)
	})
	if err != nil {
		out.Err = err
		return out
	}
	j := resolution{client: c, question: q}
	next, a, err := j.read(at, r)
	switch {
	case err != nil:
		out.Err = err
	case a != nil:
		out.Answer = a
	default:
		out.Answer = &nomen.Answer{Service: q.Service, Name: at.name, Redirect: next.label()}
	}
	return out
}

// compare sets the differences of each answer from the reference (see [Audited.Differs]).
func (r *Report) compare() {
	first := slices.IndexFunc(r.Answers, func(a Audited) bool { return !a.Failed() })
	if first < 0 {
		return
	}
	for i := range r.Answers {
		if !r.Answers[i].Failed() {
			r.Answers[i].Differs = differences(r.Answers[first], r.Answers[i])
		}
	}
}

// differences returns the parts in which two answers are not equivalent. The order of locations and
// names does not matter (RFC 2483, 2).
func differences(a, b Audited) []string {
	if k, l := kindOf(a.Err), kindOf(b.Err); k != l {
		return []string{"result"}
	}
	x, y := said(a), said(b)
	var parts []string
	differs := func(part string, same bool) {
		if !same {
			parts = append(parts, part)
		}
	}
	differs("status", x.Status == y.Status)
	differs("body", x.Raw == nil && y.Raw == nil || x.Raw != nil && y.Raw != nil && x.Raw.Type == y.Raw.Type && bytes.Equal(x.Raw.Body, y.Raw.Body))
	differs("redirect", x.Redirect == y.Redirect)
	differs("locations", slices.Equal(sorted(x.Locations, byLocation), sorted(y.Locations, byLocation)))
	differs("metadata", maps.EqualFunc(x.Metadata, y.Metadata, slices.Equal[[]string]))
	differs("names", slices.Equal(sorted(x.Names, strings.Compare), sorted(y.Names, strings.Compare)))
	differs("reason", x.Reason == y.Reason)
	differs("successors", slices.Equal(sorted(x.Successors, byKey), sorted(y.Successors, byKey)))
	return parts
}

func said(a Audited) *nomen.Answer {
	var e *nomen.Error
	switch {
	case a.Answer != nil:
		return a.Answer
	case errors.As(a.Err, &e) && e.Answer != nil:
		return e.Answer
	}
	return &nomen.Answer{}
}

func kindOf(err error) nomen.Kind {
	var e *nomen.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}

func sorted[T any](s []T, compare func(a, b T) int) []T {
	return slices.SortedFunc(slices.Values(s), compare)
}

func byLocation(a, b nomen.Location) int {
	return cmp.Or(
		strings.Compare(a.URL, b.URL), strings.Compare(a.Lang, b.Lang), strings.Compare(a.Type, b.Type), strings.Compare(a.Rel, b.Rel),
		strings.Compare(a.Component, b.Component), strings.Compare(a.Country, b.Country), cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Note, b.Note),
	)
}

func byKey(a, b name.Name) int { return strings.Compare(a.Key(), b.Key()) }

var _ Finder = (*discover.Finder)(nil)

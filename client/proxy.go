package client

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/urn"
)

// A proxy is a resolver at HOST:PORT. It may answer for names of any kind (1995, 3.2: Y95-38). It
// may also be the resolver of only one authority, and then it may know only ElementIDs (1995, 3.3:
// Y95-30).
type proxy struct {
	host  string
	port  uint16
	found bool   // found by discovery, and not chosen by the user
	form  string // form of the name, see [discover.Way]; "" means to try the full name and then the ElementID
}

func (p proxy) key(s subject) string { return s.name.Key() }

func (p proxy) locates(s nomen.Service) bool {
	return s == nomen.I2L || s == nomen.I2Ls || !s.Known()
}

func (p proxy) asked(nomen.Service) nomen.Service { return nomen.I2C }

// ask sends the question in one form of the name after another, until the resolver understands the
// request.
func (p proxy) ask(ctx context.Context, c *Client, s hop, q inquiry) (*reply, error) {
	e, err := p.endpoint(ctx, c, s)
	if err != nil {
		return nil, err
	}
	all, err := p.requests(c, s, q)
	if err != nil {
		return nil, err
	}
	return askEach(all, &c.forms, func(m message) (*reply, error) { return c.exchangeAbout(ctx, e, m, s) })
}

func (p proxy) endpoint(ctx context.Context, c *Client, s hop) (endpoint, error) {
	addrs, err := discover.HostAddresses(ctx, c.o.DNS, p.host)
	if err != nil {
		return endpoint{}, &UnreachableError{Host: hostPort(p.host, p.port), Tried: []Attempt{{Err: err}}}
	}
	return endpoint{p.host, p.port, addrs, p.found && s.guarded}, nil
}

type formed struct {
	message
	form string // see [discover.Way]
	of   string // the resolver, with the scheme and authority of the name; "" if the name has no ElementID
}

// requests returns the messages to try, in this order.
func (p proxy) requests(c *Client, s hop, q inquiry) ([]formed, error) {
	suffix, err := suffixOf(q.Question, directive{"c", q.Component}, directive{"at", timeOf(q.At)})
	if err != nil {
		return nil, err
	}
	accept := c.o.Accept
	switch {
	case accept == "" && asksAuthorities(q.Question):
		accept = lines
	case accept == "" && q.Service.Known():
		accept = richest // without Accept, a proxy may send any format
	}
	authority, element, fields := elementOf(s.subject, q.Question)
	of := hostPort(p.host, p.port) + " " + authority
	full := formed{c.message(s.spelling, suffix, q, accept), discover.FormFull, of}
	short := formed{c.message(element, spelled(directive{"at", timeOf(q.At)}), q, accept), discover.FormElement, of}
	if host, ok := strings.CutPrefix(authority, "dns:"); ok {
		short.host = host // selects one of several authorities at an address (A95-3)
	}
	switch form := cmp.Or(p.form, c.forms.form(of)); {
	case form == discover.FormElement && !fields:
		return nil, &RouteError{Name: s.spelling, Reason: "the resolver takes only ElementIDs, so the name must be urn:SCHEME:AUTHORITY:ELEMENT without components"}
	case form == discover.FormElement:
		return []formed{short}, nil
	case form == discover.FormFull || !fields || c.o.Simple:
		return []formed{full}, nil
	}
	return []formed{full, short}, nil
}

// knownForms caches the form of names that a resolver understands for an authority. Later requests
// to this resolver use this form.
type knownForms struct {
	mu    sync.Mutex
	forms map[string]string
}

const maxForms = 10_000

func (t *knownForms) form(of string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms[of]
}

func (t *knownForms) learn(m formed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forms == nil {
		t.forms = map[string]string{}
	}
	if len(t.forms) < maxForms {
		t.forms[m.of] = m.form
	}
}

// askEach sends requests until the resolver understands one, and returns the reply to this request.
// If the resolver understands none of them, askEach returns the first reply with the status 404. If
// no reply has this status, it returns the first reply.
func askEach(all []formed, known *knownForms, send func(message) (*reply, error)) (*reply, error) {
	var best *reply
	var failed error
	for i, m := range all {
		r, err := send(m.message)
		switch {
		case err != nil && i+1 < len(all) && failedOn(err):
			failed = err
		case err != nil && best != nil:
			return best, nil
		case err != nil:
			return nil, errors.Join(failed, err)
		case len(all) == 1:
			return r, nil
		case r.understood():
			known.learn(m)
			return r, nil
		case best == nil || best.status != http.StatusNotFound && r.status == http.StatusNotFound:
			best = r
		}
	}
	return best, nil
}

// understood reports whether the server understood the request target. A reply shows this if it
// answers or rejects the name itself.
func (r *reply) understood() bool {
	for k := nomen.Malformed; k <= nomen.Gone; k++ {
		if r.reason == k.Phrase() {
			return true
		}
	}
	return !slices.Contains([]int{
		http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusMisdirectedRequest,
	}, r.status) || r.problem().Err() != nil
}

func failedOn(err error) bool {
	var status *StatusError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &status) && (status.Code == http.StatusInternalServerError || status.Code == http.StatusNotImplemented)
}

// elementOf returns the scheme and authority of s, such as "dns:example.org", and the ElementID as
// spelled (1995, 2). It returns false if the name has no ElementID, or if the question has
// components, which cannot follow an ElementID (Y95-08).
func elementOf(s subject, q nomen.Question) (of, element string, ok bool) {
	if s.name.Scheme() != "urn" {
		return "", "", false
	}
	u, err := parse1995(s.spelling)
	if err != nil {
		return "", "", false
	}
	if of = strings.ToLower(u.SchemeID()) + ":"; of == "dns:" {
		of += strings.ToLower(u.AuthorityID())
	} else {
		of += u.AuthorityID()
	}
	return of, u.ElementID(), components(q) == "" && q.Component == ""
}

// parse1995 parses a URN of four fields. It escapes the tilde, which only RFC 8141 allows.
func parse1995(s string) (urn.URN, error) {
	u, err := urn.Draft1995.Parse(s)
	if err != nil {
		u, err = urn.Draft1995.Parse(strings.ReplaceAll(s, "~", "%7E"))
	}
	return u, err
}

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

// A proxy is a resolver that was named by HOST:PORT. It answers for names of any kind,
// or asks on (1995, 3.2: Y95-38); or it is the resolver of the name's authority, and
// knows ElementIDs only (3.3: Y95-30).
type proxy struct {
	host  string
	port  uint16
	found bool   // by somebody else than the user
	form  string // of [discover.Way]; "": the full name, then the ElementID
}

func (p proxy) key(s subject) string { return s.name.Key() }

func (p proxy) locates(s nomen.Service) bool {
	return s == nomen.I2L || s == nomen.I2Ls || !s.Known()
}

func (p proxy) asked(nomen.Service) nomen.Service { return nomen.I2C }

// ask sends the question in each form that the other side may understand, until it
// does.
func (p proxy) ask(ctx context.Context, c *Client, s stop, q inquiry) (*reply, error) {
	e, err := p.endpoint(ctx, c, s)
	if err != nil {
		return nil, err
	}
	all, err := p.requests(c, s, q)
	if err != nil {
		return nil, err
	}
	return askEach(all, &c.takes, func(m message) (*reply, error) { return c.exchangeAbout(ctx, e, m, s) })
}

func (p proxy) endpoint(ctx context.Context, c *Client, s stop) (endpoint, error) {
	addrs, err := discover.HostAddresses(ctx, c.o.DNS, p.host)
	if err != nil {
		return endpoint{}, &UnreachableError{Host: hostPort(p.host, p.port), Tried: []Attempt{{Err: err}}}
	}
	return endpoint{p.host, p.port, addrs, p.found && s.guarded}, nil
}

// A formed message is one with the form in which it spells the name.
type formed struct {
	message
	form string // of [discover.Way]
	of   string // the resolver, and scheme and authority of the name; "" for no such name
}

// requests returns the messages to send, one after the other.
func (p proxy) requests(c *Client, s stop, q inquiry) ([]formed, error) {
	suffix, err := suffixOf(q.Question, directive{"c", q.Component}, directive{"at", timeOf(q.At)})
	if err != nil {
		return nil, err
	}
	accept := c.o.Accept
	switch {
	case accept == "" && asksAuthorities(q.Question):
		accept = lines
	case accept == "" && q.Service.Known():
		accept = richest // a description: what a proxy answers by default is its choice
	}
	authority, element, fields := elementOf(s.subject, q.Question)
	of := hostPort(p.host, p.port) + " " + authority
	full := formed{c.message(s.spelling, suffix, q, accept), discover.FormFull, of}
	short := formed{c.message(element, spelled(directive{"at", timeOf(q.At)}), q, accept), discover.FormElement, of}
	if host, ok := strings.CutPrefix(authority, "dns:"); ok {
		short.host = host // which of the authorities at an address is meant (A95-3)
	}
	switch form := cmp.Or(p.form, c.takes.form(of)); {
	case form == discover.FormElement && !fields:
		return nil, &RouteError{Name: s.spelling, Reason: "the resolver is asked for ElementIDs, and this is no name of the kind urn:SCHEME:AUTHORITY:ELEMENT without components"}
	case form == discover.FormElement:
		return []formed{short}, nil
	case form == discover.FormFull || !fields || c.o.Simple:
		return []formed{full}, nil
	}
	return []formed{full, short}, nil
}

// A takes remembers in which form resolvers took the names of an authority, so that
// the other is not tried for each of them.
type takes struct {
	mu    sync.Mutex
	forms map[string]string // by formed.of
}

// maxTakes bounds what is remembered.
const maxTakes = 10_000

// form returns the form; "" if it is not known yet.
func (t *takes) form(of string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms[of]
}

func (t *takes) learn(m formed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forms == nil {
		t.forms = map[string]string{}
	}
	if len(t.forms) < maxTakes {
		t.forms[m.of] = m.form
	}
}

// askEach sends requests until one is understood. If none is, the reply is the one that
// says most: that the name is not known, or else what the first one brought.
func askEach(all []formed, known *takes, send func(message) (*reply, error)) (*reply, error) {
	var best *reply
	var failed error
	for i, m := range all {
		r, err := send(m.message)
		switch {
		case err != nil && i+1 < len(all) && garbles(err):
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

// understood reports whether a server knew what was meant by the target of a request:
// its reply is an answer, or a refusal that is about the name.
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

// garbles reports whether a server failed by what it was sent, or said that it did.
func garbles(err error) bool {
	var status *StatusError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &status) && (status.Code == http.StatusInternalServerError || status.Code == http.StatusNotImplemented)
}

// elementOf returns scheme and authority of s, "dns:example.org", and its ElementID as
// it is spelled (1995, 2). It is false for other names, and where components follow,
// for which an ElementID leaves no room (Y95-08).
func elementOf(s subject, q nomen.Question) (of, element string, ok bool) {
	if s.name.Scheme() != "urn" {
		return "", "", false
	}
	u, err := parse1995(s.spelling)
	if err != nil {
		return "", "", false
	}
	if of = strings.ToLower(u.SchemeID()) + ":"; of == "dns:" { // whose authorities are hosts
		of += strings.ToLower(u.AuthorityID())
	} else {
		of += u.AuthorityID()
	}
	return of, u.ElementID(), components(q) == "" && q.Component == ""
}

// parse1995 parses a URN of four fields. A tilde, which RFC 8141 allows, is escaped.
func parse1995(s string) (urn.URN, error) {
	u, err := urn.Draft1995.Parse(s)
	if err != nil {
		u, err = urn.Draft1995.Parse(strings.ReplaceAll(s, "~", "%7E"))
	}
	return u, err
}

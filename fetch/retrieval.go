package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

// A hop is a URL to retrieve.
type hop struct {
	uri     uri.URI
	trusted bool     // the user has typed it
	chain   []string // the URLs up to this one
}

// A retrieval follows URLs until it finds an object. It is like [plan.Retriever.Follow], but it
// distinguishes trusted from untrusted URLs.
type retrieval struct {
	fetcher *Fetcher
	request Request
	watch   *watch
	seen    map[uri.URI]bool

	hop      hop
	own      netip.AddrPort // the address of the user's own URL
	login    login
	fragment string
	object   *Object // found in the last step
}

// A login has the credentials for an origin.
type login struct {
	origin         string
	user, password string
}

// A SessionError means that a URL opens an interactive session. It wraps [plan.ErrInteractive].
type SessionError struct {
	Session plan.Session
	Trusted bool // the user has typed the URL
	Err     error
}

func (e *SessionError) Error() string { return e.Err.Error() }

func (e *SessionError) Unwrap() error { return e.Err }

// travel retrieves URLs until it finds an object. If a name or redirect leads to several URLs,
// travel tries them in order.
func (j *retrieval) travel(ctx context.Context, start uri.URI) (*Object, error) {
	retriever := j.retriever()
	waiting := []hop{{uri: start, trusted: j.request.Trusted, chain: []string{start.Redacted()}}}
	var first error
	for taken := 0; len(waiting) > 0; {
		j.hop, waiting = waiting[0], waiting[1:]
		key := j.hop.uri.WithoutFragment()
		most := max(j.fetcher.o.MaxRedirects, 0)
		if loop := j.seen[key]; loop || taken > most {
			first = firstOf(first, &RedirectError{Chain: j.hop.chain, Loop: loop})
			if loop {
				continue
			}
			return nil, first
		}
		j.seen[key] = true
		taken++
		out, err := j.step(ctx, &retriever)
		switch {
		case ctx.Err() != nil:
			return nil, firstOf(err, ctx.Err())
		case err != nil:
			j.fetcher.tracef("%s: %v", j.hop.uri.Redacted(), err)
			first = firstOf(first, err)
		case out.Resource != nil:
			return j.arrive(out.Resource)
		}
		waiting = slices.Concat(j.onward(out.Locators), waiting)
	}
	return nil, first
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *retrieval) step(ctx context.Context, r *plan.Retriever) (plan.Outcome, error) {
	if err := j.mayFollow(j.hop.uri); err != nil {
		return plan.Outcome{}, err
	}
	if fragment, ok := j.hop.uri.Fragment(); ok {
		j.fragment = fragment
	}
	out, err := r.Retrieve(ctx, j.hop.uri)
	var session *plan.InteractiveError
	if errors.As(err, &session) {
		err = &SessionError{Session: session.Session, Trusted: j.hop.trusted, Err: err}
	}
	return out, err
}

// onward returns hops for the URLs to which the current hop redirects. They are not trusted.
func (j *retrieval) onward(locators []uri.URI) []hop {
	hops := make([]hop, 0, len(locators))
	for _, u := range locators {
		j.fetcher.tracef("%s redirects to %s", j.hop.uri.Redacted(), u.Redacted())
		hops = append(hops, hop{uri: u, chain: append(slices.Clip(slices.Clone(j.hop.chain)), u.Redacted())})
	}
	return hops
}

// arrive sets the remaining fields of the retrieved object, and limits the body.
func (j *retrieval) arrive(r *plan.Resource) (*Object, error) {
	o := j.object
	if o == nil { // from a step of another package
		o = &Object{Resource: nomen.Resource{Body: r.Body, Size: -1}}
	}
	o.URL, o.Retrieved, o.Fragment, o.Chain = r.URI.Redacted(), r.Retrieved, j.fragment, j.hop.chain
	if o.Type == "" {
		o.Type = r.Format
	}
	if o.Type == "" {
		o.Type = "application/octet-stream"
	}
	if err := j.bound(o); err != nil {
		o.Body.Close()
		return nil, err
	}
	return o, nil
}

func (j *retrieval) found(o *Object) (plan.Outcome, error) {
	j.object = o
	return plan.Outcome{Resource: &plan.Resource{Format: o.Type, Body: o.Body}}, nil
}

func (j *retrieval) retriever() plan.Retriever {
	f := j.fetcher
	steps := map[string]plan.Step{
		"http": j.web, "https": j.web, "ftp": j.ftp, "gopher": j.gopher,
		"news": j.news, "snews": j.news, "nntp": j.news, "whois": j.whois,
		"data": j.data, "file": j.file, "afs": j.file,
	}
	if f.o.Resolver != nil || f.o.Guarded != nil {
		for _, name := range pid.Resolved() {
			steps[name] = j.name
		}
	}
	for name, step := range steps {
		steps[name] = j.checked(step)
	}
	return plan.Retriever{
		Client: f.o.Client, Steps: steps, Local: f.o.Local, Now: f.o.Now,
		Gateways: f.o.Gateways, ProposedGateways: f.o.ProposedGateways,
	}
}

// checked wraps a step. If the request is to a gateway, it returns an error unless the scheme of
// the gateway is allowed. A gateway that the user has configured is trusted.
func (j *retrieval) checked(step plan.Step) plan.Step {
	return func(ctx context.Context, r plan.Request) (plan.Outcome, error) {
		j.object = nil
		if name, _ := r.URI.Scheme(); r.URI != j.hop.uri.WithoutFragment() {
			if !j.fetcher.allows(name) {
				return plan.Outcome{}, j.refuse(r.URI, "the scheme "+strings.ToLower(name)+" of the gateway is not allowed", nil)
			}
			j.fetcher.tracef("%s through the gateway %s", j.hop.uri.Redacted(), r.URI.Redacted())
			_, configured, _ := j.fetcher.o.Gateways.Locator(j.hop.uri)
			j.hop.trusted = j.hop.trusted || configured
		}
		j.watch.resume()
		defer j.watch.pause()
		return step(ctx, r)
	}
}

func (j *retrieval) failed(err error) error {
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		return j.refuse(j.hop.uri, refused.Why, refused.Err)
	case isOurs(err): // it already names the URL
		return err
	}
	return fmt.Errorf("fetch: %s: %w", j.hop.uri.Redacted(), err)
}

func (j *retrieval) refuse(u uri.URI, why string, cause error) error {
	return &RefusedError{URL: u.Redacted(), Why: why, Err: cause}
}

// mayFollow returns an error if retrieving a URL is not allowed. The rules for untrusted URLs are
// stricter.
func (j *retrieval) mayFollow(u uri.URI) error {
	name, ok := u.Scheme()
	if !ok {
		return fmt.Errorf("fetch: %q is not an absolute locator: %w", u.Redacted(), plan.ErrNotLocator)
	}
	known, _ := extra.Catalogue().Lookup(name)
	switch {
	case known.Danger != "":
		return j.refuse(u, known.Danger, nil)
	case !j.fetcher.allows(name):
		return j.refuse(u, "the scheme "+strings.ToLower(name)+" is not allowed", nil)
	case j.hop.trusted:
		return nil
	case known.Name == "file", known.Name == "afs":
		return j.refuse(u, "an untrusted locator cannot open local files", nil)
	case len(j.hop.chain) > 1: // another server has led to it
		if err := location.CheckURI(u); err != nil {
			return j.refuse(u, err.Error(), nil)
		}
	}
	if _, ok := u.Userinfo(); ok && !known.Interactive { // an untrusted URL must not log the user in
		return j.refuse(u, "an untrusted locator cannot contain credentials", nil)
	}
	if port, ok := u.Port(); ok && port != known.DefaultPort && isBadPort(port) {
		return j.refuse(u, "port "+port+" is reserved for another protocol", nil)
	}
	return nil
}

// badPorts returns the ports of protocols whose servers could interpret a request of another
// protocol as commands (WHATWG Fetch, Port blocking).
func badPorts() []uint16 {
	return []uint16{
		0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
		113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
		554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
		6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
	}
}

func isBadPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port != "" && (err != nil || slices.Contains(badPorts(), uint16(n)))
}

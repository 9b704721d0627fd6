package server

import (
	"context"
	"net/netip"
	"strings"
	"time"
	"unicode"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A form is a kind of request.
type form uint8

const (
	formOther   form = iota
	formElement      // the protocol of 1995
	formWeb          // a path with a name
	formTHTTP        // RFC 2169
	formPage         // neither a name nor an element
	formList         // the ElementIDs of an authority
	formBatch        // a list of names
	formDialect      // the protocol of another identifier service
	forms            // number of forms
)

func (f form) String() string {
	return [...]string{"other", "1995", "web", "thttp", "page", "list", "batch", "dialect"}[f]
}

// Forms returns the names of forms with which a server calls [Metrics].Observe.
func Forms() []string {
	all := make([]string, forms)
	for f := range all {
		all[f] = form(f).String()
	}
	return all
}

type parsedTarget struct {
	form      form
	bare      bool             // the target has no leading slash
	name      name.Name        // zero for pages, reserved requests and URIs that are not names
	whole     name.Name        // the name including its query, if a record can have such a name (see wholeName); otherwise zero
	subject   uri.URI          // the URI in the request, as spelled; only for THTTP, and if passesRest is true
	authority *store.Authority // authority of the name, or otherwise of the host; nil if unknown
	elsewhere bool             // another resolver answers for the name, so this server has no history of the name
	reserved  string           // the element of a reserved request
	path      string           // for a page: its path with the query
	query     query
	service   nomen.Service // expected service of the answer, set by interpreted

	byLocation     bool          // the request is about the names that have the subject as a location
	unknownService nomen.Service // for THTTP: the requested service if it is not supported
}

// A requestContext contains what the meaning of a target depends on, such as the host and the
// authorities.
type requestContext struct {
	set       *store.AuthoritySet
	host      string
	local     netip.AddrPort
	mount     string
	secure    bool    // received over TLS
	anyOrigin bool    // do not check the ports and schemes of the hosts of this server
	own       *Server // the server, to recognize its hosts
}

func (s *Server) contextOf(r *request, set *store.AuthoritySet) requestContext {
	return requestContext{set: set, host: r.host, local: r.local, mount: r.mount, secure: r.secure, anyOrigin: r.proxied && s.forward == nil, own: s}
}

// A parsedRequest is the result of parsing the target of a request. It must not be changed; callers
// get copies of the parsed target.
type parsedRequest struct {
	set    *store.AuthoritySet
	since  time.Time // since when the authorities were stale, if they were (see store.Staleness)
	target parsedTarget
	err    error // the error that [requestContext.read] returned
}

// parse parses the target of a request, or returns the result of an earlier call. The error about
// an invalid target is in the result. The error that parse returns is a failure of the store.
func (s *Server) parse(ctx context.Context, r *request) (*parsedRequest, error) {
	stale := store.StalenessOf(ctx)
	if r.parsed != nil {
		stale.Note(r.parsed.since)
		return r.parsed, nil
	}
	set, err := s.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	r.parsedOnce = parsedRequest{set: set, since: stale.Since()}
	r.parsedOnce.target, r.parsedOnce.err = s.contextOf(r, set).read(r.target)
	r.parsed = &r.parsedOnce
	return r.parsed, nil
}

// authority returns the authority for a request that names no authority. This is the authority of
// the Host field, the authority of the address, or the default authority. The error says that the
// Host field names another server, for which the default authority does not apply (draft of 1995:
// A95-3, Y95-21, Y95-37).
func (p requestContext) authority() (*store.Authority, error) {
	if a := p.set.Meant(p.host, p.local.Addr()); a != nil {
		return a, nil
	}
	a := p.set.At(p.host, p.local.Addr())
	if a != nil && p.own.hostOwner(p.set, p.host, p.local.Addr()) == hostOther {
		return nil, errMisdirected
	}
	return a, nil
}

// read parses a target. The error is a [*nomen.Error], errMisdirected or errForOthers.
func (p requestContext) read(target string) (parsedTarget, error) {
	if host, path, ok := absoluteForm(target); ok {
		return p.readAbsolute(target, host, path)
	}
	if path, ok := strings.CutPrefix(target, "/"); ok {
		return p.readPath(path)
	}
	return p.readBare(target)
}

// absoluteForm splits a target in absolute form, "http://HOST/path" (RFC 9112, 3.2.2).
func absoluteForm(target string) (host, path string, ok bool) {
	i := strings.Index(target, "://")
	if i < 0 || !strings.EqualFold(target[:i], "http") && !strings.EqualFold(target[:i], "https") {
		return "", "", false
	}
	rest := target[i+len("://"):]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		return rest, "/", true
	}
	if rest[end] != '/' {
		return rest[:end], "/" + rest[end:], true
	}
	return rest[:end], rest[end:], true
}

// readAbsolute parses a target in absolute form: a URL of this server, or a URL that is a name of
// an authority here. The error for other URLs is errForOthers (RFC 9110, 7.4).
func (p requestContext) readAbsolute(target, host, path string) (parsedTarget, error) {
	if path, ok := p.ownPath(target, host, path); ok {
		p.host = host
		return p.readPath(path[1:])
	}
	spelling, q, _ := strings.Cut(target, "?")
	if n, err := name.Parse(spelling); err == nil {
		if a := p.set.Of(n); a != nil {
			of := parsedTarget{form: formWeb, name: n, authority: a}
			of.takeQuery(q)
			return of, nil
		}
	}
	return parsedTarget{}, errForOthers
}

// ownPath returns the path of a target in absolute form, without the path at which this server is
// mounted. It returns false if the target is not a URL of this server.
func (p requestContext) ownPath(target, host, path string) (string, bool) {
	scheme, _, _ := strings.Cut(target, ":")
	if p.own.hostOwner(p.set, host, p.local.Addr()) != hostOurs || !p.isOwnOrigin(strings.ToLower(scheme), host) {
		return "", false
	}
	if below, ok := strings.CutPrefix(path, p.root(host)); ok && strings.HasPrefix(below, "/") {
		path = below
	}
	return path, true
}

// root returns the path at which this server is mounted. For the host of the public URL, this is
// the path of the public URL.
func (p requestContext) root(host string) string {
	if p.mount == "" && p.own.publicPath != "" && store.CanonicalHost(host) == p.own.publicHost {
		return p.own.publicPath
	}
	return p.mount
}

func (p requestContext) readPath(path string) (parsedTarget, error) {
	rest, q, hasQuery := strings.Cut(path, "?")
	switch {
	case isPage(rest):
		return parsedTarget{form: formPage, path: "/" + path}, nil
	case ascii.HasPrefix(rest, thttpPath):
		return p.readTHTTP(rest[len(thttpPath):], q, hasQuery)
	case hasQuery && isRootTHTTP(rest, q):
		return p.readTHTTP(rest, q, true)
	}
	a, err := p.readSubject(adminapi.UnescapeName(rest), false)
	a.takeQuery(q)
	return a, err
}

// takeQuery parses the query after a name. For a web name it also sets a.whole, because the name
// with its query can have a record of its own.
func (a *parsedTarget) takeQuery(q string) {
	a.query, _ = readQuery(q)
	a.whole = wholeName(a.name, q)
}

// wholeName returns a web name with its query. It returns the zero Name if n is not a web name, or
// if the query is empty or invalid.
func wholeName(n name.Name, q string) name.Name {
	if q == "" || !isURL(n.Key()) {
		return name.Name{}
	}
	if q = plainQuery(q); q == "" {
		return name.Name{}
	}
	whole, err := name.Parse(n.Key() + "?" + q)
	if err != nil {
		return name.Name{}
	}
	return whole
}

// isPage reports whether a path without its leading slash belongs to a page. Pages take precedence
// over elements.
func isPage(path string) bool {
	switch path {
	case "", "-", "robots.txt", "favicon.ico":
		return true
	}
	return strings.HasPrefix(path, "-/") || strings.HasPrefix(path, ".well-known/")
}

// readBare parses a target without a leading slash, as in the protocol of 1995. It is an element or
// a URN.
func (p requestContext) readBare(target string) (parsedTarget, error) {
	rest, q, hasQuery := strings.Cut(target, "?")
	a, err := p.readSubject(rest, true)
	a.bare = true
	if err != nil || !hasQuery {
		return a, err
	}
	var ok bool
	if a.query, ok = readQuery(q); !ok {
		return a, &nomen.Error{ // "?" is reserved (draft of 1995: Y95-08)
			Kind: nomen.Malformed, Name: target, Offset: len(rest), Rule: "ElementID",
			Message: `"?" is reserved: escape it as %3F, unless the directives s= and c= or components of RFC 8141 follow`,
		}
	}
	return a, nil
}

func (p requestContext) readSubject(s string, bare bool) (parsedTarget, error) {
	if strings.HasPrefix(s, urn.ReservedPrefix) {
		a := parsedTarget{form: formElement, bare: bare, reserved: s}
		var err error
		a.authority, err = p.authority()
		return a, err
	}
	here := p.set.Host(p.host)
	if a, ok, err := p.fullName(s, bare, here != nil); ok {
		return a, err
	}
	if a, ok := p.webName(s, bare, here); ok {
		return a, nil
	}
	return p.element(s, bare)
}

// fullName parses a name of any scheme. It returns false if s is an element. These are elements:
//
//   - a string without a scheme
//   - a string with an unknown scheme, unless an authority here covers it as a name
//   - an invalid name, if the host of the request belongs to an authority (hostHasAuthority)
//
// A string that begins with "urn:" is always a name.
func (p requestContext) fullName(s string, bare, hostHasAuthority bool) (parsedTarget, bool, error) {
	scheme, ok := schemeOf(s)
	if !ok {
		return parsedTarget{}, false, nil
	}
	n, err := p.parse(s, bare)
	switch {
	case scheme == "urn":
	case err != nil && hostHasAuthority, !isNameScheme(scheme) && (err != nil || p.set.Of(n) == nil):
		return parsedTarget{}, false, nil
	}
	a := parsedTarget{form: formWeb, name: n, authority: p.set.Of(n)}
	if bare {
		a.form = formElement
	}
	if err != nil {
		return a, true, question.Malformed(s, 0, err)
	}
	return reservedName(a.spelled(s), s), true, nil
}

// passesRest reports whether the answer depends on the spelling of the name. This is so for ARKs of
// an authority with [store.SuffixAppend]. The text after the registered ARK is then appended to the
// locations, including its hyphens.
func (a parsedTarget) passesRest() bool {
	return a.authority != nil && a.authority.Suffix == store.SuffixAppend && a.name.Scheme() == "ark"
}

func (a parsedTarget) spelled(s string) parsedTarget {
	if a.passesRest() {
		a.subject, _ = uri.Parse(s)
	}
	return a
}

// parse parses a name. If a name in a path has characters that cannot be in a URI, parse escapes
// them and tries again.
func (p requestContext) parse(s string, bare bool) (name.Name, error) {
	n, err := name.Parse(s)
	if err == nil || bare || strings.ContainsFunc(s, unicode.IsControl) {
		return n, err
	}
	if again, second := name.Parse(question.EscapeExcluded(s)); second == nil {
		return again, nil
	}
	return n, err
}

// reservedName converts a full name to a reserved request if the element of the name is a reserved
// request (draft of 1995, 2.3). If the element becomes a reserved request only by unescaping, the
// result is an unknown request.
func reservedName(a parsedTarget, spelling string) parsedTarget {
	element := ""
	if a.authority != nil {
		element = a.authority.Prefix.Element(a.name)
	} else if u, err := urn.Draft1995.Parse(a.name.Key()); err == nil {
		element = u.ElementID()
	}
	if !strings.HasPrefix(element, urn.ReservedPrefix) {
		return a
	}
	a.reserved = urn.ReservedPrefix
	if strings.HasSuffix(spelling, element) {
		a.reserved = element
	}
	a.form = formElement
	return a
}

// similarRequest returns the reserved request, such as urn+m, that the client probably meant when
// it requested a name, or "". In a namespace with several delimiters, it considers only the text
// directly after the prefix, because text after a later delimiter can be part of an assigned name
// (draft of 1995, 2.3: Y95-09).
func (a parsedTarget) similarRequest() string {
	if a.authority == nil || a.name.IsZero() {
		return ""
	}
	prefix := a.authority.Prefix
	element := prefix.Element(a.name)
	if element == "" || prefix.String()+element != a.name.Key() || !isRequest(element[1:]) {
		return ""
	}
	return prefix.Spell(element[1:])
}

func isRequest(element string) bool {
	switch element {
	case "urn+m", "urn+a", "urn+c", "urn+p":
		return true
	}
	return false
}

// webName returns the URL of the request as a name, if an authority with web names covers it. It
// returns false if the host belongs to an authority whose names are not http or https URLs.
func (p requestContext) webName(path string, bare bool, here *store.Authority) (parsedTarget, bool) {
	if bare || p.host == "" || here != nil && !isWeb(here) {
		return parsedTarget{}, false
	}
	for _, scheme := range []string{"https", "http"} {
		n, err := p.parse(scheme+"://"+store.CanonicalHost(p.host)+p.root(p.host)+"/"+path, false)
		if err != nil {
			continue
		}
		if a := p.set.Of(n); a != nil && isWeb(a) {
			return parsedTarget{form: formWeb, name: n, authority: a}, true
		}
	}
	return parsedTarget{}, false
}

func isWeb(a *store.Authority) bool { return strings.HasPrefix(a.Prefix.String(), "http") }

// element parses the target as an ElementID of the authority of the request.
func (p requestContext) element(s string, bare bool) (parsedTarget, error) {
	a := parsedTarget{form: formElement, bare: bare}
	var err error
	if a.authority, err = p.authority(); err != nil {
		return a, err
	}
	if a.authority == nil {
		return a, &nomen.Error{
			Kind: nomen.Unknown, Name: s,
			Message: "no naming authority at this host; use a full name including its scheme, such as urn:",
		}
	}
	prefix := a.authority.Prefix
	n, err := prefix.Join(s)
	if err != nil && !bare {
		if again, second := prefix.Join(question.EscapeExcluded(s)); second == nil {
			n, err = again, nil
		}
	}
	if err != nil {
		return a, question.Malformed(s, len(prefix.Spell(s))-len(s), err)
	}
	a.name = n
	if decides := p.set.Of(n); decides != nil {
		a.authority = decides
	}
	return a.spelled(prefix.Spell(s)), nil
}

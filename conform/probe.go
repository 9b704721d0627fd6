package conform

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A form is the way in which an ElementID is written in a request target.
type form string

const (
	formBare form = "bare" // alb002
	formURN  form = "urn"  // urn:dns:example.com:alb002
	formPath form = "path" // /alb002
)

// A probe holds the connection settings and the state of one call of [Run].
type probe struct {
	ctx context.Context
	o   Options
	t   target
	d   dialer

	form      form
	host      string    // Host field of 1995 requests; may be ""
	bare      *response // the response to the bare ElementID, if that form failed
	authority string    // prefix of the names; "" if unknown
	delimiter string    // between authority and element
	elements  []string
	good      *response // the response to the request for the first element

	memory map[string]remembered
	used   []Exchange // the exchanges of the present case
}

type remembered struct {
	resp     *response
	exchange Exchange
}

// ask sends a request and returns the response. If the same request was sent before, ask returns
// the remembered response.
func (p *probe) ask(r request) *response {
	key := string(r.bytes())
	known, ok := p.memory[key]
	if !ok {
		resp, e, _ := p.d.send(p.ctx, r)
		known = remembered{resp, e}
		p.memory[key] = known
	}
	p.used = append(p.used, known.exchange)
	return known.resp
}

// again is like ask, but always sends the request.
func (p *probe) again(r request) *response {
	resp, e, _ := p.d.send(p.ctx, r)
	p.used = append(p.used, e)
	return resp
}

// request1995 returns an HTTP/1.0 Full-Request for an ElementID, in the form that the server
// supports.
func (p *probe) request1995(element string, fields ...string) request {
	return request{method: "GET", target: p.target1995(element), version: "HTTP/1.0", fields: append(p.host1995(), fields...)}
}

func (p *probe) target1995(element string) string {
	switch p.form {
	case formURN:
		return p.full(element)
	case formPath:
		return p.t.base + "/" + element
	}
	return element
}

func (p *probe) host1995() []string {
	if p.host == "" {
		return nil
	}
	return []string{"Host: " + p.host}
}

// element requests an ElementID with the protocol of the draft of 1995.
func (p *probe) element(element string, fields ...string) *response {
	return p.ask(p.request1995(element, fields...))
}

// whole requests any target, such as a whole URN, with the protocol of the draft of 1995.
func (p *probe) whole(target string) *response {
	q := p.request1995("")
	q.target = target
	return p.ask(q)
}

// foreign returns the request target for an ElementID of an authority for which the server is not
// responsible.
func (p *probe) foreign(element string) string {
	target := "urn:dns:" + unrelated + ":" + element
	if p.form == formPath {
		return p.t.base + "/" + target
	}
	return target
}

// known requests the first name.
func (p *probe) known(fields ...string) *response { return p.element(p.elements[0], fields...) }

func (p *probe) web(method, target string, fields ...string) *response {
	return p.ask(p.request11(method, target, fields...))
}

func (p *probe) request11(method, target string, fields ...string) request {
	all := append([]string{"Host: " + p.t.authority, "Connection: close"}, fields...)
	return request{method: method, target: target, version: "HTTP/1.1", fields: all}
}

func (p *probe) full(element string) string { return p.authority + p.delimiter + element }

// name returns the first name as a whole URN, or "" if its authority is unknown.
func (p *probe) name() string {
	if p.authority == "" {
		return ""
	}
	return p.full(p.elements[0])
}

// sameLocation reports whether two responses redirect to the same location, or to two locations of
// the first name. The server may choose another location of the same name for each request.
func (p *probe) sameLocation(a, b *response) bool {
	first, second := a.get("Location"), b.get("Location")
	if first == second {
		return true
	}
	all := p.locations()
	return slices.Contains(all, first) && slices.Contains(all, second)
}

// locations returns the locations of the first name that the server lists.
func (p *probe) locations() []string {
	all := append(p.uris("N2Ls", p.name()), locators(p.known("Accept: text/urc-0").text())...)
	for _, l := range related(linksOf(p.get()), "item") {
		all = append(all, l.target)
	}
	return all
}

func (p *probe) path(name string) string { return p.t.base + "/" + name }

// absent returns the ElementID of a name that the server does not know.
func (p *probe) absent() string { return p.elementOf(p.o.Absent) }

func (p *probe) retired() string {
	if p.o.Retired == "" {
		panic(missing(NeedsRetired, "no retired name given"))
	}
	return p.elementOf(p.o.Retired)
}

// moved returns the ElementID of [Options].Moved, a name with a successor.
func (p *probe) moved() string {
	if p.o.Moved == "" {
		panic(missing(NeedsMoved, "no replaced name given"))
	}
	return p.elementOf(p.o.Moved)
}

// elementOf returns the ElementID of a name in [Options], which may be a whole URN or an ElementID.
func (p *probe) elementOf(name string) string {
	if p.authority != "" {
		if rest, ok := ascii.CutPrefix(name, p.authority); ok && len(rest) > 1 && strings.ContainsAny(rest[:1], ":-/") {
			return rest[1:]
		}
	}
	return name
}

// prepare determines the names, the authority and the form of requests.
func (p *probe) prepare() error {
	if err := p.reach(); err != nil {
		return err
	}
	p.delimiter = ":"
	p.authority = strings.TrimRight(p.o.Authority, ":")
	for _, n := range p.o.Names {
		if p.authority == "" {
			p.authority = authorityOf(n)
		}
		p.elements = append(p.elements, p.elementOf(n))
	}
	if p.authority != "" && len(p.o.Names) > 0 {
		if rest, ok := ascii.CutPrefix(p.o.Names[0], p.authority); ok && rest != "" {
			p.delimiter = rest[:1]
		}
	}
	if len(p.elements) == 0 {
		if p.elements = p.listed(); len(p.elements) == 0 {
			return ErrNoNames
		}
	}
	if _, err := netip.ParseAddr(p.t.host); p.authority == "" && err != nil && strings.Contains(p.t.host, ".") {
		p.authority = "urn:dns:" + strings.ToLower(p.t.host)
	}
	p.chooseForm()
	if cited := p.cited(); p.authority == "" || len(p.o.Names) == 0 && p.o.Authority == "" && cited != "" {
		if rest, ok := strings.CutSuffix(cited, p.elements[0]); ok && len(rest) > 1 {
			p.authority, p.delimiter = rest[:len(rest)-1], rest[len(rest)-1:]
		}
	}
	return nil
}

// reach checks that the server accepts connections. Without this check, every case would fail if
// the address is wrong.
func (p *probe) reach() error {
	ctx, cancel := context.WithTimeout(p.ctx, p.d.timeout)
	defer cancel()
	conn, err := p.d.connect(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

func authorityOf(name string) string {
	fields := strings.SplitN(name, ":", 4)
	if len(fields) < 4 || !strings.EqualFold(fields[0], "urn") {
		return ""
	}
	return strings.Join(fields[:3], ":")
}

func (p *probe) chooseForm() {
	domain := ""
	if d, ok := ascii.CutPrefix(p.authority, "urn:dns:"); ok {
		domain = d
	}
	type way struct {
		form form
		host string
	}
	ways := []way{{formBare, ""}, {formBare, domain}, {formURN, ""}, {formPath, p.t.authority}, {formPath, domain}}
	if p.t.base != "" { // only requests for paths below the target reach the resolver
		ways = ways[3:]
	}
	for _, w := range ways {
		if w.form == formURN && p.authority == "" || w.host == "" && w.form == formPath || w == (way{formBare, ""}) && p.bare != nil {
			continue
		}
		p.form, p.host = w.form, w.host
		resp := p.known()
		if resp.status == 200 || resp.redirects() {
			p.good = resp
			return
		}
		if p.bare == nil && w.form == formBare {
			p.bare = resp
		}
	}
	p.form, p.host = formBare, ""
	if p.t.base != "" {
		p.form, p.host = formPath, p.t.authority
	}
	p.good = p.known()
}

// listed requests urn+a, and returns the first ElementIDs in the list to which the response points.
func (p *probe) listed() []string {
	for _, f := range []form{formBare, formURN, formPath} {
		if f == formURN && p.authority == "" || f != formPath && p.t.base != "" {
			continue
		}
		p.form, p.host = f, ""
		if f == formPath {
			p.host = p.t.authority
		}
		var few []string
		p.run(func(p *probe) outcome {
			few = p.list().elements()
			return passed()
		})
		if few != nil {
			return few
		}
	}
	return nil
}

func (r *response) elements() (few []string) {
	if !r.is(200) {
		return nil
	}
	for line := range strings.Lines(r.text()) {
		if !strings.HasSuffix(line, "\n") {
			break // the line may be incomplete, because only maxBody bytes are read
		}
		line = strings.TrimRight(line, "\r\n")
		if line != "" && sendable(line) && !strings.HasPrefix(line, urn.ReservedPrefix) && len(few) < 3 {
			few = append(few, line)
		}
	}
	return few
}

// list requests urn+a, whose response contains the URL of a list of ElementIDs, and then requests
// this list.
func (p *probe) list() *response {
	resp := p.element("urn+a")
	need(resp.status == 200, "urn+a is optional, and the server does not support it: %s", resp)
	where := firstURL(resp)
	need(where != "", "the response to urn+a has no URL")
	list, here := p.follow(where)
	need(here, "the list is on another server: %s", where)
	return list
}

// follow requests a URL, which may be relative to the target. If the URL belongs to another server,
// follow sends nothing and returns false.
func (p *probe) follow(ref string, fields ...string) (resp *response, here bool) {
	path, here := p.local(ref)
	if !here {
		return &response{fault: "not on this server: " + ref}, false
	}
	return p.web("GET", path, fields...), true
}

// local converts a URL to a request target. It returns false if the URL belongs to another server.
func (p *probe) local(ref string) (path string, here bool) {
	u, ok := p.absolute(p.t.base+"/", ref)
	if !ok {
		return "", false
	}
	scheme, _ := u.Scheme()
	there, err := parseTarget(u.WithoutFragment().String())
	if q, has := u.Query(); has {
		there, err = parseTarget(strings.TrimSuffix(u.WithoutFragment().String(), "?"+q))
	}
	if err != nil || !strings.EqualFold(scheme, p.t.scheme()) || !strings.EqualFold(there.host, p.t.host) || there.port != p.t.port {
		return "", false
	}
	path = cmp.Or(u.Path(), "/")
	if q, has := u.Query(); has {
		path += "?" + q
	}
	return path, true
}

// paths returns the request targets of links with a relation. It omits links to other servers.
func (p *probe) paths(links []link, relation string) (all []string) {
	for _, l := range related(links, relation) {
		if path, here := p.local(l.target); here {
			all = append(all, path)
		}
	}
	return all
}

// absolute resolves a reference against the URL of path.
func (p *probe) absolute(path, ref string) (uri.URI, bool) {
	base, err := uri.Parse(p.t.url(path))
	r, bad := uri.ParseReference(ref)
	if err != nil || bad != nil {
		return uri.URI{}, false
	}
	u, err := base.Resolve(r)
	return u, err == nil
}

func (p *probe) cited() string {
	for _, l := range linksOf(p.good) {
		if !l.is("cite-as") {
			continue
		}
		if u, err := urn.Parse(urnAtEnd(l.target)); err == nil {
			return u.String()
		}
	}
	return ""
}

// fronts returns the beginnings of the Server fields that common reverse proxies send.
func fronts() []string {
	return []string{"nginx", "openresty", "apache", "caddy", "haproxy", "varnish", "envoy", "traefik", "cloudflare", "squid", "litespeed", "microsoft-", "awselb"}
}

// front returns the evidence that a response comes from an intermediary instead of the resolver, or
// "" without evidence.
func (p *probe) front(r *response) string {
	if f := intermediary(r); f != "" {
		return f
	}
	server := r.get("Server")
	if own := p.good.get("Server"); server != own && p.good.status != 0 {
		return "Server: " + cmp.Or(server, "(none)") + ", while names are resolved by " + cmp.Or(own, "one without this field")
	}
	return ""
}

// intermediary returns the header field that shows that a response has passed through an
// intermediary, or "".
func intermediary(r *response) string {
	server := r.get("Server")
	switch {
	case r.has("Via"):
		return "Via: " + r.get("Via")
	case slices.ContainsFunc(fronts(), func(f string) bool { return strings.HasPrefix(strings.ToLower(server), f) }):
		return "Server: " + server
	}
	return ""
}

// skipIfBlocked ends the case as not applicable if an intermediary sent an error response.
func (p *probe) skipIfBlocked(r *response) {
	if f := p.front(r); r.refused() && f != "" {
		panic(skipped("a server in front rejected the request with %d (%s)", r.status, f))
	}
}

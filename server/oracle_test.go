package server

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
)

// This file is the oracle: the response that the documents require for a question. It
// shares no code with the server and was not derived from it. In the comments Y95 and N12
// are the requirements of docs/spec; 2169, 2483, 8141, 8288, 9110 are RFCs; C1 to C5 the
// sections of the project's contract, "what nomen looks like from outside"; S the
// operator's handbook, docs/reference/http.md, for what the others leave open.

// A manner is one of the forms of requests.
type manner struct {
	id       string
	old      bool // HTTP/1.0
	simple   bool // HTTP/0.9
	y95      bool // the target is a bare ElementID or a URN, the protocol of 1995
	bare     bool // the target is just the ElementID
	thttp    bool // RFC 2169
	n        bool // with the service names of RFC 2169
	absolute bool // the target is a URL
	element  bool // the path is just the ElementID
}

var manners = []manner{
	{id: "1995", old: true, y95: true, bare: true},
	{id: "1995, simple", simple: true, y95: true},
	{id: "1995, by a proxy", old: true, y95: true},
	{id: "path", absolute: false},
	{id: "path, HTTP/1.0", old: true},
	{id: "path, by a proxy", absolute: true},
	{id: "path of the element", element: true},
	{id: "THTTP", thttp: true, n: true, old: true},
	{id: "THTTP with the names of RFC 3404", thttp: true},
}

// A cell is one question of the table.
type cell struct {
	form    manner
	row     row
	service string // as requested, "" for none
	accept  string
	other   string // second operand of I=I
}

const unknownService = "X2Y"

var services = []string{"", "I2L", "I2Ls", "I2R", "I2Rs", "I2C", "I2Cs", "I2N", "I2Ns", "I=I", unknownService}

// The Accept fields of the table.
const (
	acceptNothing = ""
	acceptAny     = "*/*"
	acceptForeign = "application/x-foo"
	acceptRefuse  = "*/*;q=0"
	acceptBrowser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	acceptWeighed = "text/html;q=0.5, application/json;q=0.9"
	acceptButJSON = "application/json;q=0, */*;q=0.3"
)

var (
	ourTypes = []string{
		"text/urc-0", "text/html", "text/plain", "text/uri-list",
		"application/json", "application/linkset+json", "application/linkset",
	}
	accepts = append([]string{
		acceptNothing, acceptAny, acceptForeign, acceptRefuse, acceptBrowser, acceptWeighed, acceptButJSON,
	}, ourTypes...)
)

// An expectation is what the response to a cell must have.
type expectation struct {
	statuses []int // the statuses that the documents allow
	location string
	urn      string // that the reason phrase must contain
	problem  string // end of the type of an error, "" for none
	also     string // an alternative
	types    []string
	exact    bool     // the body has exactly these URIs
	uris     []string // in the body, if its type has URIs
	parts    int      // of multipart, -1 for any other body
	body     string   // "" for any
	words    []string // in the text of an error or a page
	vary     []string
	page     bool     // a 200 about a name: validators
	tagged   bool     // with an entity tag
	items    []string // locations with links
	links    bool     // of FAIR Signposting
	cached   string   // in Cache-Control
}

// accepts reports whether the client names a type in Accept.
func (c cell) accepts(mediaType string) bool { return c.accept == mediaType }

// wanted returns the service that a request asks for, or "" if THTTP must reject it.
func (c cell) wanted() nomen.Service {
	fallback := c.row.service
	switch {
	case c.form.y95 || c.form.element:
		fallback = nomen.I2C // C3, rows 1, 2 and 5
	case fallback == "":
		fallback = nomen.I2L // C3, row 3
	}
	s := nomen.Service(c.service)
	offered := c.row.offers == nil || slices.Contains(c.row.offers, s)
	if s == nomen.I2R || s == nomen.I2Rs {
		// S: if the authority has fetch; the resolver to which the client is redirected
		// may have it.
		offered = c.row.fetch || c.row.fate == away
	}
	switch {
	case c.service != unknownService && c.service != "" && offered:
		return s
	case c.form.thttp:
		return "" // the path always names one; 2169, 2: 404
	}
	return fallback // N12-30, N12-32
}

// describes reports whether Accept turns a request for a location into one for a
// description: a type that only descriptions have is preferred, and no location has it
// (C3, "For I2L").
func (c cell) describes() bool {
	switch c.accept {
	case "text/urc-0", "text/uri-list", "application/json", "application/linkset+json", "application/linkset", acceptWeighed:
		return !slices.ContainsFunc(c.row.places, func(l nomen.Location) bool { return c.accepts(l.Type) })
	}
	return false
}

// best returns the location that matches Accept best: those of an accepted type first,
// then by priority (C3, "For I2L"; C2).
func (c cell) best() nomen.Location {
	for _, l := range c.row.places {
		if l.Type != "" && (c.accepts(l.Type) || c.accept == acceptBrowser && l.Type == "text/html") {
			return l
		}
	}
	return c.row.places[0]
}

// negotiated returns the types that the body of a 200 may have (9110, 12.5.1), or none if
// nothing is acceptable.
func (c cell) negotiated(fallback string) []string {
	switch c.accept {
	case acceptRefuse:
		return nil // C3: 406 only if q=0 excludes everything
	case acceptNothing, acceptAny, acceptForeign, acceptButJSON:
		return []string{fallback} // C3, 9110 12.4.1, Y95-34: the default format
	case acceptBrowser:
		return []string{"text/html"}
	case acceptWeighed:
		return []string{"application/json"}
	}
	return []string{c.accept}
}

// problemTypes returns the types that the body of an error may have (C3, "Errors follow
// Accept").
func (c cell) problemTypes() []string {
	switch c.accept {
	case "text/html", acceptBrowser:
		return []string{"text/html"}
	case "application/json", acceptWeighed:
		return []string{"application/problem+json"}
	}
	all := []string{"text/html", "application/problem+json", "text/plain"}
	if c.accept == "text/urc-0" || (c.form.y95 || c.form.element) && c.accept == acceptNothing {
		all = append(all, "text/urc-0") // Y95-34, Y95-45: readers of 1995 are people too
	}
	return all
}

func (c cell) failure(status int, problem string, words ...string) expectation {
	return expectation{
		statuses: []int{status}, problem: problem, types: c.problemTypes(), words: words, parts: -1,
		vary: []string{"accept"}, // C3: Vary names every header consulted
	}
}

// expect returns the expectation of the documents.
func expect(c cell) expectation {
	s := c.wanted()
	if s == "" {
		// 2169, 2: 404; S: no-result, which requires a name that exists (2483, 4: "URI
		// exists but there is no available output").
		if c.row.fate == served || c.row.fate == away {
			return c.failure(http.StatusNotFound, "no-result")
		}
		return expectName(c, nomen.I2C)
	}
	return expectName(c, s)
}

// expectName determines the expectation from the state of the name.
func expectName(c cell, s nomen.Service) expectation {
	switch c.row.fate {
	case noName: // 2483, 4: malformed URI; C3: with offset and rule. The escape is at the name's end.
		return c.failure(http.StatusBadRequest, "malformed", "pct-encoded")
	case unknown: // 2483, 4: does not exist in any form
		if c.form.bare && c.row.id == "no authority" { // Y95-21; 9110, 15.5.20: the host is not served here
			return expectation{statuses: []int{http.StatusMisdirectedRequest}, parts: -1}
		}
		e := c.failure(http.StatusNotFound, "unknown-name")
		return c.orSame(s, e)
	case hidden: // C2: 404; not yet public: it looks like an unknown name
		return c.orSame(s, c.failure(http.StatusNotFound, "unknown-name"))
	case denied: // 2483, 4: access denied; 2169, 3.1: for every service; C3: 403
		return c.failure(http.StatusForbidden, "denied")
	case legal: // C3: 451
		return c.failure(http.StatusUnavailableForLegalReasons, "denied")
	case away: // S: redirects to the other resolver
		return c.orSame(s, expectation{statuses: []int{c.seeOther()}, location: c.row.target, parts: -1})
	case moved: // C3: 301 for I2L and I2R; Y95-43: and in the protocol of 1995 where no service is named
		unnamed := c.service == "" || c.service == unknownService
		if s == nomen.I2L || s == nomen.I2R || (c.form.y95 || c.form.element) && unnamed {
			return c.successor(s)
		}
	}
	if c.row.fate != served { // C3: other retired names
		words := append([]string{c.row.title, c.row.reason}, c.row.successors...)
		return c.orSame(s, c.failure(http.StatusGone, "retired", words...))
	}
	return expectServed(c, s)
}

// orSame allows the answer TRUE to I=I about a name that is unknown or retired: two
// spellings are one name whatever else is known of it (8141, 3), while 2483, 4.9 also has
// the errors.
func (c cell) orSame(s nomen.Service, e expectation) expectation {
	if s == nomen.IisI {
		e.statuses = append(e.statuses, http.StatusOK, http.StatusNotAcceptable)
	}
	return e
}

// seeOther returns the status of a redirect (2169, 3.1; C3; S for HTTP/1.0).
func (c cell) seeOther() int {
	switch {
	case c.form.old && c.row.redirect == http.StatusPermanentRedirect:
		return http.StatusMovedPermanently
	case c.form.old:
		return http.StatusFound
	case c.row.redirect != 0:
		return c.row.redirect
	}
	return http.StatusSeeOther
}

// successor returns the 301 of a name with one successor.
func (c cell) successor(s nomen.Service) expectation {
	e := expectation{
		statuses: []int{http.StatusMovedPermanently}, parts: -1,
		location: "/" + c.row.successors[0], // C3: for web paths
		cached:   "max-age=",                // C3: bounded
	}
	switch { // the request for the successor is the same
	case c.form.thttp && s != cmp.Or(c.row.service, nomen.I2L), !c.form.thttp && c.service == string(s): // the default of paths is left out
		e.location += "?s=" + string(s)
	}
	if c.form.y95 { // Y95-42, Y95-43, C3
		e.location, e.urn = c.row.successors[0], c.row.successors[0]
	}
	return e
}

// expectServed determines the expectation from the service, for a name that is answered.
func expectServed(c cell, s nomen.Service) expectation {
	if s == nomen.I2L && c.describes() {
		s = nomen.I2C
	}
	noResult := c.failure(http.StatusNotFound, "no-result") // 2483, 4: no available output
	urls := []string{}
	for _, l := range c.row.places {
		urls = append(urls, l.URL)
	}
	switch s {
	case nomen.I2L:
		if len(urls) == 0 {
			return noResult
		}
		return c.location()
	case nomen.I2Ls: // 2169, 3.2; C3: an empty list is one
		e := c.listed("text/uri-list", urls, true)
		e.items = urls
		return e
	case nomen.I2N:
		if len(c.row.names) == 0 {
			return noResult
		}
		return c.listed("text/uri-list", c.row.names[:1], true) // 2483, 4.7: one and only one
	case nomen.I2Ns: // 2169, 3.6
		return c.listed("text/uri-list", c.row.names, true)
	case nomen.I2R, nomen.I2Rs:
		return c.resource(s, urls)
	case nomen.IisI: // 2483, 4.9
		e := c.listed("text/plain", nil, false)
		if e.statuses[0] == http.StatusOK {
			// Any type that can express it; it is about two URIs and has no date.
			e.types, e.words, e.page, e.tagged = nil, []string{"true"}, false, true
			e.vary = []string{"accept"} // it never changes
		} else {
			e.words = []string{"text/plain"}
		}
		return e
	}
	e := c.listed("text/urc-0", urls, false) // Y95-45
	e.items = urls
	if c.row.title != "" && e.statuses[0] == http.StatusOK && (e.types[0] == "text/html" || e.types[0] == "application/json") {
		e.words = []string{c.row.title}
	}
	return e
}

// location returns the answer to I2L.
func (c cell) location() expectation {
	e := expectation{
		statuses: []int{c.seeOther()}, location: c.best().URL, parts: -1, // 2169, 3.1: MUST be in Location
		vary: []string{"accept"}, links: true, items: []string{c.best().URL}, // C3: links for every name
	}
	if len(c.row.places) > 1 {
		e.vary = append(e.vary, "accept-language")
	}
	if c.form.thttp && c.accept == "text/plain" { // C3: "N2L from a client that accepts only text/plain"
		e.statuses, e.types, e.uris, e.page = []int{http.StatusOK}, []string{"text/plain"}, []string{e.location}, true
	}
	return e
}

// listed returns a 200 whose body has URIs.
func (c cell) listed(fallback string, uris []string, exact bool) expectation {
	types := c.negotiated(fallback)
	if types == nil {
		return c.refused()
	}
	// Only the targets of linksets are compared: they also have links to descriptions.
	exact = exact && !strings.HasPrefix(types[0], "application/linkset")
	return expectation{
		statuses: []int{http.StatusOK}, types: types, uris: uris, exact: exact, parts: -1, page: true, links: true,
		vary: c.varies(),
	}
}

// varies returns the Vary fields of a description: on the web also the time (C3; RFC
// 7089, 2.1.2).
func (c cell) varies() []string {
	if c.form.y95 || c.form.element {
		return []string{"accept"}
	}
	return []string{"accept", "accept-datetime"}
}

// refused returns the 406, with a list of the available types (C3; 9110, 15.5.7).
func (c cell) refused() expectation {
	return expectation{
		statuses: []int{http.StatusNotAcceptable}, types: c.problemTypes(), parts: -1,
		words: ourTypes, vary: []string{"accept"},
	}
}

// resource returns the answer to I2R and I2Rs (2169, 3.3 and 3.4).
func (c cell) resource(s nomen.Service, urls []string) expectation {
	switch {
	case !c.row.fetch, s == nomen.I2R && len(urls) == 0: // S: if the authority has fetch
		return c.failure(http.StatusNotFound, "no-result")
	case s == nomen.I2R:
		mediaType, body := content(c.best().URL)
		e := expectation{statuses: []int{http.StatusOK}, types: []string{mediaType}, body: body, parts: -1}
		if c.accept == acceptRefuse {
			// 9110, 12.5.1 lets a server disregard Accept or respond with 406.
			e = c.refused()
			e.words = nil
			e.statuses = append(e.statuses, http.StatusOK)
		}
		if len(urls) > 1 {
			e.vary = []string{"accept", "accept-language"}
		}
		return e
	}
	// 2169, 3.4: SHOULD only return versions that are acceptable; a single one MAY be
	// sent without the wrapper; C3: none is an empty list.
	e := expectation{statuses: []int{http.StatusOK}, parts: c.acceptable(), vary: []string{"accept"}}
	if c.accept == acceptRefuse && len(urls) > 0 {
		e = c.refused()
		e.words, e.parts = nil, 0
		e.statuses = append(e.statuses, http.StatusOK)
	}
	return e
}

// acceptable counts the versions of the resource that Accept does not exclude. A version
// of unknown type is acceptable; a type that is not mentioned is not, if others are
// (9110, 12.5.1).
func (c cell) acceptable() int {
	n := 0
	for _, l := range c.row.places {
		mediaType, _ := content(l.URL)
		if l.Type == "" || c.accept == acceptNothing || strings.Contains(c.accept, acceptAny) && c.accept != acceptRefuse || strings.Contains(c.accept, mediaType) {
			n++
		}
	}
	return n
}

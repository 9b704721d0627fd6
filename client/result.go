package client

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/urn"
)

// answer returns the answer in a reply that is not a redirect. It returns an error if the reply is
// not an answer.
func (j *resolution) answer(s hop, r *reply) (*nomen.Answer, error) {
	if r.status < http.StatusOK || r.status >= http.StatusMultipleChoices {
		return nil, refusal(s, r, j.question)
	}
	if err := r.checkTime(s, j.question, j.client.o.Now()); err != nil {
		return nil, err
	}
	asked := s.way.asked(j.question.Service)
	a, err := r.content(asked)
	if isUnread(err) && s.keepsText() {
		a, err = &nomen.Answer{Raw: r.raw()}, nil
	}
	switch {
	case err != nil:
		return nil, err
	case a.Raw != nil: // a gateway can return such an answer too
		return r.unstructured(a, s, j.question.Service)
	}
	wantsNames := j.question.Service == nomen.I2N || j.question.Service == nomen.I2Ns
	if mediaType := r.header.Get("Content-Type"); wantsNames && asked == nomen.I2C && isList(mediaType) {
		namesOf(a, asksAuthorities(j.question))
	}
	r.complete(a, s, asked)
	if wantsNames && a.Service == j.question.Service && len(a.Names) == 0 && len(a.Locations) > 0 {
		a.Service = nomen.I2C // a resolver answers with the default service if it does not offer the requested one (N12-32)
	}
	if isRequest(s.subject) && a.Service != j.question.Service {
		a.Service = nomen.I2C // the response describes the resolver itself (1995, 3.5: Y95-54)
	}
	return project(a, s, j.question.Service)
}

// keepsText reports whether a body without structure is an answer to the hop s. Such a body is an
// answer if it comes from a resolver. If it comes from a page to which a redirect led, it is the
// resource itself.
func (s hop) keepsText() bool {
	_, isPage := s.way.(page)
	return !isPage || isRequest(s.subject)
}

// isRequest reports whether a name is reserved for requests to a resolver (1995, 3.5).
func isRequest(s subject) bool {
	_, element, _ := elementOf(s, nomen.Question{})
	return strings.HasPrefix(element, urn.ReservedPrefix)
}

// raw returns the body as it was received.
func (r *reply) raw() *nomen.Raw {
	raw := &nomen.Raw{Type: r.mediaType(), Body: r.body}
	if raw.Type == "" && isText(r.body) {
		raw.Type = format.TypeText
	}
	return raw
}

// unstructured completes an answer from a body without structure, which counts as a description
// (1995, 3.1.2 and 3.4: Y95-35, Y95-40). If the requested service returns a part of a description,
// unstructured returns both the answer and an error of kind NoResult.
func (r *reply) unstructured(a *nomen.Answer, s hop, service nomen.Service) (*nomen.Answer, error) {
	a.Service = nomen.I2C
	r.complete(a, s, nomen.I2C)
	switch {
	case service == nomen.I2Cs:
		a.Service = service
	case service.Known() && service != nomen.I2C:
		return nil, &nomen.Error{
			Kind: nomen.NoResult, Name: s.spelling, Service: service, Answer: a, Err: &FormatError{Type: a.Raw.Type, Body: a.Raw.Body},
			Message: fmt.Sprintf("the resolver sent %s, from which this cannot be extracted", a.Raw),
		}
	}
	return a, nil
}

// checkTime returns an error if a reply does not confirm the time in the question (RFC 7089,
// 2.1.1). Resolvers do not confirm times in the future. For such a time, checkTime only checks that
// the resolver supports times.
func (r *reply) checkTime(s hop, q nomen.Question, now time.Time) error {
	if q.At.IsZero() || r.url == "" || r.header.Get("Memento-Datetime") != "" {
		return nil
	}
	const skew = time.Minute // allowed difference between the clocks
	if q.At.After(now.Add(-skew)) && r.knowsTimes() {
		return nil
	}
	if r.stream != nil {
		r.stream.Close()
	}
	return &TimeError{Name: s.spelling, At: q.At}
}

// knowsTimes reports whether a reply links to its TimeGate or TimeMap (RFC 7089, 2.2.1).
func (r *reply) knowsTimes() bool {
	for _, field := range r.header.Values("Link") {
		for value := range linkValues(field) {
			if _, parameters, ok := strings.Cut(value, ">"); ok && strings.Contains(parameters, "timegate") {
				return true
			}
		}
	}
	return false
}

// content parses the body as an answer. For I2R and I2Rs, any body is an answer.
func (r *reply) content(asked nomen.Service) (*nomen.Answer, error) {
	encoding := r.header.Get("Content-Encoding")
	switch {
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		if r.stream != nil {
			r.stream.Close()
		}
		return nil, &FormatError{Type: r.mediaType(), Body: r.body, Err: fmt.Errorf("unsupported content encoding %.40q", encoding)}
	case asked == nomen.I2R && r.url != "":
		return &nomen.Answer{Service: nomen.I2R, Resource: r.resource()}, nil
	case asked == nomen.I2Rs && r.url != "":
		all, err := r.resources()
		return &nomen.Answer{Service: nomen.I2Rs, Resources: all}, err
	case asked == nomen.IisI:
		if same, ok := r.truth(); ok {
			return &nomen.Answer{Service: nomen.IisI, Same: same}, nil
		}
	}
	return r.decode(asked)
}

func isList(contentType string) bool {
	f, ok := format.Lookup(contentType)
	return ok && f.MediaType == format.TypeURIList
}

// namesOf moves URIs that are names from the locations to the names of the answer. In a list of
// naming authorities, all URIs are prefixes of names.
func namesOf(a *nomen.Answer, authorities bool) {
	a.Locations = slices.DeleteFunc(a.Locations, func(l nomen.Location) bool {
		n, err := name.Parse(l.URL)
		if !authorities && (err != nil || !isNameScheme(n.Scheme())) {
			return false
		}
		a.Names = append(a.Names, l.URL)
		return true
	})
}

// truth reads TRUE or FALSE (RFC 2483, 4.9).
func (r *reply) truth() (same, ok bool) {
	switch strings.ToUpper(string(bytes.TrimSpace(r.body[:min(len(r.body), 100)]))) {
	case "TRUE":
		return true, true
	case "FALSE":
		return false, true
	}
	return false, false
}

// decode parses the body according to its media type (see mediaType).
func (r *reply) decode(asked nomen.Service) (*nomen.Answer, error) {
	contentType := r.mediaType()
	f, ok := format.Lookup(contentType)
	if !ok || f.Read == nil {
		return nil, &FormatError{Type: contentType, Body: r.body}
	}
	a, err := f.Read(bytes.NewReader(r.body), asked)
	if err != nil {
		return nil, &FormatError{Type: contentType, Body: r.body, Err: err}
	}
	return a, nil
}

// mediaType returns the media type that the server sent. Without a Content-Type (RFC 1945, 7.2.1),
// it recognises text/urc-0 and the body of an HTTP/0.9 response by the content, and otherwise
// returns "".
func (r *reply) mediaType() string {
	told := r.header.Get("Content-Type")
	if told != "" {
		return told
	}
	if guess := looksLike(r.body); r.simple || guess == format.TypeURC {
		return guess
	}
	return ""
}

func looksLike(body []byte) string {
	text := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("=====")), bytes.Contains(body, []byte("\n=====")):
		return format.TypeURC
	case len(text) > 0 && text[0] == '<':
		return format.TypeHTML
	}
	return format.TypeText
}

// complete adds to an answer what its format cannot represent, from the header fields and the
// request.
func (r *reply) complete(a *nomen.Answer, s hop, asked nomen.Service) {
	if a.Service == "" {
		a.Service = asked
	}
	if a.Name.IsZero() {
		a.Name = s.name
	}
	if t, err := http.ParseTime(r.header.Get("Last-Modified")); err == nil && a.Modified.IsZero() {
		a.Modified = t.UTC()
	}
	if a.MaxAge == 0 {
		a.MaxAge = maxAge(r.header)
	}
	a.Private = a.Private || hasDirective(r.header, "private")
	if a.StaleSince.IsZero() {
		a.StaleSince = staleSince(r.header)
	}
}

func staleSince(h http.Header) time.Time {
	age, err := strconv.ParseUint(h.Get("Age"), 10, 31)
	date, derr := http.ParseTime(h.Get("Date"))
	if err != nil || derr != nil || !strings.HasPrefix(h.Get("Cache-Status"), "nomen; hit; ttl=-") {
		return time.Time{}
	}
	return date.UTC().Add(-time.Duration(age) * time.Second)
}

// maxAge returns the max-age in Cache-Control (RFC 9111, 5.2.2.1), but at most a year. It returns 0
// if the answer must be revalidated before each use.
func maxAge(h http.Header) (age time.Duration) {
	const year = 365 * 24 * 60 * 60
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		key, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch n, err := strconv.ParseUint(value, 10, 32); {
		case key == "no-cache", key == "no-store":
			return 0
		case key == "max-age" && err == nil:
			age = time.Duration(min(n, year)) * time.Second
		}
	}
	return age
}

// project reduces a description to the result of the requested service. It returns a unchanged if a
// is a redirect, if a already answers the service, or if RFC 2483 does not define the service.
func project(a *nomen.Answer, s hop, service nomen.Service) (*nomen.Answer, error) {
	if !service.Known() || a.Service == service || a.Redirect != "" {
		return a, nil
	}
	switch {
	case a.Service == nomen.I2Ns && service == nomen.I2N, a.Service == nomen.I2Ls && service == nomen.I2L:
	case a.Service != nomen.I2C && a.Service != nomen.I2Cs:
		return nil, &FormatError{Err: &serviceError{got: a.Service, want: service}}
	}
	if a.Narrow(service) {
		return a, nil
	}
	message := "a description cannot answer this service"
	switch service {
	case nomen.I2L:
		message = "the description has no location"
	case nomen.I2N:
		message = "the description has no other name"
	case nomen.IisI, nomen.I2R, nomen.I2Rs:
		if at := addressOf(s.way); at != "" {
			message = "the 1995 protocol does not support this service; ask the resolver over HTTP, at http://" + at + "/"
		}
	}
	return nil, noResult(s, service, message)
}

func addressOf(w way) string {
	switch w := w.(type) {
	case proxy:
		return hostPort(w.host, w.port)
	case authority:
		return hostPort(w.host, w.port)
	}
	return ""
}

func noResult(s hop, service nomen.Service, message string) error {
	return &nomen.Error{Kind: nomen.NoResult, Name: s.spelling, Service: service, Message: message}
}

type serviceError struct{ got, want nomen.Service }

func (e *serviceError) Error() string {
	return "it is an answer to " + strconv.Quote(string(e.got)) + ", not " + strconv.Quote(string(e.want))
}

// located returns an answer with the target of a redirect as its location.
func (r *reply) located(s hop, url string, q nomen.Question, now time.Time) (*nomen.Answer, error) {
	if err := r.checkTime(s, q, now); err != nil {
		return nil, err
	}
	a := &nomen.Answer{Service: nomen.I2C, Name: s.name, Private: hasDirective(r.header, "private")}
	switch q.Service {
	case nomen.I2R, nomen.I2Rs: // fetching the resource is a separate step (1995, 1: Y95-74)
		a.Service, a.Redirect = q.Service, url
		return a, nil
	case nomen.I2L, nomen.I2Ls, nomen.I2C, nomen.I2Cs, nomen.I2N, nomen.I2Ns, nomen.IisI:
	default:
		a.Service = nomen.I2L
	}
	a.Locations = []nomen.Location{{URL: url}}
	for _, l := range r.links(url) {
		switch {
		case l.URL == url:
			a.Locations[0] = l
		case l.Rel == "cite-as":
			a.Name = s.cited(l.URL)
		}
	}
	return project(a, s, q.Service)
}

// isItem reports whether a Link field with the relation "item" or "archive" says that the resource
// is at the target of a redirect. The server then does not offer the service, and has sent a
// location instead (2012, 2.3.1: N12-32). Without such a field, the target may be the answer
// itself.
func (r *reply) isItem(url string) bool {
	return slices.ContainsFunc(r.links(url), func(l nomen.Location) bool {
		return l.URL == url && (l.Rel == "" || l.Rel == "archive") // "item" is the default
	})
}

// inPlace returns the answer for a location that a resolver sent instead of the requested service.
// If a description was requested, the location is an incomplete answer. For any other service,
// inPlace returns an error.
func (r *reply) inPlace(s hop, url string, q nomen.Question, now time.Time) (*nomen.Answer, error) {
	if q.Service == nomen.I2C || q.Service == nomen.I2Cs {
		return r.located(s, url, q, now)
	}
	return nil, noResult(s, q.Service, "the resolver does not offer this service; it sent a location instead")
}

// links returns the locations with this URL in the Link fields (RFC 8288), and the cited name. It
// parses the fields as a linkset (RFC 9264, 4.1), and ignores links to other URLs.
func (r *reply) links(url string) []nomen.Location {
	var telling strings.Builder
	for _, field := range r.header.Values("Link") {
		for value := range linkValues(field) {
			if strings.Contains(value, "cite-as") || strings.Contains(value, url) {
				telling.WriteString(value)
				telling.WriteString(", ")
			}
		}
	}
	if telling.Len() == 0 {
		return nil
	}
	a, err := format.ReadLinkset(strings.NewReader(telling.String()), nomen.I2L)
	if err != nil {
		return nil
	}
	return a.Locations
}

// linkValues splits a Link field at commas outside targets and quoted strings (RFC 8288, 3).
func linkValues(field string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begin, until := 0, byte(0) // until is the byte that ends the current target or string
		for i := 0; i < len(field); i++ {
			switch c := field[i]; {
			case until == '"' && c == '\\':
				i++
			case until != 0 && c == until:
				until = 0
			case until != 0:
			case c == '<':
				until = '>'
			case c == '"':
				until = '"'
			case c == ',':
				if !yield(field[begin:i]) {
					return
				}
				begin = i + 1
			}
		}
		yield(field[begin:])
	}
}

// cited returns the name that a resolver on the web cites for url (RFC 8574). If url is not below
// the base URL of the resolver, cited returns the name in the question.
func (s hop) cited(url string) name.Name {
	base := ""
	switch w := s.way.(type) {
	case site:
		base = w.base
	case thttp:
		base = w.base[:len(w.base)-len(thttpPath)+1]
	case template:
		base = w.before
	}
	if path, ok := strings.CutPrefix(url, base); ok && base != "" {
		if path == s.name.Key() {
			return s.name
		}
		if sub, ok := nameAlone(path); ok {
			return sub.name
		}
	}
	return s.name
}

// refusal returns the error that the status of a reply represents. It is the inverse of the
// function by which the server chooses a status.
func refusal(s hop, r *reply, q nomen.Question) error {
	p := r.problem()
	if e := p.Err(); e != nil {
		return completed(e, s, q)
	}
	e := &nomen.Error{Message: cmp.Or(shown.Line(p.Detail), r.message())}
	switch r.status {
	case http.StatusBadRequest:
		e.Kind, e.Rule = nomen.Malformed, "request"
	case http.StatusNotFound:
		e.Kind = nomen.Unknown
	case http.StatusGone:
		e.Kind = nomen.Gone
		if a, err := r.decode(nomen.I2C); err == nil {
			e.Answer = a
		}
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Kind = nomen.Denied
	case http.StatusUnavailableForLegalReasons:
		e.Kind, e.Legal = nomen.Denied, true
	default:
		return &StatusError{Code: r.status, Reason: r.reason}
	}
	return completed(e, s, q)
}

func (r *reply) refuses() bool {
	return r.status >= http.StatusBadRequest && r.status != http.StatusGone && r.problem().Err() == nil
}

func (r *reply) problem() *format.Problem {
	mediaType, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
	if strings.EqualFold(strings.TrimSpace(mediaType), format.TypeProblem) {
		if p, err := format.ReadProblem(bytes.NewReader(r.body)); err == nil {
			return p
		}
	}
	return &format.Problem{}
}

// completed adds the name and the service of the question to an error that the server sent.
func completed(e *nomen.Error, s hop, q nomen.Question) error {
	e.Name, e.Service, e.Message = s.spelling, q.Service, shown.Line(e.Message)
	e.Offset = min(max(e.Offset, 0), len(e.Name))
	if a := e.Answer; a != nil {
		a.Status = nomen.Retired
		if a.Name.IsZero() {
			a.Name = s.name
		}
		if q.Service.Known() {
			a.Service = q.Service
		}
	}
	return e
}

// message returns the server's explanation. This is the reason phrase. If the server sent the
// standard phrase for the status, it is the first line of a text body.
func (r *reply) message() string {
	if r.reason != "" && !strings.EqualFold(r.reason, http.StatusText(r.status)) {
		return r.reason
	}
	if f, ok := format.Lookup(r.header.Get("Content-Type")); ok && f.MediaType == format.TypeText {
		line, _, _ := bytes.Cut(bytes.TrimSpace(r.body), []byte("\n"))
		return shown.Line(string(line))
	}
	return ""
}

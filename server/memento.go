package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// timeMapPath is the prefix of the paths of TimeMaps. The name follows it.
const (
	timeMapRoot = "/-/timemap"
	timeMapPath = timeMapRoot + "/"
)

// typeLinkFormat is the media type of TimeMaps (RFC 7089, 5; RFC 6690).
const typeLinkFormat = "application/link-format"

// negotiable reports whether Accept-Datetime applies to a target. The target must be the path of a
// name without components of RFC 8141, because a query cannot have both these components and a
// time.
func (a parsedTarget) negotiable() bool {
	return !a.bare && !a.name.IsZero() && a.query.r == "" && a.query.q == "" && a.query.other == ""
}

// originalOf returns the path and query of this web request without the time.
func (a parsedTarget) originalOf(key string) string {
	return withDirectives(format.NamePath(key), a.directives(time.Time{}))
}

// directives returns the directives of an equivalent web request for the path of the name at the
// given time.
func (a parsedTarget) directives(at time.Time) query {
	q := query{service: a.query.service, format: a.query.format, component: a.query.component, at: at}
	if a.form != formWeb {
		q.service = a.service
	}
	return q
}

func withDirectives(path string, q query) string {
	if text := q.String(); text != "" {
		return path + "?" + text
	}
	return path
}

// httpDate formats a time for header fields. It rounds up to the next second, so that a request for
// the date gets the revision made at t.
func httpDate(t time.Time) string {
	return t.Add(time.Second - time.Nanosecond).UTC().Truncate(time.Second).Format(http.TimeFormat)
}

// linkTime adds links to the TimeGate and the TimeMap of a name. If the request has a time, it also
// adds Memento-Datetime, the time of the revision in the response (RFC 7089, 2.1 and 2.2). This
// field promises that the response will not change, so linkTime does not add it for a time in the
// future.
func (s *Server) linkTime(p *reply, l *linkField, a parsedTarget, key, base, path string, ans *nomen.Answer) {
	if !a.negotiable() || a.elsewhere {
		return
	}
	mark, directives := "?", a.directives(time.Time{}).String()
	if directives == "" {
		mark = ""
	}
	if isURL(key) {
		l.add("original", "", key)
		l.add("timegate", "", base, path, mark, directives)
	} else {
		l.add("original timegate", "", base, path, mark, directives)
	}
	l.add("timemap", typeLinkFormat, base, timeMapRoot, path, mark, directives)
	if at := a.query.at; p != nil && !at.IsZero() && !at.After(s.now()) && !ans.Modified.IsZero() {
		p.add("Memento-Datetime", httpDate(ans.Modified))
	}
}

func timeMapOf(key string) string { return timeMapRoot + format.NamePath(key) }

func badTime(target, value string) error {
	offset := max(strings.LastIndex(target, "at="+value), 0) + len("at=")
	return &nomen.Error{
		Kind: nomen.Malformed, Name: target, Offset: min(offset, len(target)), Rule: "at",
		Message: "must be a single time such as 2006-01-02T15:04:05Z or date such as 2006-01-02",
	}
}

// negotiate answers a request for a name. If the request has Accept-Datetime, negotiate redirects
// to the memento for that time (RFC 7089, 4.1.1). If the target itself has a time, the response is
// a memento, and Accept-Datetime is ignored.
func (s *Server) negotiate(ctx context.Context, r *request, a parsedTarget) *reply {
	a.elsewhere = s.isElsewhere(ctx, a)
	if r.datetime == "" || !a.query.at.IsZero() || a.checkAccess() != nil {
		return s.resolveAt(ctx, r, a)
	}
	at, err := time.Parse(http.TimeFormat, r.datetime)
	if err != nil {
		return s.problem(ctx, r, a, badDatetime(a))
	}
	m, err := s.mementosAt(ctx, a, at)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, errors.ErrUnsupported):
		return s.resolveAt(ctx, r, a)
	case err != nil:
		return s.failure(r, err)
	}
	key := m.at.Record.Name.Key()
	l := make(linkField, 0, 1024)
	s.linkTime(nil, &l, a, key, s.base(r), format.NamePath(key), &nomen.Answer{})
	return s.toMemento(r, a, l, m)
}

// isElsewhere reports whether another resolver answers for a name, through the gateway or a
// delegation. This server then has no TimeGate or TimeMap for the name.
func (s *Server) isElsewhere(ctx context.Context, a parsedTarget) bool {
	if a.authority != nil && a.authority.Delegation == nil || a.name.IsZero() {
		return false
	}
	_, err := s.store.Get(ctx, a.name, time.Time{})
	return errors.Is(err, store.ErrNotFound)
}

// A mementos contains the public revisions of a name to which a TimeGate links.
type mementos struct {
	at             *store.Change // the revision to which the TimeGate redirects
	first, last    *store.Change
	previous, next *store.Change // the revisions before and after the revision at, or nil
}

// mementosAt finds the public revision of a name that was current at the given time, and its
// neighbors. For a time before the first public revision, it finds the first revision. It returns
// ErrNotFound if the name was never public.
func (s *Server) mementosAt(ctx context.Context, a parsedTarget, at time.Time) (m mementos, err error) {
	var later, second *store.Change // the next later public revision, and the second one of all
	for c, err := range store.History(ctx, s.store, a.kept()) {
		if err != nil {
			return m, err
		}
		if !isPublic(c) {
			continue
		}
		if m.last == nil {
			m.last = c
		}
		if m.at != nil && m.previous == nil {
			m.previous = c
		}
		if m.at == nil && !c.Time.After(at) {
			m.at, m.next = c, later
		}
		m.first, second, later = c, later, c
	}
	switch {
	case m.last == nil:
		return m, store.ErrNotFound
	case m.at == nil:
		m.at, m.next = m.first, second
	}
	return m, nil
}

// toMemento redirects to a memento. It adds links to the memento and its neighbors to l (RFC 7089,
// 2.2.3 and 4.1.1).
func (s *Server) toMemento(r *request, a parsedTarget, l linkField, m mementos) *reply {
	base := s.base(r)
	url := func(c *store.Change) string {
		return withDirectives(base+format.NamePath(c.Record.Name.Key()), a.directives(c.Time))
	}
	var linked []*store.Change
	for _, c := range []*store.Change{m.first, m.previous, m.at, m.next, m.last} {
		if c == nil || c.Redacted || slices.Contains(linked, c) {
			continue
		}
		linked = append(linked, c)
		rel := ""
		for _, is := range []struct {
			c   *store.Change
			rel string
		}{{m.first, "first "}, {m.previous, "prev "}, {m.next, "next "}, {m.last, "last "}} {
			if is.c == c {
				rel += is.rel
			}
		}
		l.add(rel+"memento", "", url(c))
		l = append(l, `; datetime="`+httpDate(c.Time)+`"`...)
	}
	p := newReply(http.StatusFound)
	p.add("Link", string(l))
	p.add("Vary", "Accept")
	p.add("Cache-Control", "no-cache")
	return redirectTo(r, p, withDirectives(s.root(r)+format.NamePath(m.at.Record.Name.Key()), a.directives(m.at.Time)))
}

// The path prefixes of the TimeGates and TimeMaps for programs that append the original URL to a
// fixed URL (RFC 7089, 4.2).
const (
	timeGatePrefix = "/-/timegate/"
	timeMapPrefix  = timeMapPath + "link/"
)

// original parses the text after the prefix of a TimeGate. The text is the URL of a name on this
// server, or any name. The whole text may be percent-encoded. A proxy may have merged the two
// slashes after the scheme. If the URL would redirect to a location, original returns a request for
// the description instead, because a memento must not lead to the present content of the location.
// The target is valid even if there is an error, so that the caller can respond with the error.
func (s *Server) original(ctx context.Context, r *request, text string, set *store.AuthoritySet) (a parsedTarget, url string, err error) {
	text = wholeURL(adminapi.UnescapeName(text))
	page := parsedTarget{form: formPage} // returned together with an error
	none := &nomen.Error{Kind: nomen.Unknown, Name: text, Message: "no history found"}
	target := text
	_, _, absolute := absoluteForm(text)
	if !absolute {
		target = "/" + text
	}
	if len(target) > maxTarget {
		return page, "", none
	}
	p := s.contextOf(r, set)
	p.anyOrigin = true
	a, err = p.read(target)
	if errors.Is(err, errForOthers) || err == nil && (a.name.IsZero() || a.reserved != "" || a.byLocation) {
		err = none
	}
	if err != nil {
		return page, "", err
	}
	whole, err := s.isRegistered(ctx, a.whole)
	if err != nil {
		return page, "", err
	}
	if whole {
		a = a.withQuery()
	}
	a.query.at, a.query.r, a.query.q, a.query.other, a.query.plain = time.Time{}, "", "", "", ""
	a = a.interpreted()
	if a.query.service = a.service; a.service == nomen.I2L && describes(a.authority) {
		a.query.service = nomen.I2C
	}
	a.form, a.service = formWeb, a.query.service
	url = s.base(r) + format.NamePath(a.name.Key())
	if u, err := uri.Parse(text); absolute && err == nil {
		url = u.String()
	}
	return a, url, a.checkAccess()
}

// wholeURL restores the second slash after http: or https: if it is missing.
func wholeURL(text string) string {
	for _, scheme := range []string{"http:/", "https:/"} {
		if rest, ok := ascii.CutPrefix(text, scheme); ok && rest != "" && rest[0] != '/' {
			return text[:len(scheme)] + "/" + rest
		}
	}
	return text
}

// timeGate answers a request for the TimeGate: the prefix of all TimeGates followed by the URL of a
// name. It redirects to the description of the name at the time in Accept-Datetime.
func (s *Server) timeGate(ctx context.Context, r *request, text string, set *store.AuthoritySet) *reply {
	a, url, err := s.original(ctx, r, text, set)
	if err != nil {
		return s.problem(ctx, r, a, err)
	}
	at := s.now()
	if r.datetime != "" {
		if at, err = time.Parse(http.TimeFormat, r.datetime); err != nil {
			return s.problem(ctx, r, a, badDatetime(a))
		}
	}
	m, err := s.mementosAt(ctx, a, at)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, errors.ErrUnsupported):
		return s.problem(ctx, r, a, &nomen.Error{Kind: nomen.Unknown, Name: a.name.Key(), Message: "no history found"})
	case err != nil:
		return s.failure(r, err)
	}
	l := make(linkField, 0, 1024)
	l.add("original", "", url)
	l.add("timegate", "", s.base(r), timeGatePrefix, url)
	l.add("timemap", typeLinkFormat, s.base(r), timeMapPrefix, url)
	p := s.toMemento(r, a, l, m)
	p.vary("Accept-Datetime")
	return p
}

func badDatetime(a parsedTarget) error { // RFC 7089, 4.5.3
	return &nomen.Error{
		Kind: nomen.Malformed, Name: a.name.Key(), Rule: "rfc1123-date",
		Message: "invalid Accept-Datetime: must have the form " + http.TimeFormat,
	}
}

// kept returns the name in the letter case in which it is stored.
func (a parsedTarget) kept() name.Name { return a.authority.Fold(a.name) }

func isPublic(c *store.Change) bool {
	return c.Record != nil && c.Record.Status != nomen.Reserved
}

// timeMap streams the list of the mementos of a name, newest first, without redacted revisions (RFC
// 7089, 5).
func (s *Server) timeMap(ctx context.Context, r *request, spelling, q string, set *store.AuthoritySet) *reply {
	n, err := name.Parse(spelling)
	if err != nil {
		return s.problem(ctx, r, parsedTarget{form: formPage}, question.Malformed(spelling, 0, err))
	}
	a := parsedTarget{form: formWeb, name: n, authority: set.Of(n)}
	a.query, _ = readQuery(q)
	a.query.at, a.query.r, a.query.q = time.Time{}, "", ""
	if err := a.checkAccess(); err != nil {
		return s.problem(ctx, r, a, err)
	}
	key := a.kept().Key()
	base := s.base(r)
	m := timeMap{target: a, base: base, original: base + a.originalOf(key), self: base + withDirectives(timeMapOf(key), a.directives(time.Time{}))}
	m.gate = m.original
	if isURL(key) { // as in linkTime
		m.original = key
	}
	return s.sendTimeMap(ctx, r, m)
}

func (s *Server) prefixTimeMap(ctx context.Context, r *request, text string, set *store.AuthoritySet) *reply {
	a, url, err := s.original(ctx, r, text, set)
	if err != nil {
		return s.problem(ctx, r, a, err)
	}
	base := s.base(r)
	return s.sendTimeMap(ctx, r, timeMap{target: a, base: base, original: url, gate: base + timeGatePrefix + url, self: base + timeMapPrefix + url})
}

type timeMap struct {
	target               parsedTarget
	base                 string // URL of this server
	original, gate, self string // absolute URLs
}

func (s *Server) sendTimeMap(ctx context.Context, r *request, m timeMap) *reply {
	_, err := firstOf(s.mementos(ctx, m.target))
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, errors.ErrUnsupported):
		return s.problem(ctx, r, m.target, &nomen.Error{Kind: nomen.Unknown, Name: m.target.name.Key(), Message: "no public history found"})
	case err != nil:
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	p.form = formPage
	p.add("Content-Type", typeLinkFormat)
	p.add("Cache-Control", "no-cache")
	p.stream = func(ctx context.Context, w io.Writer) error { return s.writeTimeMap(ctx, w, m) }
	return s.codeStream(r, p)
}

// mementos yields the changes that made the mementos of a name, newest first.
func (s *Server) mementos(ctx context.Context, a parsedTarget) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		for c, err := range store.History(ctx, s.store, a.kept()) {
			if err == nil && (!isPublic(c) || c.Redacted) {
				continue
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// A revision is a change that made a memento, and the change that made the previous memento, or
// nil.
type revision struct{ change, before *store.Change }

// revisions yields the mementos of a name, newest first.
func (s *Server) revisions(ctx context.Context, a parsedTarget) iter.Seq2[revision, error] {
	return func(yield func(revision, error) bool) {
		var later *store.Change
		for c, err := range s.mementos(ctx, a) {
			if err != nil {
				yield(revision{}, err)
				return
			}
			if later != nil && !yield(revision{later, c}, nil) {
				return
			}
			later = c
		}
		if later != nil {
			yield(revision{later, nil}, nil)
		}
	}
}

// firstOf returns the first element of an iterator. If the iterator is empty, firstOf returns
// ErrNotFound.
func firstOf(changes iter.Seq2[*store.Change, error]) (*store.Change, error) {
	for c, err := range changes {
		return c, err
	}
	return nil, store.ErrNotFound
}

func (s *Server) writeTimeMap(ctx context.Context, w io.Writer, m timeMap) error {
	a := m.target
	original := "<" + m.original + ">;rel=\"original timegate\""
	if m.gate != m.original {
		original = "<" + m.original + ">;rel=\"original\",\n<" + m.gate + ">;rel=\"timegate\""
	}
	path := m.base + format.NamePath(a.kept().Key())
	_, err := fmt.Fprintf(w, "%s,\n<%s>;rel=\"self\";type=\"%s\"", original, m.self, typeLinkFormat)
	if err != nil {
		return err
	}
	last := "last "
	for r, err := range s.revisions(ctx, a) {
		if err != nil {
			return err
		}
		first, at := "", r.change.Time
		if r.before == nil {
			first = "first "
		}
		if _, err := fmt.Fprintf(w, ",\n<%s>;rel=\"%s%smemento\";datetime=\"%s\"", withDirectives(path, a.directives(at)), first, last, httpDate(at)); err != nil {
			return err
		}
		last = ""
	}
	_, err = io.WriteString(w, "\n")
	return err
}

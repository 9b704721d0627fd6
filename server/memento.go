package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// timeMapPath is where the TimeMaps of names are, each under its name.
const (
	timeMapRoot = "/-/timemap"
	timeMapPath = timeMapRoot + "/"
)

// typeLinkFormat is the media type of TimeMaps (RFC 7089, 5; RFC 6690).
const typeLinkFormat = "application/link-format"

// negotiable reports whether a request can be negotiated in time: it is a path of
// a name without components of RFC 8141, which have no place for a time.
func (a asked) negotiable() bool {
	return !a.bare && !a.name.IsZero() && a.query.r == "" && a.query.q == "" && a.query.other == ""
}

// originalOf returns the path, with its query, that asks on the web what a asks,
// as of now.
func (a asked) originalOf(key string) string {
	return withDirectives(format.NamePath(key), a.directives(time.Time{}))
}

// directives returns the directives that ask on the web what a asks, as of a time.
func (a asked) directives(at time.Time) query {
	q := query{service: a.query.service, component: a.query.component, at: at}
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

// httpDate returns a time as HTTP spells it, rounded up to the second: who asks as
// of the date of a revision gets it.
func httpDate(t time.Time) string {
	return t.Add(time.Second - time.Nanosecond).UTC().Truncate(time.Second).Format(http.TimeFormat)
}

// linkTime adds where a name is found as of other times and, to an answer as of
// one, the time of the revision that it shows (RFC 7089, 2.1 and 2.2). That is a
// promise that the answer stays, which nobody can give for a time to come.
func (s *Server) linkTime(p *reply, l *linkField, a asked, key, path string, ans *nomen.Answer) {
	if !a.negotiable() {
		return
	}
	mark, directives := "?", a.directives(time.Time{}).String()
	if directives == "" {
		mark = ""
	}
	if isURL(key) {
		l.add("original", "", key)
		l.add("timegate", "", path, mark, directives)
	} else {
		l.add("original timegate", "", path, mark, directives)
	}
	l.add("timemap", typeLinkFormat, timeMapRoot, path, mark, directives)
	if at := a.query.at; !at.IsZero() && !at.After(s.now()) && !ans.Modified.IsZero() {
		p.add("Memento-Datetime", httpDate(ans.Modified))
	}
}

func timeMapOf(key string) string { return timeMapRoot + format.NamePath(key) }

// badTime is the error of a time in a target.
func badTime(target, value string) error {
	offset := max(strings.LastIndex(target, "at="+value), 0) + len("at=")
	return &nomen.Error{
		Kind: nomen.Malformed, Name: target, Offset: min(offset, len(target)), Rule: "at",
		Message: "wants one time of the form 2006-01-02T15:04:05Z, or a date of the form 2006-01-02",
	}
}

// negotiate answers a request for a name, which may ask by Accept-Datetime as of
// another time: then it leads to the memento (RFC 7089, 4.1.1). A target that
// names a time itself is a memento, and is not negotiated.
func (s *Server) negotiate(ctx context.Context, r *request, a asked) *reply {
	if r.datetime == "" || !a.query.at.IsZero() || a.admitted() != nil {
		return s.resolveAt(ctx, r, a)
	}
	at, err := time.Parse(http.TimeFormat, r.datetime)
	if err != nil { // RFC 7089, 4.5.3
		return s.problem(r, a, &nomen.Error{
			Kind: nomen.Malformed, Name: a.name.Key(), Rule: "rfc1123-date",
			Message: "the Accept-Datetime field wants the form " + http.TimeFormat,
		})
	}
	m, err := s.mementoAt(ctx, a, at)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, errors.ErrUnsupported):
		return s.resolveAt(ctx, r, a)
	case err != nil:
		return s.failure(r, err)
	}
	target := withDirectives(format.NamePath(m.Record.Name.Key()), a.directives(m.Time))
	p := newReply(http.StatusFound)
	key := m.Record.Name.Key()
	l := make(linkField, 0, 512)
	s.linkTime(p, &l, a, key, format.NamePath(key), &nomen.Answer{})
	l.add("memento", "", target)
	p.add("Link", string(l)+`; datetime="`+httpDate(m.Time)+`"`)
	p.add("Vary", "Accept")
	p.add("Cache-Control", "no-cache")
	return toward(r, p, target)
}

// mementoAt returns the change that made the revision of a time, or the first one
// for earlier times; ErrNotFound if the name was never public.
func (s *Server) mementoAt(ctx context.Context, a asked, at time.Time) (*store.Change, error) {
	var first *store.Change
	for c, err := range store.History(ctx, s.store, a.kept()) {
		if err != nil {
			return nil, err
		}
		if !isPublic(c) {
			continue
		}
		if first = c; !c.Time.After(at) {
			return c, nil
		}
	}
	if first == nil {
		return nil, store.ErrNotFound
	}
	return first, nil
}

// kept returns the name that is asked about in the case in which it is kept.
func (a asked) kept() name.Name { return a.authority.Fold(a.name) }

// isPublic reports whether everybody could see the revision that a change made.
func isPublic(c *store.Change) bool {
	return c.Record != nil && c.Record.Status != nomen.Reserved
}

// timeMap lists the mementos of a name, the newest first, as they come (RFC 7089,
// 5). Those whose content was redacted are not there.
func (s *Server) timeMap(ctx context.Context, r *request, spelling, q string, set *store.AuthoritySet) *reply {
	n, err := name.Parse(spelling)
	if err != nil {
		return s.problem(r, asked{form: formPage}, malformed(spelling, 0, err))
	}
	a := asked{form: formWeb, name: n, authority: set.Of(n)}
	a.query, _ = readQuery(q)
	a.query.at, a.query.r, a.query.q = time.Time{}, "", ""
	if err := a.admitted(); err != nil {
		return s.problem(r, a, err)
	}
	_, err = firstOf(s.mementos(ctx, a))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return s.problem(r, a, &nomen.Error{Kind: nomen.Unknown, Name: a.name.Key(), Message: "there is no list of its revisions: it was never public here"})
	case err != nil:
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	p.form = formPage
	p.add("Content-Type", typeLinkFormat)
	p.add("Cache-Control", "no-cache")
	base := s.base(r)
	p.stream = func(ctx context.Context, w io.Writer) error { return s.writeTimeMap(ctx, w, base, a) }
	return s.codeStream(r, p)
}

// mementos yields the changes of a name that made mementos, the newest first.
func (s *Server) mementos(ctx context.Context, a asked) func(func(*store.Change, error) bool) {
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

// firstOf returns the first of some changes, or ErrNotFound.
func firstOf(changes func(func(*store.Change, error) bool)) (*store.Change, error) {
	for c, err := range changes {
		return c, err
	}
	return nil, store.ErrNotFound
}

func (s *Server) writeTimeMap(ctx context.Context, w io.Writer, base string, a asked) error {
	key := a.kept().Key()
	path := base + format.NamePath(key)
	original := "<" + base + a.originalOf(key) + ">;rel=\"original timegate\""
	if isURL(key) { // as in linkTime
		original = "<" + key + ">;rel=\"original\",\n<" + base + a.originalOf(key) + ">;rel=\"timegate\""
	}
	_, err := fmt.Fprintf(w, "%s,\n<%s>;rel=\"self\";type=\"%s\"",
		original, base+withDirectives(timeMapOf(key), a.directives(time.Time{})), typeLinkFormat)
	if err != nil {
		return err
	}
	var later *store.Change // is written when it is known whether it is the first
	newest := true
	write := func(rel string) error {
		if newest {
			rel += "last "
		}
		newest = false
		_, err := fmt.Fprintf(w, ",\n<%s>;rel=\"%smemento\";datetime=\"%s\"", withDirectives(path, a.directives(later.Time)), rel, httpDate(later.Time))
		return err
	}
	for c, err := range s.mementos(ctx, a) {
		if err == nil && later != nil {
			err = write("")
		}
		if err != nil {
			return err
		}
		later = c
	}
	if later != nil {
		if err := write("first "); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "\n")
	return err
}

// shownRevisions is how many revisions a page about a name shows.
const shownRevisions = 20

// withPast makes pages about a name tell of its revisions.
func (s *Server) withPast(ctx context.Context, a asked, offers []format.Format) []format.Format {
	i := slices.IndexFunc(offers, func(f format.Format) bool { return f.MediaType == format.TypeHTML })
	if i < 0 || !a.negotiable() {
		return offers
	}
	offers = slices.Clone(offers)
	offers[i].Write = func(w io.Writer, ans *nomen.Answer) error {
		past, err := s.past(ctx, a, ans)
		if err != nil {
			return err
		}
		return format.WriteHTMLPast(w, ans, past)
	}
	return offers
}

// past returns what a page tells of other times.
func (s *Server) past(ctx context.Context, a asked, ans *nomen.Answer) (format.Past, error) {
	past := format.Past{}
	key := ans.Name.Key()
	if !a.query.at.IsZero() {
		past.At, past.Present = ans.Modified, a.originalOf(key)
	}
	var later *store.Change
	add := func(before *store.Change) {
		past.Revisions = append(past.Revisions, format.Revision{
			Number: later.Revision(), Time: later.Time, Status: later.Record.Status,
			Fields: changedFields(before, later),
			Target: withDirectives(format.NamePath(key), a.directives(later.Time)),
		})
	}
	for c, err := range s.mementos(ctx, a) {
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return past, nil
		case err != nil:
			return past, err
		}
		if later != nil {
			if add(c); len(past.Revisions) == shownRevisions {
				past.All = timeMapOf(key)
				return past, nil
			}
		}
		later = c
	}
	if later != nil {
		add(nil)
	}
	return past, nil
}

// changedFields returns the names of the fields that are other in a revision than
// in the one that was public before it.
func changedFields(before, after *store.Change) []string {
	if before == nil {
		return nil
	}
	var all []string
	for _, d := range adminapi.Differences(before.Record, after.Record) {
		field := strings.ReplaceAll(strings.TrimPrefix(d.Field, "metadata."), "_", " ")
		if !slices.Contains(all, field) {
			all = append(all, field)
		}
	}
	return all
}

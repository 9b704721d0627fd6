package server

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/uri"
)

// A query is what the query of a target says about how to resolve the name.
type query struct {
	service   nomen.Service // "" for none that is known
	component string
	other     string    // the second identifier of I=I
	format    string    // the name of a format, which goes before Accept
	r, q      string    // components of RFC 8141
	plain     string    // what is neither directives nor components
	at        time.Time // as of then; zero for now
	badAt     string    // what looks like a time, and is none
}

// String returns what was understood of the query, spelled anew. Components of RFC
// 8141, which directives may have been made of, go before them; a plain query is
// where there is nothing else.
func (q query) String() string {
	if q.r != "" || q.q != "" {
		return rqComponents(q.r, q.q)
	}
	if q.plain != "" {
		return q.plain
	}
	var parts []string
	if q.service != "" {
		parts = append(parts, "s="+string(q.service))
	}
	if q.format != "" {
		parts = append(parts, "format="+q.format)
	}
	if q.component != "" {
		parts = append(parts, "c="+uri.EscapeQueryPart(q.component))
	}
	if q.other != "" {
		parts = append(parts, "with="+adminapi.EscapeName(q.other))
	}
	if !q.at.IsZero() {
		parts = append(parts, "at="+q.at.UTC().Format(time.RFC3339Nano))
	}
	return strings.Join(parts, "&")
}

// rqComponents spells rq-components without the first question mark.
func rqComponents(r, q string) string {
	switch {
	case r != "" && q != "":
		return "+" + r + "?=" + q
	case r != "":
		return "+" + r
	case q != "":
		return "=" + q
	}
	return ""
}

// readQuery reads the components of RFC 8141, or the directives of 2012. It is
// not ok if there is more to the query than those; on paths that is ignored. What
// has no directive at all is a plain query.
func readQuery(s string) (query, bool) {
	switch {
	case s == "":
		return query{}, false
	case s[0] == '+' || s[0] == '=':
		return readComponents(s)
	}
	return readDirectives(s)
}

// plainQuery returns s as it can stand in a URI, or "".
func plainQuery(s string) string {
	for _, spelling := range []string{s, escapeExcluded(s)} {
		if _, err := uri.ParseReference("?" + spelling); err == nil && strings.IndexByte(spelling, '#') < 0 {
			return spelling
		}
	}
	return ""
}

// readComponents reads
//
//	rq-components = [ "?+" r-component ] [ "?=" q-component ]
//
// without the first question mark. What is malformed is as if it were absent.
func readComponents(s string) (query, bool) {
	var out query
	rest, ok := s, true
	if r, isR := strings.CutPrefix(s, "+"); isR {
		var hasQ bool
		r, rest, hasQ = strings.Cut(r, "?=")
		out.r, ok = checkedComponent(r)
		if !hasQ {
			return out, ok
		}
		rest = "=" + rest
	}
	q, okQ := checkedComponent(rest[1:])
	out.q = q
	return out, ok && okQ
}

// checkedComponent returns s if it is pchar *( pchar / "/" / "?" ).
func checkedComponent(s string) (string, bool) {
	if s == "" || s[0] == '/' || s[0] == '?' {
		return "", false
	}
	if u, err := uri.ParseReference("?" + s); err != nil {
		return "", false
	} else if _, fragment := u.Fragment(); fragment {
		return "", false
	}
	return s, true
}

// The keywords of directives: those that are registered (2012, 9.2.1), and three
// of ours.
const (
	keywordService   = "s"
	keywordComponent = "c"
	keywordOther     = "with" // the second identifier of I=I
	keywordAt        = "at"
	keywordFormat    = "format" // of [format.Formats] and [format.Citations]
)

// readDirectives reads directive *( "&" directive ) (2012, 2.3). A registered
// keyword that occurs twice is ignored with all its values (N12-29), an unknown
// one is ignored (N12-30), so is a service that nobody knows (N12-32). "at" is a
// directive if its value looks like a time, "with" beside s=I=I, and "format" beside
// a service if a format has that name.
func readDirectives(s string) (query, bool) {
	var values [5]string // of the keywords in their order
	var seen [5]int
	ok := true
	for directive := range strings.SplitSeq(s, "&") {
		keyword, value, isDirective := strings.Cut(directive, "=")
		i := -1
		if isDirective {
			i = keywordIndex(keyword, value)
		}
		if i < 0 {
			ok = false
			continue
		}
		seen[i]++
		values[i] = value
	}
	out := query{}
	if seen[0] == 1 {
		out.service = readService(values[0])
	}
	if seen[1] == 1 {
		if c, err := uri.Unescape(values[1]); err == nil {
			out.component = c
		}
	}
	if seen[2] == 1 && out.service == nomen.IisI {
		out.other = adminapi.UnescapeName(values[2])
	}
	if seen[3] > 0 {
		out.readAt(values[3], seen[3])
	}
	if seen[4] == 1 && out.service != "" {
		out.format = values[4]
	}
	if seen == [5]int{2: seen[2], 4: seen[4]} {
		out.plain = plainQuery(s)
	}
	if out.service == nomen.IisI && out.other == "" { // there is nothing to compare with
		out.service = ""
	}
	return out, ok && (seen[2] == 0 || out.other != "") && (seen[4] == 0 || out.format != "")
}

// readService reads a service, "" for one that nobody knows. Forms escape the sign in
// I=I.
func readService(value string) nomen.Service {
	if strings.IndexByte(value, '%') >= 0 {
		value, _ = uri.Unescape(value) // what is malformed is no service
	}
	if s := nomen.Service(value); s.Known() {
		return s
	}
	return ""
}

// keywordIndex returns the place of a keyword in the order of the constants, -1
// for an unknown one.
func keywordIndex(keyword, value string) int {
	switch keyword {
	case keywordService:
		return 0
	case keywordComponent:
		return 1
	case keywordOther:
		return 2
	case keywordAt:
		if looksLikeTime(value) {
			return 3
		}
	case keywordFormat:
		if _, ok := format.ByName(value); ok {
			return 4
		}
	}
	return -1
}

// readAt reads a time. One that was given more than once is none: the answer
// would be as of another than was meant.
func (q *query) readAt(value string, times int) {
	text, err := uri.Unescape(value)
	if err == nil && times == 1 {
		q.at, err = adminapi.ParseTime(text)
	}
	if err != nil || times > 1 {
		q.at, q.badAt = time.Time{}, value
	}
}

// looksLikeTime reports whether s begins like a date. Other values of "at" mean
// something to somebody else.
func looksLikeTime(s string) bool {
	const year = 4
	for i := range len(s) {
		switch c := s[i]; {
		case i < year && (c < '0' || c > '9'):
			return false
		case i == year:
			return c == '-'
		}
	}
	return false
}

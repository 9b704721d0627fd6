package server

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/uri"
)

type query struct {
	service   nomen.Service // "" if absent or unknown
	component string
	other     string    // the second identifier of I=I
	format    string    // name of a format, which precedes Accept
	r, q      string    // components of RFC 8141
	plain     string    // a query without directives and components
	at        time.Time // the time as of which to resolve; zero for now
	badAt     string    // a value of at= that begins like a time but is invalid
}

// String returns the query in canonical spelling. If the query has components of RFC 8141, String
// writes only these, because directives may have been converted to components. A plain query has
// neither directives nor components.
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

// rqComponents returns the rq-components without the leading question mark.
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

// readQuery parses a query with components of RFC 8141, or with directives of the draft of 2012.
// The second result is false if the query also has other parts, which are ignored in paths. A query
// without directives becomes a plain query.
func readQuery(s string) (query, bool) {
	switch {
	case s == "":
		return query{}, false
	case s[0] == '+' || s[0] == '=':
		return readComponents(s)
	}
	return readDirectives(s)
}

// plainQuery escapes the characters in s that cannot be in a query. It returns "" if s is still
// invalid.
func plainQuery(s string) string {
	for _, spelling := range []string{s, question.EscapeExcluded(s)} {
		if _, err := uri.ParseReference("?" + spelling); err == nil && strings.IndexByte(spelling, '#') < 0 {
			return spelling
		}
	}
	return ""
}

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

// checkedComponent returns s, and whether s has the form pchar *( pchar / "/" / "?" ).
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

// The keywords of directives: the keywords that the draft of 2012 registers (9.2.1), and three
// keywords of this server.
const (
	keywordService   = "s"
	keywordComponent = "c"
	keywordOther     = "with" // the second identifier of I=I
	keywordAt        = "at"
	keywordFormat    = "format"
)

// readDirectives parses directive *( "&" directive ) (draft of 2012, 2.3). It ignores unknown
// keywords and unknown services. If a registered keyword occurs twice, it ignores all values of the
// keyword (draft of 2012: N12-29, N12-30 and N12-32). The keywords of this server are directives
// only under conditions: the value of "at" must look like a time, "with" needs s=I=I, and "format"
// needs a service and the name of a format.
func readDirectives(s string) (query, bool) {
	var values [5]string // in the order of the keywords
	var seen [5]int
	ok := true
	for directive := range strings.SplitSeq(s, "&") {
		keyword, value, isDirective := strings.Cut(directive, "=")
		i := keywordIndex(keyword, value)
		if !isDirective || i < 0 {
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
	if out.service == nomen.IisI && out.other == "" { // there is no second identifier to compare with
		out.service = ""
	}
	return out, ok && (seen[2] == 0 || out.other != "") && (seen[4] == 0 || out.format != "")
}

func readService(value string) nomen.Service {
	if strings.IndexByte(value, '%') >= 0 {
		value, _ = uri.Unescape(value) // with malformed escapes, the service is unknown
	}
	if s := nomen.Service(value); s.Known() {
		return s
	}
	return ""
}

// keywordIndex returns the index of a keyword among the constants. If the keyword with this value
// is not a directive, it returns -1.
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

// readAt parses the time in a directive. The parameter count says how often the directive occurs.
// If count is greater than 1, the time is ambiguous, and readAt records an error.
func (q *query) readAt(value string, count int) {
	text, err := uri.Unescape(value)
	if err == nil && count == 1 {
		q.at, err = adminapi.ParseTime(text)
	}
	if err != nil || count > 1 {
		q.at, q.badAt = time.Time{}, value
	}
}

// strictAt reads the time in text, which is the query of a page of the server, such as a receipt.
// In such a query, every value of "at" must be a time. The result is false if the time is invalid.
func (q *query) strictAt(text string) (ok bool) {
	count, last := 0, ""
	for part := range strings.SplitSeq(text, "&") {
		if keyword, value, _ := strings.Cut(part, "="); keyword == keywordAt {
			count, last = count+1, value
		}
	}
	if count == 0 {
		return true
	}
	q.readAt(last, count)
	return !q.at.IsZero()
}

// looksLikeTime reports whether s begins like a date. Other values of "at" are for other programs.
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

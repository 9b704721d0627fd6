package server

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/uri"
)

// A query is what the query of a target says about how to resolve the name.
type query struct {
	service   nomen.Service // one that is offered, or ""
	component string
	r, q      string    // components of RFC 8141
	at        time.Time // as of then; zero for now
	badAt     string    // what looks like a time, and is none
}

// String returns what was understood of the query, spelled anew.
func (q query) String() string {
	var parts []string
	if q.service != "" {
		parts = append(parts, "s="+string(q.service))
	}
	if q.component != "" {
		parts = append(parts, "c="+uri.EscapeQueryPart(q.component))
	}
	if !q.at.IsZero() {
		parts = append(parts, "at="+q.at.UTC().Format(time.RFC3339Nano))
	}
	if len(parts) > 0 {
		return strings.Join(parts, "&")
	}
	return rqComponents(q.r, q.q)
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
// not ok if there is more to the query than those; on paths that is ignored.
func readQuery(s string) (query, bool) {
	switch {
	case s == "":
		return query{}, false
	case s[0] == '+' || s[0] == '=':
		return readComponents(s)
	}
	return readDirectives(s)
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

// readDirectives reads directive *( "&" directive ) (2012, 2.3). A registered
// keyword that occurs twice is ignored with all its values (N12-29), an unknown
// one is ignored (N12-30), so is a service that is not offered (N12-32). "at" is
// a directive of ours, if its value looks like a time.
func readDirectives(s string) (query, bool) {
	const service, component, at = "s", "c", "at"
	seen := map[string]int{}
	values := map[string]string{}
	ok := true
	for directive := range strings.SplitSeq(s, "&") {
		keyword, value, isDirective := strings.Cut(directive, "=")
		known := keyword == service || keyword == component || keyword == at && looksLikeTime(value)
		if !isDirective || !known {
			ok = false
			continue
		}
		seen[keyword]++
		values[keyword] = value
	}
	out := query{}
	if seen[service] == 1 && isOffered(nomen.Service(values[service])) {
		out.service = nomen.Service(values[service])
	}
	if seen[component] == 1 {
		if c, err := uri.Unescape(values[component]); err == nil {
			out.component = c
		}
	}
	if seen[at] > 0 {
		out.readAt(values[at], seen[at])
	}
	return out, ok
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

// isOffered reports whether a service can be asked for. The spelling matters
// (N12-61).
func isOffered(s nomen.Service) bool {
	switch s {
	case nomen.I2L, nomen.I2Ls, nomen.I2C, nomen.I2Cs, nomen.I2N, nomen.I2Ns:
		return true
	}
	return false
}

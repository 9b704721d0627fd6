package handle

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"

	"github.com/nomen-project/nomen/internal/hdl"
)

// A query has the parameters of a request in their order.
type query []parameter

type parameter struct {
	key, value string
	bare       bool // the parameter has no "="
}

const maxParameters = 1000

// parseQuery parses the query of a target. In the query, a plus sign does not stand for a space.
func parseQuery(text string) (q query) { return parseParameters(text, "&") }

func parseParameters(text, separators string) (q query) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		key, value, found := strings.Cut(part, "=")
		q = append(q, parameter{hdl.Unescape(key), hdl.Unescape(value), !found})
		if len(q) == maxParameters {
			break
		}
	}
	return q
}

func (q query) all(key string) (values []string) {
	for _, p := range q {
		if p.key == key {
			values = append(values, p.value)
		}
	}
	return values
}

func (q query) get(key string) string {
	if values := q.all(key); len(values) > 0 {
		return values[0]
	}
	return ""
}

func (q query) has(key string) bool { return len(q.all(key)) > 0 }

// flag returns a boolean parameter, or byDefault if the query does not have the parameter. An empty
// value, "true" and "yes" mean true. The letter case is ignored.
func (q query) flag(key string, byDefault bool) bool {
	for _, p := range q {
		if p.key == key {
			return p.bare || ascii.IsOneOf(p.value, "true", "yes")
		}
	}
	return byDefault
}

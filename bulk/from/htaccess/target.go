package htaccess

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/bulk/from/rewrite"
	"github.com/nomen-project/nomen/rule"
)

// An expansion converts the target of a RewriteRule to a URL template.
type expansion struct {
	*converter
	rewrite.Target
	flags
	group, other string // names of the parts "$1" and "%1", without the number
	query        bool   // the target has a "?"
	needs        []rule.Condition
	whole        bool   // the target has "$0"
	groups       int    // number of the last group
	run          string // literal text that was read last
	others       int    // number of the last group of the conditions; -1 without conditions
}

func (e *expansion) expand(target string) (string, error) {
	for i := 0; i < len(target); i++ {
		c := target[i]
		next := byte(0)
		if i+1 < len(target) {
			next = target[i+1]
		}
		switch {
		case c == '\\' && next != 0:
			i++
			e.run += target[i : i+1]
		case c == '$' && '0' <= next && next <= '9':
			if i++; int(next-'0') > e.groups {
				continue // without a value
			}
			e.whole = e.whole || next == '0'
			e.part(e.group+string(next), true)
		case c == '%' && '0' <= next && next <= '9':
			if i++; int(next-'0') > e.others {
				continue
			}
			e.part(e.other+string(next), !e.noEscape)
		case c == '%' && next == '{':
			end := strings.IndexByte(target[i:], '}')
			if end < 0 {
				return "", errors.New("missing } in the target")
			}
			if err := e.variable(target[i+2 : i+end]); err != nil {
				return "", err
			}
			i += end
		case c == '$' && next == '{':
			return "", errors.New("unsupported map in the target")
		default:
			e.run += target[i : i+1]
		}
	}
	e.flush()
	s, err := e.Template()
	if e.query {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "&"), "?")
	}
	return s, err
}

// flush adds the literal text that was read since the last variable part.
func (e *expansion) flush() {
	for i := range len(e.run) {
		first := e.run[i] == '?' && !e.query
		e.query = e.query || first
		e.Char(e.run[i:], !e.noEscape && !first)
	}
	e.run = ""
}

func (e *expansion) part(name string, escape bool) {
	e.flush()
	e.Part(name, escape, e.backrefs)
}

func (e *expansion) variable(name string) error {
	capture := func(on, leading, part string) {
		c := rule.Condition{On: on, Regexp: leading + "(?P<" + part + ">.*)$"}
		if !slices.Contains(e.needs, c) {
			e.needs = append(e.needs, c)
		}
		e.part(part, on == "path" || !e.noEscape)
	}
	if group, ok := strings.CutPrefix(name, groupBegin); ok {
		e.part(group, true)
		return nil
	}
	switch strings.ToUpper(name) {
	case "HTTP_HOST", "SERVER_NAME":
		_, host, _ := strings.Cut(e.origin, "://")
		e.run += host
	case "REQUEST_SCHEME":
		scheme, _, _ := strings.Cut(e.origin, "://")
		e.run += scheme
	case "QUERY_STRING":
		capture("query", "^", "qs")
	case "REQUEST_URI":
		e.run += "/"
		capture("path", "^/", "uri")
	default:
		return fmt.Errorf("unsupported variable %%{%s} in the target", name)
	}
	return nil
}

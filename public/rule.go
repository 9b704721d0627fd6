package public

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/uri"
)

// newRule returns a rule for the pattern and the locations of a prefix. The pattern may be "". A
// pattern that does not match the example of the registry is ignored.
func newRule(pattern, example string, places []string) (rule.Rule, error) {
	var out rule.Rule
	for _, body := range []string{pattern, ".+"} {
		body = strings.TrimSuffix(strings.TrimPrefix(body, "^"), "$")
		body = strings.ReplaceAll(body, "$|^", "|") // each alternative of the registry's pattern has anchors
		out.Regexp = "^:?(?P<id>" + body + ")$"
		p, err := rule.ParseRegexp(out.Regexp, false)
		if err != nil {
			return out, err
		}
		if body != "" && (example == "" || p.Match(example) != nil) {
			break
		}
	}
	for _, text := range places {
		rank, text, _ := strings.Cut(text, " ")
		country, url, _ := strings.Cut(text, " ")
		n, err := strconv.Atoi(rank)
		if err != nil {
			return out, fmt.Errorf("rank: %w", err)
		}
		l := nomen.Location{URL: strings.ReplaceAll(escaped(url), "$", "{+id}"), Priority: n}
		if country != "-" {
			l.Country = country
		}
		out.Locations = append(out.Locations, l)
	}
	return out, nil
}

// madeUp is an identifier for testing a rule if the registry has no example.
const madeUp = "0000001"

func tested(at name.Prefix, r rule.Rule, example string, places []string) (rule.Set, error) {
	if example == "" {
		example = madeUp
	}
	t := rule.Test{From: at.String() + ":" + uri.EscapePath(example)}
	for _, text := range places {
		url := text[strings.LastIndexByte(text[:strings.Index(text, ":")], ' ')+1:]
		t.To = append(t.To, strings.ReplaceAll(escaped(url), "$", escaped(example)))
	}
	r.Tests = []rule.Test{t}
	set := rule.Set{r}
	_, err := set.Compile(at)
	return set, err
}

func escaped(s string) string {
	var b strings.Builder
	fragment := false
	for i := range len(s) {
		c := s[i]
		bad := c <= ' ' || c > '~' || strings.IndexByte("\"<>[\\]^`{|}", c) >= 0
		switch c {
		case '%':
			_, err := uri.Unescape(s[i:min(i+3, len(s))])
			bad = err != nil
		case '#':
			bad = fragment
			fragment = true
		}
		if bad {
			b.WriteString(ascii.Escape(c))
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

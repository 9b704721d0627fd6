package client

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen"
)

// A template is the URL of a resolver with the place where a name goes: one that
// the user named, or that somebody has found.
type template struct{ before, after string }

func parseTemplate(via string) (way, error) {
	before, after, _ := strings.Cut(via, placeholder)
	if strings.Contains(after, placeholder) || !strings.Contains(strings.SplitN(before, "://", 2)[1], "/") {
		return nil, fmt.Errorf("client: %q: %s belongs into the path or the query of a resolver's URL, once", via, placeholder)
	}
	return template{before, after}, nil
}

func (t template) key(about subject) string { return t.before + about.name.Key() + t.after }

func (t template) locates(service nomen.Service) bool { return wantsLocations(service) }

func (t template) asked(service nomen.Service) nomen.Service { return site{}.asked(service) }

// ask says what else is wanted as directives after the name, which a resolver that
// does not know them ignores (2012, 2.3.1). In a query of a template there is no
// room for them.
func (t template) ask(ctx context.Context, c *Client, at stop, q inquiry) (*reply, error) {
	inQuery := strings.Contains(t.before, "?")
	suffix := ""
	if !inQuery && t.after == "" {
		var err error
		if suffix, err = webSuffix(q.Question); err != nil {
			return nil, err
		}
	}
	target := t.before + t.spell(at.spelling, inQuery) + t.after + suffix
	return c.getAbout(ctx, at, q, target, t.before+at.name.Key()+t.after+suffix)
}

// spell returns a name as a part of a path, or of a query: there as it is when it
// is the whole query (RFC 2169, 2.0), escaped when it is a value.
func (t template) spell(spelling string, inQuery bool) string {
	switch {
	case !inQuery:
		return namePath(spelling)
	case strings.HasSuffix(t.before, "?") && t.after == "":
		return spelling
	}
	return url.QueryEscape(spelling)
}

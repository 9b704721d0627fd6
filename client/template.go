package client

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen"
)

// A template is the URL of a resolver with a placeholder for the name.
type template struct{ before, after string }

func parseTemplate(via string) (way, error) {
	before, after, _ := strings.Cut(via, placeholder)
	if strings.Contains(after, placeholder) || !strings.Contains(strings.SplitN(before, "://", 2)[1], "/") {
		return nil, fmt.Errorf("client: invalid resolver URL %q: %s must appear once, in the path or the query", via, placeholder)
	}
	return template{before, after}, nil
}

func (t template) key(about subject) string { return t.before + about.name.Key() + t.after }

func (t template) locates(service nomen.Service) bool { return wantsLocations(service) }

func (t template) asked(service nomen.Service) nomen.Service { return site{}.asked(service) }

// ask sends the service and the other parameters of the question as directives after the name.
// Resolvers ignore directives that they do not support (2012, 2.3.1). It adds directives only if
// the template ends with the name and has no query.
func (t template) ask(ctx context.Context, c *Client, at hop, q inquiry) (*reply, error) {
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

// spell returns a name for insertion into a path or query. A name that is the whole query is not
// changed (RFC 2169, section 2). A name that is a value in a query is percent-encoded.
func (t template) spell(spelling string, inQuery bool) string {
	switch {
	case !inQuery:
		return namePath(spelling)
	case strings.HasSuffix(t.before, "?") && t.after == "":
		return spelling
	}
	return url.QueryEscape(spelling)
}

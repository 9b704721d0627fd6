package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/urn"
)

// name writes the menu of a name. If the text is only an element, the name belongs to the authority
// for the local address.
func (g *Gopher) name(ctx context.Context, m *menu, set *store.AuthoritySet, entered string) {
	s := plain(entered)
	if s == "" {
		m.refuse("please enter a name")
		return
	}
	n, err := name.Parse(s)
	if a := set.At("", m.local); err != nil && a != nil && !strings.HasPrefix(strings.ToLower(s), "urn:") {
		if joined, second := a.Prefix.Join(s); second == nil {
			n, err = joined, nil
		}
	}
	var bad *name.Error
	if errors.As(err, &bad) {
		m.refuse(fmt.Sprintf("invalid name: offset %d: %s: %s", bad.Offset, bad.Rule, bad.Message))
		return
	}
	if own := set.Of(n); own != nil && own.Delegation == nil {
		if request := own.Prefix.Element(n); strings.HasPrefix(request, urn.ReservedPrefix) {
			g.reserved(ctx, m, set, own, request)
			return
		}
	}
	a, err := g.o.Resolver.Resolve(ctx, nomen.Question{Name: n, Service: nomen.I2C})
	g.count(ctx, n, a, err)
	if err != nil {
		g.problem(m, n, err)
		return
	}
	m.describe(n, a)
	m.end()
}

func (g *Gopher) count(ctx context.Context, n name.Name, a *nomen.Answer, err error) {
	var e *nomen.Error
	if err == nil && !a.Name.IsZero() {
		n = a.Name
	} else if errors.As(err, &e) && e.Answer != nil && !e.Answer.Name.IsZero() {
		n = e.Answer.Name
	}
	if c := ClientOf(ctx); c != nil {
		g.o.Counted(c.Addr, n, err)
	}
}

func lists(a *store.Authority) bool { return a.List && a.Access == "" }

// reserved answers a reserved request, such as urn+m, about an authority of this server (draft of
// 1995, 3.5: Y95-55 to Y95-59).
func (g *Gopher) reserved(ctx context.Context, m *menu, set *store.AuthoritySet, a *store.Authority, request string) {
	prefix := a.Prefix.String()
	if no := a.Refuses(prefix); no != nil {
		m.refuse(prefix + ": " + no.Message)
		return
	}
	switch request {
	case "urn+m":
		m.say("This is the resolver of the naming authority " + prefix + ".")
		for _, line := range []struct{ what, text string }{{"", a.Description}, {"contact: ", a.Contact}, {"owners: ", strings.Join(a.Owners, ", ")}} {
			if line.text != "" {
				m.say(line.what + line.text)
			}
		}
		if lists(a) {
			m.item('1', "Its names", selectList+prefix)
		}
	case "urn+a":
		if !lists(a) {
			m.refuse(prefix + ": this naming authority does not list its names")
			return
		}
		g.list(ctx, m, set, prefix, "")
		return
	case "urn+c":
		m.authorities(set, "No child authorities are known.", a.Children)
	case "urn+p":
		m.authorities(set, "No parent authorities are known.", a.Parents)
	default:
		m.refuse(request + ": unknown reserved request")
		return
	}
	m.end()
}

// authorities writes an item for each naming authority in a list. If the list is empty, it writes
// the placeholder. Items of authorities of this server lead to their descriptions.
func (m *menu) authorities(set *store.AuthoritySet, placeholder string, list []string) {
	if len(list) == 0 {
		m.say(placeholder)
	}
	for _, s := range list {
		if p, err := name.ParsePrefix(s); err == nil && set.Exactly(p) != nil {
			m.item('1', s, p.Spell("urn+m"))
			continue
		}
		m.say(s)
	}
}

func (g *Gopher) problem(m *menu, n name.Name, err error) {
	var e *nomen.Error
	ok := errors.As(err, &e)
	var limit *LimitError
	limited := errors.As(err, &limit)
	switch {
	case ok && e.Kind == nomen.Gone && e.Answer != nil:
		m.say("This name was retired.")
		m.describe(n, e.Answer)
		m.end()
	case ok:
		m.refuse(fmt.Sprintf("%s: %s: %s", n, e.Kind, e.Message))
		for _, s := range e.Suggestions {
			m.item('1', "Perhaps "+s, s)
		}
	case limited:
		m.refuse("too many requests; please try again in " + RetryAfter(limit) + " s")
	case errors.Is(err, nomen.ErrLoop):
		m.refuse("the resolvers of the name redirect in a loop")
	case errors.Is(err, nomen.ErrUpstream):
		m.refuse("the resolver of the name cannot be reached; please try again later")
	default:
		g.fail(m, n.Key(), err)
	}
}

func (g *Gopher) text(ctx context.Context, m *menu, s string) {
	n, err := name.Parse(plain(s))
	if err != nil {
		m.refuse("invalid name")
		return
	}
	a, err := g.o.Resolver.Resolve(ctx, nomen.Question{Name: n, Service: nomen.I2C})
	g.count(ctx, n, a, err)
	var e *nomen.Error
	if errors.As(err, &e) && e.Answer != nil {
		a, err = e.Answer, nil
	}
	if err != nil {
		g.problem(m, n, err)
		return
	}
	var b bytes.Buffer
	if err := format.WriteText(&b, a); err != nil {
		g.fail(m, n.Key(), err)
		return
	}
	m.b.Reset()
	for line := range strings.Lines(b.String()) {
		line = plainLine(strings.TrimRight(line, "\r\n"))
		if strings.HasPrefix(line, ".") {
			line = "." + line // a dot at the beginning of a line is doubled (RFC 1436, 3.8)
		}
		m.b.WriteString(line + "\r\n")
	}
	m.end()
}

// elsewherePage returns an HTML page with a link to a URL, for Gopher clients that cannot follow
// the URL itself.
func elsewherePage(url string) string {
	const layout = "<!DOCTYPE html>\r\n<html lang=\"en\">\r\n<head><meta charset=\"utf-8\"><title>Elsewhere</title></head>\r\n<body>\r\n<p>%s</p>\r\n</body>\r\n</html>\r\n"
	if !location.IsLink(url) {
		return fmt.Sprintf(layout, "This is not a link that is safe to follow.")
	}
	to := html.EscapeString(url)
	return fmt.Sprintf(layout, `This leads to another site: <A HREF="`+to+`" rel="noreferrer">`+to+`</A>`)
}

package gateway

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// An Explainer explains identifiers and says where they lead. It asks other servers only if Ways is
// set and Access permits the client.
type Explainer struct {
	Authorities *store.Table   // the authorities that are served here; may be nil
	Store       store.Reader   // contains the records of names without an authority; may be nil
	Ways        Ways           // finds the resolvers of other names; may be nil
	Access      *AccessControl // must be the Access of the [ForeignResolver]; nil permits no client
	Log         *slog.Logger   // receives failures; may be nil
}

// Ways finds the resolvers of a name, the best first. In each [Fact], the Name is the resolver, and
// the Value says how the resolver was found. After an error, Ways may yield more resolvers. Clients
// see the text of an error only if it has a method Public() string, which returns this text.
type Ways func(ctx context.Context, n name.Name) iter.Seq2[Fact, error]

// An Explanation describes a text without resolving it.
type Explanation struct {
	Given string // the text as entered
	Text  string // the text without the brackets, white space and prefixes that people write around a URI

	Kind    string // kind of identifier, for people; "" if the text is not a URI
	Parts   []Fact
	Remarks []string // remarks for people
	Fault   *Fault   // why the text is not an identifier; nil if it is one
	Meant   []Fact   // names that may be meant, and why

	Name      name.Name        // zero if the text is not a name
	Authority *store.Authority // authority here to which the name belongs, or nil
	Known     bool             // the name has a record here, without an authority
	Asks      bool             // this server would ask other servers about the name
	Ways      []Fact           // resolvers that this server would ask, the best first, and how they were found
	NoWay     string           // why a step of finding resolvers failed, or ""

	Link string // for a text that is not a name: its URL if it is safe to follow, or ""
}

// A Fact is a name and a value that a page shows.
type Fact struct{ Name, Value string }

// A Fault says where and why a text is not an identifier.
type Fault struct {
	Offset  int // offset in Text, in bytes
	Rule    string
	Message string
}

// The limits on an explanation.
const (
	maxExplained = 8 << 10 // maximum length of the text in bytes
	maxWays      = 8
	waysTimeout  = 5 * time.Second
)

// Leads reports whether this server can resolve the name, or would ask other servers about it.
func (x *Explanation) Leads() bool {
	return !x.Name.IsZero() && (x.Authority != nil || x.Known || x.Asks)
}

// Asked reports whether the text is a name of a kind for which there are resolvers.
func (x *Explanation) Asked() bool {
	return !x.Name.IsZero() && (x.Authority != nil || x.Known || isForeign(x.Name))
}

// plain extracts the identifier from a text. It removes white space, brackets and "URL:" around it
// (RFC 3986, appendix C; draft of 1995, 2). It also removes the prefix "web+" of schemes for which
// a browser opens a web page.
func plain(entered string) string {
	s := strings.Join(strings.Fields(entered), "")
	if inner, ok := strings.CutPrefix(s, "<"); ok {
		s = strings.TrimSuffix(inner, ">")
	}
	for _, before := range []string{"URL:", "web+"} {
		if len(s) > len(before) && strings.EqualFold(s[:len(before)], before) && strings.Contains(s[len(before):], ":") {
			s = s[len(before):]
		}
	}
	return s
}

// Explain explains a text that a user entered. The context must carry the client (see
// [WithClient]). The error is a failure of the store.
func (e *Explainer) Explain(ctx context.Context, entered string) (*Explanation, error) {
	x := &Explanation{Given: entered}
	if len(entered) > maxExplained {
		x.Given = entered[:maxExplained]
		x.Fault = &Fault{Offset: maxExplained, Rule: "length", Message: "the text is too long"}
		return x, nil
	}
	x.Text = plain(entered)
	spelling, q, hasQuery := strings.Cut(x.Text, "?")
	spelling, fragment, hasFragment := strings.Cut(spelling, "#")
	if strings.HasPrefix(strings.ToLower(spelling), "urn:") {
		x.urn(spelling)
	} else {
		x.uri(spelling)
	}
	if x.Fault != nil {
		x.suggest()
		return x, nil
	}
	if hasQuery {
		q, fragment, hasFragment = strings.Cut(q, "#")
		x.query(q)
	}
	if hasFragment {
		x.Parts = append(x.Parts, Fact{"fragment", fragment})
	}
	return x, e.place(ctx, x)
}

// query adds the text after the first question mark to the explanation. In a URN, this text
// consists of components, or of directives (draft of 2012: N12-26).
func (x *Explanation) query(q string) {
	whole := x.Text
	if u, err := urn.Parse(whole); err == nil {
		if r, ok := u.RComponent(); ok {
			x.Parts = append(x.Parts, Fact{"r-component", r})
		}
		if q, ok := u.QComponent(); ok {
			x.Parts = append(x.Parts, Fact{"q-component", q})
		}
		return
	}
	u, err := urn.Draft2012.Parse(whole)
	if err != nil {
		x.Parts = append(x.Parts, Fact{"query", q})
		return
	}
	for _, d := range u.Directives(urn.Keywords2012(), func(keyword, value string) bool { return keyword != "s" || nomen.Service(value).Known() }) {
		name := "directive " + d.Keyword
		if d.Ignored {
			name += " (ignored)"
		}
		x.Parts = append(x.Parts, Fact{name, d.Value})
	}
}

func (x *Explanation) urn(s string) {
	u, err := urn.Parse(s)
	if err == nil {
		x.Name, err = name.FromURN(u)
	}
	if err != nil {
		x.fault(s, err)
		return
	}
	x.Kind = "a name of the namespace " + u.NID()
	x.Parts = []Fact{{"namespace", u.NID()}}
	n, known := namespace.Lookup(strings.ToLower(u.NID()))
	if !known {
		x.Remarks = append(x.Remarks, "its namespace is unknown")
		x.Parts = append(x.Parts, Fact{"name within it", u.NSS()})
		return
	}
	if n.Name != "" {
		x.Kind += ": " + n.Name
	}
	x.Parts = append(x.Parts, Fact{"name within it", u.NSS()})
	for _, p := range n.Parts(u.NSS()) {
		x.Parts = append(x.Parts, Fact{p.Name, p.Value})
	}
	for _, f := range namespace.Check(u) {
		message := f.Message
		if f.Code == namespace.CodeCheckDigit { // the message does not name the rule
			message = f.Rule + ": " + message
		}
		x.remark(message, f.Right)
	}
}

func (x *Explanation) uri(s string) {
	u, err := uri.Parse(s)
	if err != nil {
		x.fault(s, err)
		return
	}
	if n, err := name.FromURI(u); err == nil {
		x.Name = n
	}
	own, _ := u.Scheme()
	x.Kind = "a URI of the scheme " + strings.ToLower(own)
	x.Parts = []Fact{{"scheme", own}}
	if known, ok := extra.Catalogue().Lookup(strings.ToLower(own)); ok {
		x.Kind += ": " + known.Title
	} else {
		x.Remarks = append(x.Remarks, "its scheme is unknown")
	}
	for _, p := range extra.Catalogue().Parts(u) {
		if p.Offset >= 0 && p.Value != "" {
			x.Parts = append(x.Parts, Fact{strings.ReplaceAll(p.Label(), "_", " "), p.Value})
		}
	}
	for _, f := range u.Inspect(extra.Catalogue().Rules()...) {
		x.remark(f.Message, "")
	}
	for _, f := range extra.Catalogue().Check(u) {
		x.remark(f.Message, f.Right)
	}
}

func (x *Explanation) remark(message, right string) {
	if right != "" && !strings.HasSuffix(message, "should be "+right) {
		message += "; better: " + right
	}
	if !slices.Contains(x.Remarks, message) {
		x.Remarks = append(x.Remarks, message)
	}
}

// fault records why s is not an identifier. The parameter err is the error of parsing it.
func (x *Explanation) fault(s string, err error) {
	x.Fault = &Fault{Rule: "URI", Message: err.Error()}
	_, parsed := name.Parse(s)
	var bad *name.Error
	if errors.As(parsed, &bad) {
		x.Fault = &Fault{min(max(bad.Offset, 0), len(x.Text)), bad.Rule, bad.Message}
	}
}

func (x *Explanation) suggest() {
	for _, s := range name.Suggest(x.Text) {
		x.Meant = append(x.Meant, Fact{s.Name, s.Why})
	}
}

// place adds to the explanation where the identifier leads.
func (e *Explainer) place(ctx context.Context, x *Explanation) error {
	if !x.Name.IsZero() && e.Authorities != nil {
		set, err := e.Authorities.Set(ctx, time.Time{})
		if err != nil {
			return err
		}
		x.Authority = set.Of(x.Name)
	}
	if err := e.known(ctx, x); err != nil {
		return err
	}
	switch {
	case x.Authority != nil, x.Known:
	case x.Asked():
		x.suggest()
		c := ClientOf(ctx)
		if x.Asks = e.Access.Admits(c); x.Asks {
			e.ways(ctx, x)
		} else if c.misled() != "" {
			x.Remarks = append(x.Remarks, "no other resolver is asked: "+c.misled())
		}
	case location.IsLink(x.Text):
		x.Link = x.Text
	}
	return nil
}

// known records whether a name that has no authority here has a public record.
func (e *Explainer) known(ctx context.Context, x *Explanation) error {
	if x.Name.IsZero() || x.Authority != nil || e.Store == nil {
		return nil
	}
	rec, err := e.Store.Get(ctx, x.Name, time.Time{})
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	x.Known = rec.Status != nomen.Reserved
	return nil
}

// ways adds to the explanation the resolvers that this server would ask.
func (e *Explainer) ways(ctx context.Context, x *Explanation) {
	if e.Ways == nil {
		return
	}
	leave, err := e.Access.enter(ClientOf(ctx))
	if err != nil {
		x.NoWay = "too many requests at the moment"
		return
	}
	defer leave()
	ctx, cancel := Asking(ctx)
	defer cancel()
	ctx, end := context.WithTimeout(ctx, waysTimeout)
	defer end()
	for w, err := range e.Ways(ctx, x.Name) {
		switch {
		case err != nil:
			e.logger().Info("cannot find resolvers", "name", x.Name.Key(), "err", err)
			x.NoWay = noWay(err)
		default:
			x.Ways = append(x.Ways, w)
		}
		if len(x.Ways) == maxWays {
			return
		}
	}
}

// noWay returns a message for clients about a failure to find resolvers. It describes errors in
// rules and DNS records that others publish, but reveals nothing about the DNS servers that this
// server uses.
func noWay(err error) string {
	var public interface {
		error
		Public() string
	}
	if errors.As(err, &public) {
		return public.Public()
	}
	var dns *net.DNSError
	ok := errors.As(err, &dns)
	switch {
	case ok && dns.IsNotFound:
		return "DNS has no records for " + dns.Name
	case ok && dns.IsTimeout, errors.Is(err, context.DeadlineExceeded):
		return "DNS timed out"
	}
	return "DNS failed"
}

func (e *Explainer) logger() *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}

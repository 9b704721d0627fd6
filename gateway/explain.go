package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// An Explainer says of identifiers what they are and where they lead. Without a
// Finder, or for somebody whom the Door does not let in, it asks nobody.
type Explainer struct {
	Authorities *store.Table  // whose names are served here; nil for none
	Store       store.Reader  // whose names may be without an authority; nil for none
	Finder      client.Finder // of the ways to the names of others; nil for none
	Door        *Door         // that of the [World]; nil is a shut one
	Log         *slog.Logger  // of what failed; nil discards
}

// An Explanation is what can be said of a text without resolving it.
type Explanation struct {
	Given string // as it was entered
	Text  string // without brackets, white space and what some write before a URI

	Kind    string // in words; "" if it is no URI
	Parts   []Fact
	Remarks []string // what its reader should know
	Fault   *Fault   // why it is no identifier, nil if it is one
	Meant   []Fact   // names that were perhaps meant, and why

	Name      name.Name        // zero if it is no name
	Authority *store.Authority // that decides about the name here; nil for none
	Known     bool             // the name is known here, without an authority
	Asks      bool             // this server would ask others about the name
	Ways      []Fact           // where it would ask, best first, and why
	NoWay     string           // why a step of that failed; "" if none did

	Link string // the URL of what locates something elsewhere, if it is safe to follow; "" for names
}

// A Fact is a thing and what there is to say about it.
type Fact struct{ Name, Value string }

// A Fault is where and why a text is no identifier.
type Fault struct {
	Offset  int // in bytes, into Text
	Rule    string
	Message string
}

// The bounds of an explanation.
const (
	maxExplained = 8 << 10 // bytes that are looked at
	maxWays      = 8
	waysTimeout  = 5 * time.Second
)

// Leads reports whether this server resolves the name, or asks others about it.
func (x *Explanation) Leads() bool {
	return !x.Name.IsZero() && (x.Authority != nil || x.Known || x.Asks)
}

// Asked reports whether it is a name about which resolvers are asked.
func (x *Explanation) Asked() bool {
	return !x.Name.IsZero() && (x.Authority != nil || x.Known || isForeign(x.Name))
}

// Plain returns an identifier as it was meant: without white space, the brackets
// around it and "URL:" before it (RFC 3986, appendix C; 1995, 2), and without the
// "web+" by which browsers tell schemes that pages may handle.
func Plain(entered string) string {
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

// Explain explains what somebody entered. The asker is that of the context, see
// [WithAsker]. The error is that of the store.
func (e *Explainer) Explain(ctx context.Context, entered string) (*Explanation, error) {
	x := &Explanation{Given: entered}
	if len(entered) > maxExplained {
		x.Given = entered[:maxExplained]
		x.Fault = &Fault{Offset: maxExplained, Rule: "length", Message: "it is longer than is looked at"}
		return x, nil
	}
	x.Text = Plain(entered)
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
		q, fragment, hasFragment = cutFragment(q)
		x.query(q)
	}
	if hasFragment {
		x.Parts = append(x.Parts, Fact{"fragment", fragment})
	}
	return x, e.place(ctx, x)
}

func cutFragment(s string) (before, fragment string, ok bool) { return strings.Cut(s, "#") }

// query explains what follows the first question mark: of a URN its components, or the
// directives of 2012 one by one (N12-26).
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

// urn explains a URN without components.
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
		x.Remarks = append(x.Remarks, "nothing is known of its namespace")
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
		if f.Code == namespace.CodeCheckDigit { // which the rule is called after
			message = f.Rule + ": " + message
		}
		x.remark(message, f.Right)
	}
}

// uri explains another URI without query and fragment.
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
	if known, ok := scheme.Lookup(strings.ToLower(own)); ok {
		x.Kind += ": " + known.Title
	} else {
		x.Remarks = append(x.Remarks, "nothing is known of its scheme")
	}
	for _, p := range scheme.Parts(u) {
		if p.Offset >= 0 && p.Value != "" {
			x.Parts = append(x.Parts, Fact{strings.ReplaceAll(p.Name, "_", " "), p.Value})
		}
	}
	for _, f := range u.Inspect(scheme.Rules()...) {
		x.remark(f.Message, "")
	}
	for _, f := range scheme.Check(u) {
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

// fault notes why s is no identifier.
func (x *Explanation) fault(s string, err error) {
	x.Fault = &Fault{Rule: "URI", Message: err.Error()}
	_, parsed := name.Parse(s)
	var bad *name.Error
	if errors.As(parsed, &bad) {
		x.Fault = &Fault{min(max(bad.Offset, 0), len(x.Text)), bad.Rule, bad.Message}
	}
}

// suggest notes what was perhaps meant.
func (x *Explanation) suggest() {
	for _, s := range name.Suggest(x.Text) {
		x.Meant = append(x.Meant, Fact{s.Name, s.Why})
	}
}

// place says where an identifier leads.
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
		asker := AskerOf(ctx)
		if x.Asks = e.Door.Admits(asker); x.Asks {
			e.ways(ctx, x)
		} else if asker.misled() != "" {
			x.Remarks = append(x.Remarks, "other resolvers are not asked: "+asker.misled())
		}
	case location.IsLink(x.Text):
		x.Link = x.Text
	}
	return nil
}

// known notes whether a name without an authority is registered, for all to know.
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

// ways notes where the name would be asked about.
func (e *Explainer) ways(ctx context.Context, x *Explanation) {
	if e.Finder == nil {
		return
	}
	leave, err := e.Door.Enter(AskerOf(ctx))
	if err != nil {
		x.NoWay = "too many ask at present"
		return
	}
	defer leave()
	ctx, cancel := Asking(ctx)
	defer cancel()
	ctx, end := context.WithTimeout(ctx, waysTimeout)
	defer end()
	for w, err := range e.Finder.Find(ctx, x.Name) {
		switch {
		case err != nil:
			e.logger().Info("a step of the search for a resolver failed", "name", x.Name.Key(), "err", err)
			x.NoWay = noWay(err)
		default:
			x.Ways = append(x.Ways, Fact{w.String(), w.How})
		}
		if len(x.Ways) == maxWays {
			return
		}
	}
}

// noWay tells a stranger why a step of a search failed: what is wrong with the rules of
// others, and nothing of the servers of DNS that are asked here.
func noWay(err error) string {
	var rules *discover.RuleError
	if errors.As(err, &rules) {
		return "the rules of " + rules.Key + ": " + rules.Reason
	}
	var dns *net.DNSError
	ok := errors.As(err, &dns)
	switch {
	case ok && dns.IsNotFound:
		return "DNS has nothing for " + dns.Name
	case ok && dns.IsTimeout, errors.Is(err, context.DeadlineExceeded):
		return "DNS has not answered in time"
	}
	return "DNS could not be asked"
}

func (e *Explainer) logger() *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}

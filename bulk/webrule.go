package bulk

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

type webRule struct {
	expression string // must match the whole element
	target     []piece
	status     int
	appends    bool // the query of the request is appended
	when       []rule.Condition
}

// A piece is a part of the target of a webRule.
type piece struct {
	literal string
	group   int  // number of a group if literal is ""
	last    bool // the group is one of the last condition
	kind    pieceKind
}

type pieceKind uint8

const (
	asIs      pieceKind = iota + 1 // without changes
	escaped                        // characters that a path cannot contain are percent-encoded
	component                      // delimiters are percent-encoded, too
)

// webRuleOf converts a rule of an authority to a form that web servers support. The error describes
// the unsupported part of the rule.
func webRuleOf(a *store.Authority, r *rule.Rule) (*webRule, error) {
	switch {
	case a.FoldCase:
		return nil, errors.New("the authority ignores the case of letters")
	case r.Raw:
		return nil, errors.New("it is matched with the escapes of the name")
	case len(r.Locations) == 0 && len(r.SameAs) > 0:
		return nil, errors.New("it has only aliases")
	case len(r.Locations) > 1:
		return nil, errors.New("it has several locations")
	}
	w := &webRule{status: r.Status, when: r.When, appends: r.Query == rule.QueryAppend || r.Query == "" && a.Query != "" && string(a.Query) != rule.QueryIgnore}
	if w.status == 0 {
		w.status = a.Redirect
	}
	if w.status == 0 {
		w.status = http.StatusSeeOther
	}
	pattern, err := patternOf(r)
	if err != nil {
		return nil, err
	}
	w.expression = strings.TrimSuffix(strings.TrimPrefix(pattern.Expression(), "^"), "$")
	if len(r.Locations) == 1 {
		err = w.parse(r)
	}
	if err != nil {
		return nil, err
	}
	if w.expression, err = portable(w.expression); err != nil {
		return nil, err
	}
	w.when = slices.Clone(r.When)
	for i := range w.when {
		if w.when[i].Regexp, err = portable(w.when[i].Regexp); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func patternOf(r *rule.Rule) (rule.Pattern, error) {
	if r.Regexp != "" {
		return rule.ParseRegexp(r.Regexp, r.IgnoreCase)
	}
	return rule.ParsePattern(r.Match, r.IgnoreCase)
}

// portable returns a regular expression that has the same meaning in other programs. It removes the
// names of groups, because their syntax differs between programs. It returns an error if the
// expression has characters that other programs may interpret differently.
func portable(expression string) (string, error) {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return "", err
	}
	forgetNames(tree)
	text := tree.String()
	beyond := func(r rune) bool { return r < ' ' || r > '~' }
	if strings.Contains(text, `\x{`) || strings.ContainsFunc(text, beyond) {
		return "", errors.New("its expression has characters that are not visible ASCII")
	}
	return text, nil
}

// forgetNames removes the names of groups. The recursion is bounded, because the parser limits the
// depth of an expression.
func forgetNames(tree *syntax.Regexp) {
	tree.Name = ""
	for _, part := range tree.Sub {
		forgetNames(part)
	}
}

// parse splits the URL template of the location into pieces.
func (w *webRule) parse(r *rule.Rule) error {
	groups := regexp.MustCompile(w.expression).SubexpNames()
	rest := r.Locations[0].URL
	for rest != "" {
		literal, after, found := strings.Cut(rest, "{")
		if literal != "" {
			w.target = append(w.target, piece{literal: literal})
		}
		if rest = after; !found {
			return nil
		}
		variable, after, _ := strings.Cut(rest, "}")
		rest = after
		p, err := w.variable(r, groups, variable)
		if err != nil {
			return err
		}
		w.target = append(w.target, p)
	}
	return nil
}

func (w *webRule) variable(r *rule.Rule, groups []string, variable string) (p piece, err error) {
	label, plus := strings.CutPrefix(variable, "+")
	part := r.Parts[label]
	if part.Drop != "" || part.Trim != "" || part.Case != "" || part.Pad != 0 {
		return p, fmt.Errorf("it converts the part %q", label)
	}
	switch {
	case plus && part.Escape:
		p.kind = escaped
	case plus:
		p.kind = asIs
	default:
		p.kind = component
	}
	if p.group = slices.Index(groups, label); p.group > 9 {
		return p, errors.New("its template has more than nine groups")
	}
	if p.group > 0 {
		return p, nil
	}
	if n := len(w.when); n > 0 && !w.when[n-1].Not && (n == 1 || !w.when[n-2].Or) {
		if p.group = regexp.MustCompile(w.when[n-1].Regexp).SubexpIndex(label); p.group > 0 {
			p.last = true
			return p, nil
		}
	}
	return p, fmt.Errorf("its template has {%s}", variable)
}

func (w *webRule) kinds() (all []pieceKind) {
	for _, p := range w.target {
		if p.kind != 0 && !slices.Contains(all, p.kind) {
			all = append(all, p.kind)
		}
	}
	return all
}

// has reports whether the literal text of the target contains any of the characters in chars.
func (w *webRule) has(chars string) bool {
	return slices.ContainsFunc(w.target, func(p piece) bool { return strings.ContainsAny(p.literal, chars) })
}

type webPath struct {
	directory string // key of the directory if it is a web name, without a final slash; "" for the root of any server
}

func newWebPath(prefix string) webPath {
	if strings.HasPrefix(prefix, "https:") || strings.HasPrefix(prefix, "http:") {
		return webPath{strings.TrimSuffix(prefix, "/")}
	}
	return webPath{}
}

// url returns the path of the directory on its server, with a final slash.
func (p webPath) url() string {
	_, rest, _ := strings.Cut(p.directory, "://")
	_, path, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix("/"+path, "/") + "/"
}

func (p webPath) below(key string) (string, error) {
	if p.directory == "" {
		if strings.HasPrefix(key, "https:") || strings.HasPrefix(key, "http:") {
			return "", &heldError{"name", "is a web name: export the names of one directory of a web server by their prefix"}
		}
		return key, nil
	}
	rest, ok := strings.CutPrefix(key, p.directory)
	if rest, slash := strings.CutPrefix(rest, "/"); ok && slash {
		return rest, nil
	}
	return "", &heldError{"name", "is not below " + p.directory + "/"}
}

// decoded returns the path of a name below the directory. Web servers compare decoded paths, so a
// name with a percent-encoded character is an error.
func (p webPath) decoded(n name.Name) (string, error) {
	path, err := p.below(n.Key())
	switch {
	case err != nil:
		return "", err
	case strings.Contains(path, "//") || strings.HasPrefix(path, "/"):
		return "", &heldError{"name", "has an empty segment, which web servers remove"}
	}
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c > '~' || c == '%' {
			return "", &heldError{"name", "has a percent-encoded character"}
		}
	}
	return path, nil
}

// begin returns a regular expression that matches the part of a path before the element of a name.
// An element follows the first delimiter of the prefix, or begins with another delimiter (see
// [name.Prefix.Element]).
func (p webPath) begin(a *store.Authority) (string, error) {
	spans := a.Prefix.Spans()
	first, others := spans[0], ""
	for _, span := range spans[1:] {
		others += span[len(span)-1:]
	}
	below, err := p.below(first)
	switch {
	case err != nil:
		return "", err
	case strings.Contains(below, "%"):
		return "", errors.New("the prefix has a percent-encoded character")
	case below == "": // the directory has no names with another delimiter
		return "", nil
	case others == "":
		return regexp.QuoteMeta(below), nil
	}
	prefix := regexp.QuoteMeta(below[:len(below)-1])
	return fmt.Sprintf("%[1]s(?:%[2]s(?![%[2]s%[3]s])|(?=[%[3]s]|%[2]s[%[2]s%[3]s]))", prefix, below[len(below)-1:], others), nil
}

func isRedirect(status int) bool { return status >= 300 && status < 400 }

func isPlain(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("$-_.+!*'(),:;@&=/~", c) >= 0 }

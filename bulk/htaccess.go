package bulk

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/store"
)

// maxHtaccessLine is the maximum length of a line in bytes. It is slightly below the limit of
// Apache httpd.
const maxHtaccessLine = 8000

// An htaccess writes an .htaccess file with mod_rewrite directives. If the prefix is an http or
// https URL, the file is for the directory with this URL, and otherwise for the root directory.
type htaccess struct {
	at     time.Time
	path   webPath
	folded []*store.Authority // authorities that ignore case
}

func (h *htaccess) head() []byte {
	return fmt.Appendf(nil, "# Redirects of names, for Apache httpd: .htaccess in the directory of %s\n# Faster with many names: a RewriteMap (export as apache-map).\n#\nRewriteEngine On\n", h.path.url())
}

func (h *htaccess) record(b []byte, r *store.Record) ([]byte, error) {
	url, err := best(r, h.at)
	if err != nil {
		return b, err
	}
	path, err := h.path.decoded(r.Name)
	if err != nil {
		return b, err
	}
	if strings.Contains(url, `"`) {
		return b, &heldError{"url", "has a quotation mark"}
	}
	flags := "R=303,NE,L"
	if slices.ContainsFunc(h.folded, func(a *store.Authority) bool { return a.Prefix.Covers(r.Name) }) {
		flags += ",NC"
	}
	if !strings.Contains(url, "?") {
		flags += ",QSD"
	}
	line := rewriteRule("^"+regexp.QuoteMeta(path)+`\z`, apacheLiteral(url), flags)
	if len(line) > maxHtaccessLine {
		return b, &heldError{"url", "its line would exceed the limit of Apache httpd"}
	}
	return append(b, line...), nil
}

func rewriteRule(pattern, target, flags string) string {
	return "RewriteRule " + apacheQuote(pattern) + " " + apacheQuote(target) + " [" + flags + "]\n"
}

// apacheQuote quotes an argument of a mod_rewrite directive. Apache httpd has no escape for the
// quotation mark, except \x22 in regular expressions.
func apacheQuote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\x22`) + `"` }

func apacheLiteral(s string) string {
	return strings.NewReplacer(`\`, `\\`, `$`, `\$`, `%`, `\%`).Replace(s)
}

func (h *htaccess) authority(a *store.Authority) {
	if a.FoldCase {
		h.folded = append(h.folded, a)
	}
}

func (h *htaccess) rule(b []byte, a *store.Authority, i int) ([]byte, error) {
	w, err := webRuleOf(a, &a.Rules[i])
	if err != nil {
		return b, err
	}
	begin, err := h.path.begin(a)
	if err != nil {
		return b, err
	}
	target, flags, err := apacheTarget(w)
	if err != nil {
		return b, err
	}
	from := len(b)
	for _, c := range w.when {
		variable := map[string]string{"accept": "HTTP_ACCEPT", "languages": "HTTP:Accept-Language", "user_agent": "HTTP_USER_AGENT", "query": "QUERY_STRING", "path": "REQUEST_URI"}[c.On]
		if variable == "" {
			return b[:from], errors.New("it has a condition on the " + c.On)
		}
		b = append(b, rewriteCondition(variable, c.Regexp, c.Not, c.IgnoreCase, c.Or)...)
	}
	b = append(b, rewriteRule("^"+begin+w.expression+`\z`, target, flags)...)
	if len(b)-from > maxHtaccessLine {
		return b[:from], errors.New("its line would exceed the limit of Apache httpd")
	}
	return b, nil
}

// end appends a rule that returns status 404 for all names of the authority that no earlier rule
// matches.
func (h *htaccess) end(b []byte, a *store.Authority) ([]byte, error) {
	begin, err := h.path.begin(a)
	if err != nil {
		return b, err
	}
	return append(b, rewriteRule("^"+begin, "-", "R=404,L")...), nil
}

func (*htaccess) tail() []byte { return nil }

func rewriteCondition(variable, expression string, not, fold, or bool) string {
	mark, flags := "", ""
	if not {
		mark = "!"
	}
	switch {
	case fold && or:
		flags = " [NC,OR]"
	case fold:
		flags = " [NC]"
	case or:
		flags = " [OR]"
	}
	return "RewriteCond %{" + variable + "} " + apacheQuote(mark+"(?:"+expression+")") + flags + "\n"
}

func apacheTarget(w *webRule) (target, flags string, err error) {
	if !isRedirect(w.status) {
		switch w.status {
		case http.StatusForbidden:
			return "-", "F", nil
		case http.StatusGone:
			return "-", "G", nil
		}
		return "-", fmt.Sprintf("R=%d,L", w.status), nil
	}
	if w.has(`"`) {
		return "", "", errors.New("its template has a quotation mark")
	}
	flags = fmt.Sprintf("R=%d,L", w.status)
	kinds := w.kinds()
	switch {
	case len(kinds) > 1:
		return "", "", errors.New("its template escapes some parts, and not others")
	case len(kinds) == 1 && kinds[0] == escaped:
		if w.has("#") {
			return "", "", errors.New("its template has a fragment beside an escaped part")
		}
		if target, err = apacheUnescaped(w); err != nil {
			return "", "", err
		}
	default:
		flags += ",NE"
		if len(kinds) == 1 && kinds[0] == component {
			flags += ",B,BNP"
		}
		target = apachePieces(w, apacheLiteral)
	}
	query := w.has("?")
	if w.appends && query {
		flags += ",QSA"
	}
	if !w.appends && !query {
		flags += ",QSD"
	}
	return target, flags, nil
}

func apachePieces(w *webRule, literal func(string) string) string {
	var b strings.Builder
	for _, p := range w.target {
		switch {
		case p.kind == 0:
			b.WriteString(literal(p.literal))
		case p.last:
			fmt.Fprintf(&b, "%%%d", p.group)
		default:
			fmt.Fprintf(&b, "$%d", p.group)
		}
	}
	return b.String()
}

func apacheUnescaped(w *webRule) (target string, err error) {
	target = apachePieces(w, func(s string) string {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			c := s[i]
			if ascii.IsEscape(s, i) {
				c = ascii.Unhex(s[i+1])<<4 | ascii.Unhex(s[i+2])
				if i += 2; isPlain(c) || c == '?' || c < ' ' {
					err = errors.New("its template has an escape that Apache httpd would write otherwise")
				}
			}
			b.WriteByte(c)
		}
		return apacheLiteral(b.String())
	})
	return target, err
}

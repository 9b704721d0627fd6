package uri

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// The algorithms of resolution exactly as in the documents, on strings and slow.
// The tests compare them with the package.

// A slowURI is a set of components; nil is undefined.
type slowURI struct {
	scheme, authority *string
	path              string
	query, fragment   *string
}

// appendixBExpr is the regular expression of Appendix B of 1997, 2003 and RFC
// 3986. It does not validate, as it matches everything.
var appendixBExpr = regexp.MustCompile(`(?s)^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?`)

func slowParse(s string) slowURI {
	m := appendixBExpr.FindStringSubmatchIndex(s)
	group := func(n int) *string {
		if m[2*n] < 0 {
			return nil
		}
		return part(s[m[2*n]:m[2*n+1]], true)
	}
	return slowURI{group(2), group(4), *group(5), group(7), group(9)}
}

// String is RFC 3986, 5.3.
func (u slowURI) String() string {
	var b strings.Builder
	add := func(before string, s *string, after string) {
		if s != nil {
			b.WriteString(before + *s + after)
		}
	}
	add("", u.scheme, ":")
	add("//", u.authority, "")
	b.WriteString(u.path)
	add("?", u.query, "")
	add("#", u.fragment, "")
	return b.String()
}

// slowResolve returns the target, and whether it is the current document.
func slowResolve(d Dialect, base, ref slowURI) (slowURI, bool) {
	switch d {
	case Draft1993:
		return slow1993(base, ref)
	case Draft1997:
		return slow1997(base, ref)
	case Draft2003:
		return slow2003(base, ref)
	default:
		return slow3986(base, ref), false
	}
}

// slow3986 is RFC 3986, 5.2.2.
func slow3986(base, r slowURI) (t slowURI) {
	switch {
	case r.scheme != nil:
		t = r
		t.path = slowRemoveDots(r.path)
	case r.authority != nil:
		t = slowURI{base.scheme, r.authority, slowRemoveDots(r.path), r.query, nil}
	case r.path == "":
		t = slowURI{base.scheme, base.authority, base.path, r.query, nil}
		if r.query == nil {
			t.query = base.query
		}
	case strings.HasPrefix(r.path, "/"):
		t = slowURI{base.scheme, base.authority, slowRemoveDots(r.path), r.query, nil}
	case base.authority != nil && base.path == "":
		t = slowURI{base.scheme, base.authority, slowRemoveDots("/" + r.path), r.query, nil}
	default:
		merged := base.path[:strings.LastIndex(base.path, "/")+1] + r.path
		t = slowURI{base.scheme, base.authority, slowRemoveDots(merged), r.query, nil}
	}
	t.fragment = r.fragment
	return t
}

// slowRemoveDots is RFC 3986, 5.2.4.
func slowRemoveDots(in string) string {
	out := ""
	up := func() { out = out[:max(strings.LastIndex(out, "/"), 0)] }
	for in != "" {
		switch {
		case strings.HasPrefix(in, "../"): // A
			in = in[3:]
		case strings.HasPrefix(in, "./"):
			in = in[2:]
		case strings.HasPrefix(in, "/./"): // B
			in = in[2:]
		case in == "/.":
			in = "/"
		case strings.HasPrefix(in, "/../"): // C
			in = in[3:]
			up()
		case in == "/..":
			in = "/"
			up()
		case in == "." || in == "..": // D
			in = ""
		default: // E
			n := strings.Index(in[1:], "/") + 1
			if n == 0 {
				n = len(in)
			}
			out += in[:n]
			in = in[n:]
		}
	}
	return out
}

// slow2003 is 2003, 5.2, with excess ".." kept.
func slow2003(base, r slowURI) (slowURI, bool) {
	switch {
	case r.scheme != nil:
		return r, false
	case r.authority != nil:
		return slowURI{base.scheme, r.authority, r.path, r.query, r.fragment}, false
	case r.path == "" && r.query == nil:
		return slowURI{}, true
	case r.path == "":
		return slowURI{base.scheme, base.authority, base.path, r.query, r.fragment}, false
	case strings.HasPrefix(r.path, "/"):
		return slowURI{base.scheme, base.authority, r.path, r.query, r.fragment}, false
	}
	dir := base.path[:strings.LastIndex(base.path, "/")+1]
	if base.path == "" {
		dir = "/"
	}
	return slowURI{base.scheme, base.authority, slowMerge(dir + r.path), r.query, r.fragment}, false
}

// slow1997 is 1997, 5.2, but for the slash between a site and a path (A97-1).
func slow1997(base, r slowURI) (slowURI, bool) {
	switch {
	case r.path == "" && r.scheme == nil && r.authority == nil && r.query == nil:
		return slowURI{}, true
	case r.scheme != nil:
		return r, false
	case r.authority != nil:
		return slowURI{base.scheme, r.authority, r.path, r.query, r.fragment}, false
	case strings.HasPrefix(r.path, "/"):
		return slowURI{base.scheme, base.authority, r.path, r.query, r.fragment}, false
	}
	dir := base.path[:strings.LastIndex(base.path, "/")+1]
	if base.path == "" && base.authority != nil && r.path != "" {
		dir = "/"
	}
	buffer := dir + r.path
	if r.query != nil {
		buffer += "?" + *r.query
	}
	merged := slowParse("x:" + strings.ReplaceAll(slowMerge(buffer), "//", "/\x00/"))
	merged.path = strings.ReplaceAll(merged.path, "\x00", "")
	if merged.query != nil {
		merged.query = part(strings.ReplaceAll(*merged.query, "\x00", ""), true)
	}
	if base.authority != nil && merged.path != "" && merged.path[0] != '/' {
		merged.path = "/" + merged.path
	}
	return slowURI{base.scheme, base.authority, merged.path, merged.query, r.fragment}, false
}

// slowMerge is 1997, 5.2, steps 6d to 6g and 2003, 5.2, merge steps 3 to 6.
func slowMerge(s string) string {
	root := ""
	if strings.HasPrefix(s, "/") {
		root, s = "/", s[1:]
	}
	segs := strings.Split(s, "/")
	slash := func(n int) []string { // so that what is before a removed end keeps its slash
		return append(segs[:n:n], "")
	}
	for i := 0; i < len(segs)-1; i++ { // "./"
		if segs[i] == "." {
			segs = append(segs[:i:i], segs[i+1:]...)
			i--
		}
	}
	if segs[len(segs)-1] == "." { // a final "."
		segs = slash(len(segs) - 1)
	}
	for i := 0; i+2 < len(segs); i++ { // "segment/../" from the left
		if segs[i] != ".." && segs[i+1] == ".." {
			segs = append(segs[:i:i], segs[i+2:]...)
			i = -1
		}
	}
	if n := len(segs); n > 1 && segs[n-2] != ".." && segs[n-1] == ".." { // a final "segment/.."
		segs = slash(n - 2)
	}
	return root + strings.Join(segs, "/")
}

// slow1993 is Partial form, steps 1 to 7 (A93-3: left-most first, and the
// element before ".." is neither dot segment).
func slow1993(base, r slowURI) (slowURI, bool) {
	switch {
	case r.scheme != nil:
		return r, false
	case r.authority != nil:
		return slowURI{base.scheme, r.authority, r.path, r.query, r.fragment}, false
	case r.path == "" && r.query == nil:
		return slowURI{}, true
	case strings.HasPrefix(r.path, "/"):
		return slowURI{base.scheme, base.authority, r.path, r.query, r.fragment}, false
	}
	dir := base.path[:strings.LastIndex(base.path, "/")+1]
	if base.path == "" && base.authority != nil && r.path != "" { // A93-7
		dir = "/"
	}
	first, rest, rooted := strings.Cut(dir+r.path, "/")
	if !rooted {
		return slowURI{base.scheme, base.authority, first, r.query, r.fragment}, false
	}
	elems := strings.Split(rest, "/")
	for i := 0; i < len(elems); i++ {
		if elems[i] == "." {
			elems = append(elems[:i:i], elems[i+1:]...)
			i--
		}
	}
	for i := 0; i+1 < len(elems); i++ {
		if elems[i] != ".." && elems[i+1] == ".." {
			elems = append(elems[:i:i], elems[i+2:]...)
			i = -1
		}
	}
	p := first
	for _, e := range elems {
		p += "/" + e
	}
	return slowURI{base.scheme, base.authority, p, r.query, r.fragment}, false
}

// compareSlow compares resolution with the documents' algorithms: also that the
// result has the components that were computed.
func compareSlow(t testing.TB, base, ref URI) {
	t.Helper()
	if base.IsReference() || base.refusesRelative(ref) {
		return
	}
	want, same := slowResolve(base.dialect, slowParse(base.s), slowParse(ref.s))
	got, err := Resolver{}.Resolve(base, ref)
	if same {
		if err != nil || got.URI.IsValid() {
			t.Errorf("%s: Resolve(%q, %q): got %q, %v, want the current document", base.dialect, base, ref, got.URI, err)
		}
		return
	}
	if want.authority == nil && strings.HasPrefix(want.path, "//") {
		if base.dialect < RFC3986 {
			if err == nil {
				t.Errorf("%s: Resolve(%q, %q): got %q, which is another host", base.dialect, base, ref, got.URI)
			}
			return
		}
		want.path = "/." + want.path
	}
	if err != nil {
		if _, code := base.dialect.Check(want.String()); code == CodeNone {
			t.Errorf("%s: Resolve(%q, %q): %v, want %q", base.dialect, base, ref, err, want)
		}
		return
	}
	if got.URI.s != want.String() || slowParse(got.URI.s).String() != want.String() || got.URI.Path() != want.path {
		t.Errorf("%s: Resolve(%q, %q): got %q, want %q", base.dialect, base, ref, got.URI, want)
	}
}

// refusesRelative reports whether 2003 has no result.
func (u URI) refusesRelative(ref URI) bool {
	return u.dialect == Draft2003 && u.Opaque() && ref.IsReference()
}

func TestResolveSlowly(t *testing.T) {
	everyDialect(t, func(t *testing.T, d Dialect) {
		r := rand.New(rand.NewPCG(5, 5))
		for range rounds(20000) {
			compareSlow(t, small(r, d), small(r, d))
		}
	})
}

// FuzzOperations checks resolution, relativising and the ladder on two
// references.
func FuzzOperations(f *testing.F) {
	f.Add("http://a/b/c/d;p?q", "../../g", uint8(RFC3986))
	f.Add("foo:/a/b", "..//c", uint8(Draft2003))
	f.Add("http://a", "?x/../y", uint8(Draft1997))
	f.Add("news:a@b", "./c", uint8(Draft1993))
	f.Fuzz(func(t *testing.T, b, r string, dialect uint8) {
		d := Dialect(dialect%uint8(dialects-1)) + 1
		base, err := d.ParseReference(b)
		if err != nil {
			return
		}
		ref, err := d.ParseReference(r)
		if err != nil {
			return
		}
		for l := LevelString; l <= LevelScheme; l++ {
			checkNormal(t, base, l)
			checkEquivalent(t, base, ref, l)
			checkEquivalent(t, base, base.Normalize(l, httpRules), l)
		}
		if base.IsReference() {
			return
		}
		checkResolve(t, base, ref)
		compareSlow(t, base, ref)
		if short, ok := base.Relativize(ref); ok {
			if got, err := base.Resolve(short); err != nil || got != ref {
				t.Errorf("%s: Relativize(%q, %q) = %q, which means %q, %v", d, base, ref, short, got, err)
			}
		}
	})
}

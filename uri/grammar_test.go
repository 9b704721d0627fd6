package uri

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

// topRule is the rule of a reference in each dialect's file.
func topRule(d Dialect) string {
	switch d {
	case Draft1993:
		return "reference"
	case Draft1997:
		return "URL-reference"
	default:
		return "URI-reference"
	}
}

// rounds returns the number of rounds for a test of random inputs.
func rounds(n int) int {
	return testrun.Repeats(n, n/10)
}

func everyDialect(t *testing.T, f func(t *testing.T, d Dialect)) {
	t.Helper()
	for d := Draft1993; d.IsValid(); d++ {
		t.Run(d.String(), func(t *testing.T) { f(t, d) })
	}
}

// Every production of every dialect can be checked by name, and agrees with the
// document's grammar on strings that match the rule, on strings that match
// another rule, and on slightly changed strings.
func TestProductions(t *testing.T) {
	everyDialect(t, func(t *testing.T, d Dialect) {
		g := loadABNF(t, d)
		known := slices.Collect(d.Rules())
		r := rand.New(rand.NewPCG(1993, 3986))
		for _, name := range known {
			for i := range rounds(200) {
				s := g.rule(name).generate(r, 0)
				if i%4 == 3 {
					s = g.rule(g.names[r.IntN(len(g.names))]).generate(r, 0)
				}
				if i%2 == 1 {
					s = mutate(r, s)
				}
				compareRule(t, g, d, name, s)
			}
		}
	})
}

// compareRule compares the production with the reference recogniser.
func compareRule(t testing.TB, g *slowGrammar, d Dialect, name, s string) {
	t.Helper()
	if len(s) > maxSlow {
		return
	}
	err := d.CheckRule(name, s)
	if want := g.matches(name, s); (err == nil) != want {
		t.Errorf("%s: CheckRule(%q, %q) = %v, reference says %v", d, name, s, err, want)
	}
	if e, ok := err.(*Error); ok && (e.Offset > len(s) || e.Rule == "" || e.Code == CodeNone) {
		t.Errorf("%s: CheckRule(%q, %q): bad error %#v", d, name, s, e)
	}
}

// mutate changes s a little.
func mutate(r *rand.Rand, s string) string {
	const chars = "aZ09%:/?#[]@!$&'()*+,;=-._~ \"<>\\^`{|}\x00\x7f\xc3vx"
	b := []byte(s)
	for range 1 + r.IntN(2) {
		c := chars[r.IntN(len(chars))]
		i := r.IntN(len(b) + 1)
		switch r.IntN(3) {
		case 0:
			b = slices.Insert(b, i, c)
		case 1:
			if i < len(b) {
				b[i] = c
			}
		default:
			if i < len(b) {
				b = slices.Delete(b, i, i+1)
			}
		}
	}
	return string(b)
}

// The parser agrees with the reference recogniser on generated strings and on
// their mutations.
func TestReferenceRecogniser(t *testing.T) {
	everyDialect(t, func(t *testing.T, d Dialect) {
		g := loadABNF(t, d)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range rounds(4000) {
			s := g.rule(topRule(d)).generate(r, 0)
			if i%2 == 1 {
				s = mutate(r, s)
			}
			compareReference(t, g, d, s)
		}
	})
}

func compareReference(t testing.TB, g *slowGrammar, d Dialect, s string) {
	t.Helper()
	if len(s) > maxSlow {
		return
	}
	u, err := d.ParseReference(s)
	want := g.matches(topRule(d), s)
	if (err == nil) != want {
		t.Errorf("%s: ParseReference(%q) = %v, reference says %v", d, s, err, want)
	}
	off, code := d.Check(s)
	if (code == CodeNone) != (err == nil) || code == CodeNone && off != len(s) {
		t.Errorf("%s: Check(%q) = %d, %v, but ParseReference says %v", d, s, off, code, err)
	}
	if err == nil {
		checkValue(t, u)
	} else if e, ok := err.(*Error); ok && d != Draft1993 && e.Offset < len(s) {
		checkOffset(t, g, d, s, e)
	}
}

// checkOffset checks that what comes before the offset of an error could have
// become a reference, and that it no longer can with the character at the offset.
// Invalid escapes and IP literals are reported at their beginning. In an
// authority the error is the likely one: in //h:8o it is that of the port,
// although the text could have become user information.
func checkOffset(t testing.TB, g *slowGrammar, d Dialect, s string, e *Error) {
	t.Helper()
	if !g.viable(topRule(d), s[:e.Offset]) {
		t.Errorf("%s: %v, but what is before that is already wrong", d, e)
	}
	names := &grammars[d].rules
	switch e.Rule {
	case names[ruleEscape], names[ruleAuthority], names[ruleUserinfo], names[ruleHost], names[ruleLiteral], names[rulePort]:
		return
	}
	if g.viable(topRule(d), s[:e.Offset+1]) {
		t.Errorf("%s: %v, but what is there is not wrong yet", d, e)
	}
}

// checkValue checks what holds for every URI: it prints as it was parsed, and the
// components together are the whole.
func checkValue(t testing.TB, u URI) {
	t.Helper()
	var b strings.Builder
	part := func(before, s string, ok bool) {
		if ok {
			b.WriteString(before + s)
		}
	}
	if s, ok := u.Scheme(); ok {
		b.WriteString(s + ":")
	}
	a, ok := u.Authority()
	part("//", a, ok)
	b.WriteString(u.Path())
	q, ok := u.Query()
	part("?", q, ok)
	f, ok := u.Fragment()
	part("#", f, ok)
	if b.String() != u.String() {
		t.Errorf("%s: components of %q make %q", u.Dialect(), u, b.String())
	}
	b.Reset()
	if s, ok := u.Userinfo(); ok {
		b.WriteString(s + "@")
	}
	h, ok := u.Host()
	part("", h, ok)
	p, ok := u.Port()
	part(":", p, ok)
	if u.HostKind() != HostRegistry && b.String() != a {
		t.Errorf("%s: authority of %q makes %q", u.Dialect(), u, b.String())
	}
}

func fuzzDialect(f *testing.F, d Dialect) {
	g, rules := loadABNF(f, d), slices.Collect(d.Rules())
	for _, s := range []string{
		"", "#", "http://u:p@h:80/a;b/../c?d=e#f", "//[::1]:", "foo:[x]", "1a:b", "a_b:c", "a%20b:c", "urn:x:y?z",
		"http://a.b-c.9/%zz", "http://1.2.3.256/", "//a:b:c", "wais://h/db/T/12/p", "prospero://h/o%00%00a", "gopher://h/+",
	} {
		f.Add(s, uint8(0))
	}
	f.Fuzz(func(t *testing.T, s string, rule uint8) {
		compareReference(t, g, d, s)
		compareRule(t, g, d, rules[int(rule)%len(rules)], s)
	})
}

func FuzzDraft1993(f *testing.F) { fuzzDialect(f, Draft1993) }
func FuzzDraft1997(f *testing.F) { fuzzDialect(f, Draft1997) }
func FuzzDraft2003(f *testing.F) { fuzzDialect(f, Draft2003) }
func FuzzRFC3986(f *testing.F)   { fuzzDialect(f, RFC3986) }
func FuzzRFC6874(f *testing.F)   { fuzzDialect(f, RFC6874) }

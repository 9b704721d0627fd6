package uri

import (
	"math/rand/v2"
	"testing"
)

// small generates references over a small alphabet, so that dots, slashes and
// escapes are frequent.
func small(r *rand.Rand, d Dialect) URI {
	pieces := []string{"/", "/", "/", "a", "b", ".", "..", "%2E", "%2e", "%41", "%7e", "A", ":", "?", "#", "//", "%2f", "@", "80"}
	heads := []string{"", "", "x:", "X:", "http://", "http://h", "HTTP://H", "http://u@H:80", "x://a:b:c", "x:/", "//h"}
	for {
		s := heads[r.IntN(len(heads))]
		for range r.IntN(7) {
			s += pieces[r.IntN(len(pieces))]
		}
		if u, err := d.ParseReference(s); err == nil {
			return u
		}
	}
}

var httpRules = SchemeRules{Scheme: "http", DefaultPort: "80", RootPath: true}

// A normal form is a fixed point, has the components of the input, and is
// equivalent to it; and two URIs are equivalent exactly if their normal forms
// are equal.
func TestNormalFormProperties(t *testing.T) {
	everyDialect(t, func(t *testing.T, d Dialect) {
		r := rand.New(rand.NewPCG(6, 2))
		for range rounds(8000) {
			u, v := small(r, d), small(r, d)
			for l := LevelString; l <= LevelScheme; l++ {
				checkNormal(t, u, l)
				checkEquivalent(t, u, v, l)
				checkEquivalent(t, u, u.Normalize(l, httpRules), l)
			}
		}
	})
}

func checkNormal(t testing.TB, u URI, l Level) {
	t.Helper()
	n := u.Normalize(l, httpRules)
	if again := n.Normalize(l, httpRules); again != n {
		t.Errorf("%s: Normalize(%q, %s) = %q, again %q", u.dialect, u, l, n, again)
	}
	if got := string(u.AppendNormal(nil, l, httpRules)); got != n.s {
		t.Errorf("%s: AppendNormal(%q, %s) = %q, want %q", u.dialect, u, l, got, n)
	}
	type defined struct{ scheme, authority, userinfo, host, query bool }
	of := func(u URI) (d defined) {
		_, d.scheme = u.Scheme()
		_, d.authority = u.Authority()
		_, d.userinfo = u.Userinfo()
		_, d.host = u.Host()
		_, d.query = u.Query()
		return d
	}
	if of(n) != of(u) {
		t.Errorf("%s: Normalize(%q, %s) = %q has other components", u.dialect, u, l, n)
	}
	checkValue(t, n)
}

func checkEquivalent(t testing.TB, u, v URI, l Level) {
	t.Helper()
	want := u.Normalize(l, httpRules) == v.Normalize(l, httpRules)
	if got := Equivalent(u, v, l, httpRules); got != want {
		t.Errorf("%s: Equivalent(%q, %q, %s) = %v, want %v (%q, %q)", u.dialect, u, v, l, got, want,
			u.Normalize(l, httpRules), v.Normalize(l, httpRules))
	}
}

// Resolving the relativized reference gives the target, and no shorter reference
// does.
func TestRelativizeProperties(t *testing.T) {
	everyDialect(t, func(t *testing.T, d Dialect) {
		refs := shortReferences(d)
		r := rand.New(rand.NewPCG(4, 4))
		for range rounds(150) {
			base, target := small(r, d), small(r, d)
			if base.IsReference() || target.IsReference() {
				continue
			}
			ref, ok := base.Relativize(target)
			if ok {
				got, err := base.Resolve(ref)
				if err != nil || got != target {
					t.Errorf("%s: Relativize(%q, %q) = %q, which means %q, %v", d, base, target, ref, got, err)
				}
			}
			for _, short := range refs {
				if ok && len(short.s) >= len(ref.s) {
					break
				}
				if got, err := base.Resolve(short); err == nil && got == target {
					t.Errorf("%s: Relativize(%q, %q) = %q, %v, but %q is enough", d, base, target, ref, ok, short)
					break
				}
			}
		}
	})
}

// shortReferences returns all references of up to five characters of the
// alphabet of small, short ones first.
func shortReferences(d Dialect) []URI {
	var out []URI
	all := []string{""}
	for range 6 {
		var longer []string
		for _, s := range all {
			if u, err := d.ParseReference(s); err == nil {
				out = append(out, u)
			}
			for _, c := range []string{"/", ".", "a", "b", "?", "#", ":"} {
				longer = append(longer, s+c)
			}
		}
		all = longer
	}
	return out
}

// The result of resolution has the components that were computed. If it is resolved again, it stays
// the same. Its authority is that of the base or of the reference.
func TestResolveProperties(t *testing.T) {
	everyDialect(t, func(t *testing.T, d Dialect) {
		r := rand.New(rand.NewPCG(5, 2))
		for range rounds(8000) {
			base, ref := small(r, d), small(r, d)
			if base.IsReference() {
				continue
			}
			checkResolve(t, base, ref)
		}
	})
}

func checkResolve(t testing.TB, base, ref URI) {
	t.Helper()
	got, err := base.Resolve(ref)
	if err != nil {
		return
	}
	from := base
	if _, ok := ref.Authority(); ok || !ref.IsReference() {
		from = ref
	}
	wantAuthority, wantOK := from.Authority()
	if a, ok := got.Authority(); a != wantAuthority || ok != wantOK {
		t.Errorf("%s: Resolve(%q, %q) = %q has the authority %q", base.dialect, base, ref, got, a)
	}
	wantFragment, wantOK := ref.Fragment()
	if f, ok := got.Fragment(); f != wantFragment || ok != wantOK {
		t.Errorf("%s: Resolve(%q, %q) = %q has the fragment %q", base.dialect, base, ref, got, f)
	}
	if ref.Path() == "" && ref.IsReference() { // the path of the base stays as it is
		return
	}
	if again, err := base.Resolve(got); err != nil || again != got {
		t.Errorf("%s: Resolve(%q, %q) = %q, which means %q, %v", base.dialect, base, ref, got, again, err)
	}
	checkValue(t, got)
}

package uri

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// vectors decodes the vectors of a file into values of type V, for the dialects
// of this package.
func vectors[V any](t testing.TB, file, key string) []V {
	t.Helper()
	data, err := os.ReadFile("../docs/spec/vectors/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	var out []V
	if err := json.Unmarshal(all[key], &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func dialectOf(name string) (Dialect, bool) { return ParseDialect(name) }

func mustReference(t testing.TB, d Dialect, s string) URI {
	t.Helper()
	u, err := d.ParseReference(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// part is a component, nil if it is undefined.
func part(s string, ok bool) *string {
	if !ok {
		return nil
	}
	return &s
}

func samePart(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func show(p *string) string {
	if p == nil {
		return "undefined"
	}
	return `"` + *p + `"`
}

// Requirements of the vectors of parse.json: U97-03, U97-17, U97-22, U97-26,
// U97-28 to U97-31, U97-37, U97-39 to U97-44, U03-02, U03-04, U03-16 to U03-18,
// U03-20 to U03-25, U03-36, U03-37.
func TestParseVectors(t *testing.T) {
	type vector struct {
		ID, Dialect, Input, Path           string
		Scheme, Authority, Query, Fragment *string
		RegName                            *string `json:"reg_name"`
		HostKind                           string  `json:"host_kind"`
		Groups                             []*string
		Server                             *struct{ User, Password, Userinfo, Host, Port *string }
		Segments                           []struct {
			Segment string
			Params  []string
		}
	}
	for _, v := range vectors[vector](t, "parse.json", "vectors") {
		t.Run(v.ID, func(t *testing.T) {
			d, _ := dialectOf(v.Dialect)
			u := mustReference(t, d, v.Input)
			check := func(name string, got, want *string) {
				t.Helper()
				if !samePart(got, want) {
					t.Errorf("%s of %q: got %s, want %s", name, v.Input, show(got), show(want))
				}
			}
			check("scheme", part(u.Scheme()), v.Scheme)
			check("authority", part(u.Authority()), v.Authority)
			check("path", part(u.Path(), true), &v.Path)
			check("query", part(u.Query()), v.Query)
			check("fragment", part(u.Fragment()), v.Fragment)
			if v.Groups != nil { // the expression of Appendix B, U97-44, U03-37
				for i, got := range appendixB(u) {
					check("group", got, v.Groups[i])
				}
			}
			if v.Server != nil {
				check("host", part(u.Host()), v.Server.Host)
				check("port", part(u.Port()), v.Server.Port)
				user := v.Server.Userinfo
				if d == Draft1997 {
					user = userinfo1997(v.Server.User, v.Server.Password)
				}
				check("userinfo", part(u.Userinfo()), user)
			}
			if v.RegName != nil {
				check("reg-name", part(u.Authority()), v.RegName)
				if u.HostKind() != HostRegistry {
					t.Errorf("%q: host kind %s, want registry", v.Input, u.HostKind())
				}
			}
			if v.HostKind != "" && kindName(d, u.HostKind()) != v.HostKind {
				t.Errorf("%q: host kind %s, want %s", v.Input, kindName(d, u.HostKind()), v.HostKind)
			}
			if v.Segments != nil {
				var i int
				for s := range u.Segments() {
					if s.Name() != v.Segments[i].Segment || !slices.Equal(slices.Collect(s.Params()), v.Segments[i].Params) {
						t.Errorf("%q: segment %d is %q with %q", v.Input, i, s.Name(), slices.Collect(s.Params()))
					}
					i++
				}
			}
		})
	}
}

// userinfo1997 joins user and password, which 1997 distinguishes.
func userinfo1997(user, password *string) *string {
	if user == nil || password == nil {
		return user
	}
	s := *user + ":" + *password
	return &s
}

// kindName returns the word that a dialect's document uses.
func kindName(d Dialect, k HostKind) string {
	switch {
	case k == HostIPv4 && d <= Draft1997:
		return "hostnumber"
	case k == HostIPv4:
		return "ipv4"
	case k == HostIPv6:
		return "ipv6"
	case d >= RFC3986:
		return "reg-name"
	default:
		return "hostname"
	}
}

// appendixB returns the groups $1 to $9 of the regular expression.
func appendixB(u URI) []*string {
	with := func(before, after string, s string, ok bool) (outer, inner *string) {
		if !ok {
			return nil, nil
		}
		return part(before+s+after, true), &s
	}
	s, sok := u.Scheme()
	a, aok := u.Authority()
	q, qok := u.Query()
	f, fok := u.Fragment()
	g1, g2 := with("", ":", s, sok)
	g3, g4 := with("//", "", a, aok)
	g6, g7 := with("?", "", q, qok)
	g8, g9 := with("#", "", f, fok)
	return []*string{g1, g2, g3, g4, part(u.Path(), true), g6, g7, g8, g9}
}

// U93-01 to U93-17: the fields of 1993 that all schemes share. Package scheme
// tests the fields of each scheme.
func TestParse1993Vectors(t *testing.T) {
	type vector struct {
		ID, Input, Scheme string
		Fields            struct {
			User, Password, Host, Port, Cell, Search, Fragment *string
			Words                                              []string
		}
	}
	for _, v := range vectors[vector](t, "parse-1993.json", "vectors") {
		t.Run(v.ID, func(t *testing.T) {
			u, err := Draft1993.Parse(v.Input)
			if err != nil {
				t.Fatal(err)
			}
			check := func(name string, got, want *string) {
				t.Helper()
				if want != nil && !samePart(got, want) {
					t.Errorf("%s of %q: got %s, want %s", name, v.Input, show(got), show(want))
				}
			}
			check("scheme", part(u.Scheme()), &v.Scheme)
			check("host", part(u.Host()), v.Fields.Host)
			check("cell", part(u.Host()), v.Fields.Cell)
			check("port", part(u.Port()), v.Fields.Port)
			check("search", part(u.Query()), v.Fields.Search)
			check("fragment", part(u.Fragment()), v.Fields.Fragment)
			check("user", part(u.Userinfo()), userinfo1997(v.Fields.User, v.Fields.Password))
			var words []string // U93-07: split before decoding
			for w := range u.Words() {
				text, err := DecodeLatin1(w)
				if err != nil {
					t.Error(err)
				}
				words = append(words, text)
			}
			if v.Fields.Words != nil && !slices.Equal(words, v.Fields.Words) {
				t.Errorf("words of %q: got %q, want %q", v.Input, words, v.Fields.Words)
			}
		})
	}
}

// The productions, U93-03 to U93-10, U97-05, U97-11, U97-16, U97-19, U97-23,
// U97-32, U97-34, U97-35, U03-07, U03-15, U03-19, U03-26 to U03-33, U03-39.
func TestValidVectors(t *testing.T) {
	testProductionVectors(t, "valid.json", true)
}

func TestInvalidVectors(t *testing.T) {
	testProductionVectors(t, "invalid.json", false)
}

func testProductionVectors(t *testing.T, file string, valid bool) {
	type vector struct{ ID, Dialect, Production, Input string }
	for _, v := range vectors[vector](t, file, "vectors") {
		d, ok := dialectOf(v.Dialect)
		if !ok {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			err := d.CheckRule(v.Production, v.Input)
			if (err == nil) != valid {
				t.Errorf("CheckRule(%s, %q) = %v, want valid %v", v.Production, v.Input, err, valid)
			}
			if e, ok := err.(*Error); err != nil && (!ok || e.Offset > len(v.Input)) {
				t.Errorf("CheckRule(%s, %q): no place: %v", v.Production, v.Input, err)
			}
			if v.Production == topRule(d) || v.Production == "fragmentaddress" {
				if _, code := d.Check(v.Input); (code == CodeNone) != valid {
					t.Errorf("Check(%q) = %v, want valid %v", v.Input, code, valid)
				}
			}
		})
	}
}

// U93-25 to U93-28, U97-20, U97-21, U97-58 to U97-63, U03-35, U03-45 to U03-52
// and the tables of the appendices.
func TestResolveVectors(t *testing.T) {
	type vector struct {
		ID, Dialect, Base, Ref, Mode string
		Expect, Fragment             *string
		SameDocument                 bool     `json:"same_document"`
		AlsoAllowed                  []string `json:"also_allowed"`
		MustNot                      []string `json:"must_not"`
		ErrorAllowed                 bool     `json:"error_allowed"`
	}
	modes := map[string]Resolver{
		"": {}, "validating": {}, "compatible": {Compatible: true},
		"new-request": {NewRequest: true}, "excess-drop": {Excess: ExcessDrop},
	}
	for _, v := range vectors[vector](t, "resolve.json", "vectors") {
		d, ok := dialectOf(v.Dialect)
		if !ok {
			t.Fatal(v.Dialect)
		}
		t.Run(v.ID, func(t *testing.T) {
			r, ok := modes[v.Mode]
			if !ok {
				t.Fatalf("no mode %q", v.Mode)
			}
			base, ref := mustReference(t, d, v.Base), mustReference(t, d, v.Ref)
			got, err := r.Resolve(base, ref)
			if err != nil {
				t.Fatal(err)
			}
			if v.Expect == nil {
				if got.URI.IsValid() || !got.SameDocument {
					t.Errorf("Resolve(%q, %q) = %+v, want the current document", v.Base, v.Ref, got)
				}
				if !samePart(part(got.Fragment, got.HasFragment), v.Fragment) {
					t.Errorf("Resolve(%q, %q): fragment %q", v.Base, v.Ref, got.Fragment)
				}
				return
			}
			if got.URI.String() != *v.Expect || slices.Contains(v.MustNot, got.URI.String()) {
				t.Errorf("Resolve(%q, %q) = %q, want %q", v.Base, v.Ref, got.URI, *v.Expect)
			}
			if len(v.AlsoAllowed) > 0 { // U03-50
				drop, err := Resolver{Excess: ExcessDrop}.Resolve(base, ref)
				if err != nil || !slices.Contains(v.AlsoAllowed, drop.URI.String()) {
					t.Errorf("dropping: Resolve(%q, %q) = %q, %v", v.Base, v.Ref, drop.URI, err)
				}
				if _, err := (Resolver{Excess: ExcessRefuse}).Resolve(base, ref); (err == nil) == v.ErrorAllowed {
					t.Errorf("refusing: Resolve(%q, %q): %v", v.Base, v.Ref, err)
				}
			}
		})
	}
}

// levelOf maps the levels of the vectors: escape and unescape are percent, syntax
// is path, generic and name are the highest level of the dialect.
func levelOf(t *testing.T, name string) Level {
	t.Helper()
	switch name {
	case "escape", "unescape":
		return LevelPercent
	case "syntax":
		return LevelPath
	case "generic", "name":
		return LevelScheme
	case "network":
		return LevelScheme
	}
	l, ok := ParseLevel(name)
	if !ok {
		t.Fatalf("no level %q", name)
	}
	return l
}

// U97-09, U97-13, U97-15, U03-10, U03-13, U03-14, U03-56 to U03-60.
func TestNormalizeVectors(t *testing.T) {
	type vector struct{ ID, Dialect, Level, Input, Expect string }
	for _, v := range vectors[vector](t, "normalize.json", "vectors") {
		t.Run(v.ID, func(t *testing.T) {
			d, _ := dialectOf(v.Dialect)
			u := mustReference(t, d, v.Input)
			if got := u.Normalize(levelOf(t, v.Level), httpRules); got.String() != v.Expect {
				t.Errorf("Normalize(%q, %s) = %q, want %q", v.Input, v.Level, got, v.Expect)
			}
		})
	}
}

// U93-08, U93-23, U97-08, U97-24, U97-40, U97-46, U97-64 to U97-66, U03-53 to
// U03-55, U03-61.
func TestEquivalenceVectors(t *testing.T) {
	type vector struct {
		ID, Dialect, Level, A, B string
		Equivalent               bool
		Evidence                 struct{ Redirects [][2]string }
	}
	for _, v := range vectors[vector](t, "equivalence.json", "vectors") {
		t.Run(v.ID, func(t *testing.T) {
			d, _ := dialectOf(v.Dialect)
			a, b := mustReference(t, d, v.A), mustReference(t, d, v.B)
			c := Comparer{Rules: []SchemeRules{httpRules}, NoFragment: v.Level == "network"}
			c.Redirects = func(u URI) (URI, bool) {
				for _, r := range v.Evidence.Redirects {
					if r[0] == u.String() {
						return mustReference(t, d, r[1]), true
					}
				}
				return URI{}, false
			}
			l := levelOf(t, v.Level)
			if got := c.Equivalent(a, b, l); got != v.Equivalent {
				t.Errorf("Equivalent(%q, %q, %s) = %v, want %v", v.A, v.B, v.Level, got, v.Equivalent)
			}
			if v.Level == "network" && Equivalent(a, b, LevelScheme, httpRules) {
				t.Errorf("Equivalent(%q, %q) with fragments", v.A, v.B)
			}
		})
	}
}

// text is a string, or octets in hexadecimal.
type text string

func (x *text) UnmarshalJSON(data []byte) error {
	var o struct{ Octets string }
	if json.Unmarshal(data, &o) == nil {
		b, err := hex.DecodeString(o.Octets)
		*x = text(b)
		return err
	}
	return json.Unmarshal(data, (*string)(x))
}

// U93-31 to U93-35, U97-07, U97-10, U97-12, U97-14, U03-08, U03-09, U03-11,
// U03-12.
func TestEscapeVectors(t *testing.T) {
	type vector struct {
		ID, Dialect, Op, Unsafe string
		Input, Expect           text
		Error                   bool
	}
	for _, v := range vectors[vector](t, "escape.json", "vectors") {
		d, ok := dialectOf(v.Dialect)
		if !ok {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			var got string
			var err error
			switch v.Op {
			case "encode":
				got, err = d.EscapeText(ComponentSegment, string(v.Input))
			case "encode-segment":
				got = d.Escape(ComponentSegment, Data(v.Input))
			case "make-safe":
				got = MakeSafer(string(v.Input), v.Unsafe)
			case "decode":
				got, err = Unescape(string(v.Input))
				if d == Draft1993 {
					got, err = DecodeLatin1(string(v.Input))
				}
			default:
				t.Fatalf("no op %q", v.Op)
			}
			if got != string(v.Expect) || (err != nil) != v.Error {
				t.Errorf("%s(%q) = %q, %v; want %q", v.Op, v.Input, got, err, v.Expect)
			}
		})
	}
}

// One test for each row of the table of differences, spec/README.md section 4.
func TestDifferences(t *testing.T) {
	type row struct {
		ID, Group, Op string
		Input         json.RawMessage
		Base          string
		Results       map[string]json.RawMessage
	}
	for _, v := range vectors[row](t, "dialect-diff.json", "rows") {
		for name, raw := range v.Results {
			d, ok := dialectOf(name)
			if v.Group != "uri" || !ok || string(raw) == "null" {
				continue
			}
			t.Run(v.ID+"/"+name, func(t *testing.T) {
				var inputs []string
				if json.Unmarshal(v.Input, &inputs) != nil {
					inputs = make([]string, 1)
					if err := json.Unmarshal(v.Input, &inputs[0]); err != nil {
						t.Fatal(err)
					}
				}
				got := difference(t, d, v.Op, v.Base, inputs)
				want := strings.Join(strings.Fields(string(raw)), "")
				data, err := json.Marshal(got)
				if err != nil || string(data) != want && !(v.Op == "resolve" && string(data) == string(raw)) {
					t.Errorf("%s %q: got %s, want %s", v.Op, inputs, data, raw)
				}
			})
		}
	}
}

// difference does one operation of the table of differences.
func difference(t *testing.T, d Dialect, op, base string, in []string) any {
	t.Helper()
	valid := func(err error) string {
		if err != nil {
			return "invalid"
		}
		return "valid"
	}
	switch op {
	case "validate":
		_, err := d.ParseReference(in[0])
		return valid(err)
	case "host":
		rule := "host"
		if d == Draft2003 {
			rule = "hostname"
		}
		return valid(d.CheckRule(rule, in[0]))
	case "host-kind":
		return kindName(d, mustReference(t, d, "//"+in[0]).HostKind())
	case "authority":
		if d == Draft1997 {
			return valid(d.CheckRule("site", in[0]))
		}
		u, err := d.ParseReference("//" + in[0])
		if err == nil && u.HostKind() == HostRegistry {
			return "reg-name"
		}
		return valid(err)
	case "equivalent":
		return Equivalent(mustReference(t, d, in[0]), mustReference(t, d, in[1]), LevelScheme, httpRules)
	case "segments":
		var all [][]string
		for s := range mustReference(t, d, in[0]).Segments() {
			all = append(all, append([]string{s.Name()}, slices.Collect(s.Params())...))
		}
		return all
	case "parse-query":
		q, _ := mustReference(t, d, in[0]).Query()
		return q
	case "normalize":
		return mustReference(t, d, in[0]).Normalize(LevelScheme, httpRules).String()
	case "encode":
		s, err := d.EscapeText(ComponentSegment, in[0])
		if err != nil {
			t.Fatal(err)
		}
		return s
	case "resolve":
		// The row of a base without a path expects the literal algorithm of 1997,
		// which A97-1 advises against.
		r, err := Resolver{Literal: true}.Resolve(mustReference(t, d, base), mustReference(t, d, in[0]))
		if err != nil {
			t.Fatal(err)
		}
		if r.SameDocument && !r.URI.IsValid() {
			return "current document"
		}
		return r.URI.String()
	default:
		t.Fatalf("no op %q", op)
		return nil
	}
}

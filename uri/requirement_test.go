package uri

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// A req checks one requirement of the catalogue in docs/spec. Its methods are
// sentences: the line that fails is the line of the case.
type req struct{ *testing.T }

func (r req) valid(d Dialect, inputs ...string) {
	r.Helper()
	for _, s := range inputs {
		if off, code := d.Check(s); code != CodeNone {
			r.Errorf("%s: %q is refused at %d: %s", d, s, off, code)
		}
	}
}

func (r req) invalid(d Dialect, inputs ...string) {
	r.Helper()
	for _, s := range inputs {
		if _, code := d.Check(s); code == CodeNone {
			r.Errorf("%s: %q is accepted", d, s)
		}
	}
}

func (r req) is(d Dialect, rule string, inputs ...string) {
	r.Helper()
	for _, s := range inputs {
		if err := d.CheckRule(rule, s); err != nil {
			r.Error(err)
		}
	}
}

func (r req) isNot(d Dialect, rule string, inputs ...string) {
	r.Helper()
	for _, s := range inputs {
		if err := d.CheckRule(rule, s); err == nil {
			r.Errorf("%s: %q is a %s", d, s, rule)
		}
	}
}

// undefined is the expected text of an undefined component.
const undefined = "(undefined)"

func (r req) has(d Dialect, s string, c Component, want string) {
	r.Helper()
	got, ok := mustReference(r, d, s).Get(c)
	if !ok {
		got = undefined
	}
	if got != want {
		r.Errorf("%s: %s of %q: got %q, want %q", d, c, s, got, want)
	}
}

func (r req) kind(d Dialect, s string, want HostKind) {
	r.Helper()
	if got := mustReference(r, d, s).HostKind(); got != want {
		r.Errorf("%s: host kind of %q: got %s, want %s", d, s, got, want)
	}
}

func (r req) resolves(d Dialect, base, ref, want string) {
	r.Helper()
	got, err := mustReference(r, d, base).Resolve(mustReference(r, d, ref))
	if err != nil || got.String() != want {
		r.Errorf("%s: Resolve(%q, %q): got %q, %v, want %q", d, base, ref, got, err, want)
	}
}

func (r req) currentDocument(d Dialect, base, ref string) {
	r.Helper()
	got, err := Resolver{}.Resolve(mustReference(r, d, base), mustReference(r, d, ref))
	if err != nil || !got.SameDocument || got.URI.IsValid() {
		r.Errorf("%s: Resolve(%q, %q): got %+v, %v, want the current document", d, base, ref, got, err)
	}
}

func (r req) equivalent(d Dialect, l Level, a, b string, want bool) {
	r.Helper()
	if got := Equivalent(mustReference(r, d, a), mustReference(r, d, b), l, portRules...); got != want {
		r.Errorf("%s: Equivalent(%q, %q, %s): got %v, want %v", d, a, b, l, got, want)
	}
}

func (r req) normal(d Dialect, l Level, in, want string) {
	r.Helper()
	if got := mustReference(r, d, in).Normalize(l, portRules...); got.String() != want {
		r.Errorf("%s: Normalize(%q, %s): got %q, want %q", d, in, l, got, want)
	}
}

func (r req) finds(d Dialect, in string, want FindingCode) {
	r.Helper()
	if got := codes(d.Inspect(in, portRules...)); !slices.Contains(got, want) {
		r.Errorf("%s: Inspect(%q): got %q, want %q", d, in, got, want)
	}
}

func (r req) escapes(d Dialect, c Component, data Data, want string) {
	r.Helper()
	if got := d.Escape(c, data); got != want {
		r.Errorf("%s: Escape(%s, %q): got %q, want %q", d, c, data, got, want)
	}
}

func (r req) segments(d Dialect, in string, want ...string) {
	r.Helper()
	var got []string
	for s := range mustReference(r, d, in).Segments() {
		got = append(got, s.String())
	}
	if !slices.Equal(got, want) {
		r.Errorf("%s: segments of %q: got %q, want %q", d, in, got, want)
	}
}

func (r req) relative(d Dialect, base, target, want string) {
	r.Helper()
	got, ok := mustReference(r, d, base).Relativize(mustReference(r, d, target))
	if !ok || got.String() != want {
		r.Errorf("%s: Relativize(%q, %q): got %q, %v, want %q", d, base, target, got, ok, want)
	}
}

const tableBase = "http://a/b/c/d;p?q"

// The requirements of 1993 that apply to all URLs. Package scheme tests the
// fields of schemes, package client retrieval.
func TestRequirements1993(t *testing.T) {
	const d = Draft1993
	runRequirements(t, map[string]func(r req){
		"U93-01": func(r req) { r.has(d, "news:comp.text", ComponentScheme, "news") },
		"U93-02": func(r req) {
			r.has(d, "a:b/c", ComponentScheme, "a")
			for _, s := range []string{"a/b:c", "/a:b", "./a:b", "g"} {
				r.has(d, s, ComponentScheme, undefined)
			}
			r.invalid(d, "g?x:y")
		},
		"U93-03": func(r req) { r.invalid(d, "1ab:x"); r.has(d, "a:b:c", ComponentScheme, "a") },
		"U93-04": func(r req) {
			r.invalid(d, "ftp://h/a b", "ftp://h/a\tb", "ftp://h/\r\n")
			r.escapes(d, ComponentPath, "a b", "a%20b")
		},
		"U93-05": func(r req) {
			r.invalid(d, "http://a/~joe", "http://a/b?x=1", "http://a/{", "http://a/`", "http://a/<", "http://a/é", "http://a/\x01")
			r.valid(d, "http://a/%7Ejoe")
		},
		"U93-06": func(r req) { r.valid(d, "http://a/c++"); r.invalid(d, "http://a/b#c+d", "http://a+b/", "wais://h/d+b") },
		"U93-08": func(r req) {
			r.equivalent(d, LevelScheme, "http://a/b#", "http://a/b", true)
			r.has(d, "http://a/b#", ComponentFragment, "")
		},
		"U93-09": func(r req) { r.has(d, "x#!weird:(name)", ComponentFragment, "!weird:(name)") },
		"U93-10": func(r req) { r.invalid(d, "http://a/b#c/d", "http://a/b#c?d") },
		"U93-11": func(r req) {
			r.has(d, "http://h.example:8080/x", ComponentAuthority, "h.example:8080")
			r.has(d, "http://h.example?x", ComponentAuthority, "h.example")
			r.has(d, "http://h.example#x", ComponentAuthority, "h.example")
		},
		"U93-12": func(r req) {
			r.has(d, "telnet://guest@h.example", ComponentUserinfo, "guest")
			r.finds(d, "telnet://guest@h.example", FindingUserinfo)
		},
		"U93-13": func(r req) {
			r.has(d, "ftp://u:p@h/", ComponentUserinfo, "u:p")
			r.finds(d, "ftp://u:p@h/", FindingPassword)
			if got := mustReference(r, d, "ftp://u:p@h/").Redacted(); got != "ftp://u:***@h/" {
				r.Errorf("Redacted: %q", got)
			}
		},
		"U93-14": func(r req) { r.finds(d, "http://10.0.0.1/", FindingIPHost) },
		"U93-15": func(r req) {
			r.normal(d, LevelScheme, "http://h.example:80/", "http://h.example/")
			r.invalid(d, "http://h:8o/")
		},
		"U93-16": func(r req) { r.has(d, "ftp://info.cern.ch./pub/www/doc/http-spec.txt", ComponentHost, "info.cern.ch.") },
		"U93-17": func(r req) { r.segments(d, "http://a/b%2Fc/d", "b%2Fc", "d") },
		"U93-18": func(r req) { // only the complete elements are reserved
			r.resolves(d, "http://a/b/c/d", "../g", "http://a/b/g")
			r.resolves(d, "http://a/b/c/d", "..g", "http://a/b/c/..g")
			r.resolves(d, "http://a/b/c/d", "g..", "http://a/b/c/g..")
			r.resolves(d, "http://a/b/c/d", ".g", "http://a/b/c/.g")
		},
		"U93-19": func(r req) { // a URI contains only what access needs
			var got []string
			for c := ComponentScheme; c <= ComponentFragment; c++ {
				got = append(got, c.String())
			}
			want := []string{"scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				r.Errorf("the components of a builder: got %q, want %q", got, want)
			}
		},
		"U93-22": func(r req) { // a URL with a search part is one of an index
			r.has(d, "http://h/index?two+words", ComponentQuery, "two+words")
			r.has(d, "http://h/index", ComponentQuery, undefined)
			if got := slices.Collect(mustReference(r, d, "http://h/index?two+words").Words()); !slices.Equal(got, []string{"two", "words"}) {
				r.Errorf("the words of a search: got %q", got)
			}
		},
		"U93-21": func(r req) {
			r.has(d, "http://h/p#f", ComponentScheme, "http")
			r.has(d, "http://h/p#f", ComponentHost, "h")
			r.has(d, "http://h/p#f", ComponentPath, "/p")
			r.has(d, "http://h/p#f", ComponentFragment, "f")
		},
		"U93-20": func(r req) { r.relative(d, "http://a/b/c", "http://a/b/d", "d") },
		"U93-23": func(r req) {
			r.equivalent(d, LevelString, "http://a/b", "http://a/b", true)
			r.equivalent(d, LevelScheme, "http://a/b", "http://a/c", false)
		},
		"U93-24": func(r req) { // what leaves the context is written in full form
			if _, err := d.Parse("b/c"); err == nil {
				r.Error("Parse accepts a partial form")
			}
		},
		"U93-25": func(r req) {
			r.relative(d, "http://a/b/c", "ftp://a/b/d", "ftp://a/b/d")
			r.relative(d, "http://a/b/c", "http://x/b", "//x/b")
			r.relative(d, "http://a/b/c", "http://a/b/d", "d")
		},
		"U93-26": func(r req) {
			r.resolves(d, tableBase, ".", "http://a/b/c")
			r.resolves(d, tableBase, "..", "http://a/b")
			r.resolves(d, tableBase, "../../../g", "http://a/../g")
		},
		"U93-27": func(r req) { r.resolves(d, "news:123@h.example", "comp.lang.misc", "news:comp.lang.misc") },
		"U93-28": func(r req) { r.resolves(d, "wais://h.example/db?x", "db2?y", "wais://h.example/db2?y") },
		"U93-31": func(r req) {
			if got, err := d.EscapeText(ComponentSegment, "é"); got != "%E9" || err != nil {
				r.Errorf("EscapeText: %q, %v", got, err)
			}
		},
		"U93-32": func(r req) {
			if got, err := d.EscapeText(ComponentSegment, "€"); err == nil {
				r.Errorf("EscapeText: %q", got)
			}
		},
		"U93-33": func(r req) {
			r.valid(d, "http://a/%7e")
			data, err := Decode("%7e")
			if got := d.Escape(ComponentSegment, data); got != "%7E" || err != nil {
				r.Errorf("anew: %q, %v", got, err)
			}
		},
		"U93-34": func(r req) { r.invalid(d, "http://a/100%"); r.escapes(d, ComponentSegment, "100%", "100%25") },
		"U93-35": func(r req) {
			once := MakeSafer("http://a/x%20y'z", "'")
			if once != "http://a/x%20y%27z" || MakeSafer(once, "'%") != once {
				r.Errorf("MakeSafer: %q", once)
			}
		},
		"U93-36": func(r req) {
			const all = "%/ ~=+?#\x00\xff"
			raw := d.Escape(ComponentSegment, all)
			if data, err := Decode(raw); data != all || err != nil {
				r.Errorf("%q is decoded to %q, %v", raw, data, err)
			}
			r.valid(d, "http://h/"+raw)
		},
		"U93-38": func(r req) { r.escapes(d, ComponentFragment, "a b/c", "a%20b%2Fc") },
		"U93-41": func(r req) {
			r.has(d, "http://h.example?x", ComponentPath, "")
			r.has(d, "http://h.example?x", ComponentQuery, "x")
		},
		"U93-48": func(r req) {
			r.valid(d, "wais://h/db", "wais://h/db?x", "wais://h/db/TEXT/12/x")
			r.invalid(d, "wais://h/db/TEXT/abc/x", "wais://h/db/TEXT", "wais://h/db/T/1/x?y", "wais://h")
		},
		"U93-63": func(r req) { r.valid(d, "afs://cell.example/usr/x"); r.invalid(d, "afs://cell.example:1/x", "afs://c") },
		"U93-64": func(r req) {
			r.valid(d, "x-foo:bar?baz", "x-foo://h.example/p")
			r.has(d, "x-foo://h/p", ComponentHost, "h")
		},
	})
}

func TestRequirements1997(t *testing.T) {
	const d = Draft1997
	runRequirements(t, map[string]func(r req){
		"U97-01": func(r req) { r.has(d, "urn:foo:bar", ComponentPath, "foo:bar") },
		"U97-03": func(r req) {
			r.valid(d, "ftp://ftp.is.co.za/rfc/rfc1808.txt", "mailto:mduerst@ifi.unizh.ch", "telnet://melvyl.ucop.edu/")
		},
		"U97-04": func(r req) {
			const s = "http://a/b"
			if got := string(utf16.Decode(utf16.Encode([]rune(s)))); mustReference(r, d, got) != mustReference(r, d, s) {
				r.Error("the same characters are different URLs")
			}
		},
		"U97-05": func(r req) { r.invalid(d, "http://a/é", "http://a/\x7f", "http://a/ ") },
		"U97-06": func(r req) {
			if data, err := Decode("%C3%A9%FF"); data != "\xc3\xa9\xff" || err != nil {
				r.Errorf("Decode: %q, %v", data, err)
			}
		},
		"U97-07": func(r req) { r.escapes(d, ComponentSegment, "a/b;c", "a%2Fb%3Bc") },
		"U97-08": func(r req) {
			r.equivalent(d, LevelScheme, "http://a/a%2Fb", "http://a/a/b", false)
			r.normal(d, LevelScheme, "http://a/%3B", "http://a/%3B")
		},
		"U97-09": func(r req) { r.escapes(d, ComponentSegment, "~$,'", "~$,'") },
		"U97-10": func(r req) { r.escapes(d, ComponentSegment, "\xc3\xa9", "%C3%A9") },
		"U97-11": func(r req) { r.invalid(d, "%2", "%G1", "a%"); r.valid(d, "%20", "%aF") },
		"U97-12": func(r req) {
			r.has(d, "http://a/b%3Fc?d", ComponentPath, "/b%3Fc")
			r.has(d, "http://a/b%3Fc?d", ComponentQuery, "d")
			for s := range mustReference(r, d, "http://a/b%3Fc?d").Segments() {
				if s.Data() != "b?c" {
					r.Errorf("segment %q", s.Data())
				}
			}
		},
		"U97-13": func(r req) { r.normal(d, LevelPercent, "http://a/%7esmith", "http://a/~smith") },
		"U97-14": func(r req) { r.escapes(d, ComponentSegment, "100%", "100%25") },
		"U97-15": func(r req) {
			if data, err := Decode("%2541"); data != "%41" || err != nil {
				r.Errorf("Decode: %q, %v", data, err)
			}
		},
		"U97-16": func(r req) {
			r.invalid(d, "http://a/[x]", "http://[::1]/", "a b", "a<b", "a|b")
			r.escapes(d, ComponentQuery, "<", "%3C")
		},
		"U97-17": func(r req) {
			if got := mustReference(r, d, "http://a/b#c").WithoutFragment(); got.String() != "http://a/b" {
				r.Errorf("the URL is %q", got)
			}
		},
		"U97-18": func(r req) { r.has(d, "http://a/b#c", ComponentFragment, "c") },
		"U97-19": func(r req) { r.invalid(d, "a#b#c") },
		"U97-20": func(r req) {
			r.currentDocument(d, tableBase, "")
			r.currentDocument(d, tableBase, "#s")
		},
		"U97-21": func(r req) {
			got, err := Resolver{NewRequest: true}.Resolve(mustReference(r, d, tableBase), mustReference(r, d, ""))
			if err != nil || got.URI.String() != tableBase {
				r.Errorf("a new request is for %q, %v", got.URI, err)
			}
		},
		"U97-22": func(r req) { r.has(d, "a:b:c", ComponentScheme, "a"); r.has(d, "a:b:c", ComponentPath, "b:c") },
		"U97-23": func(r req) { r.has(d, "1a:b", ComponentScheme, "1a"); r.valid(d, "+:", "-.:x"); r.invalid(d, "a_b:c") },
		"U97-24": func(r req) { r.normal(d, LevelCase, "HTTP://a/", "http://a/") },
		"U97-25": func(r req) { r.resolves(d, "foo://h/x", "y", "foo://h/y") },
		"U97-26": func(r req) {
			r.has(d, "mailto:a@b", ComponentPath, "a@b")
			r.has(d, "mailto:a@b", ComponentAuthority, undefined)
			r.is(d, "opaque-URL", "mailto:a@b")
			r.is(d, "generic-URL", "http://a/b")
		},
		"U97-27": func(r req) { r.has(d, "file:/etc/%2e%2e", ComponentPath, "/etc/%2e%2e") },
		"U97-28": func(r req) {
			r.has(d, "http://a/b?", ComponentQuery, "")
			r.has(d, "http://a/b", ComponentQuery, undefined)
		},
		"U97-29": func(r req) {
			r.has(d, "http://a:1?b", ComponentAuthority, "a:1")
			r.has(d, "http://a/b", ComponentAuthority, "a")
			r.has(d, "http://a#b", ComponentAuthority, "a")
			r.isNot(d, "site", "a/b", "a?b")
		},
		"U97-30": func(r req) {
			r.has(d, "ftp://@host.com/", ComponentUserinfo, "")
			r.has(d, "ftp://host.com/", ComponentUserinfo, undefined)
			r.has(d, "ftp://foo:@host.com/", ComponentUserinfo, "foo:")
		},
		"U97-31": func(r req) {
			r.is(d, "site", "")
			r.isNot(d, "site", "u@", ":80")
			r.has(d, "file:///x", ComponentHost, undefined)
		},
		"U97-32": func(r req) { r.isNot(d, "site", "u:p:q@h", "u@v@h", "u?@h"); r.isNot(d, "user", "a?b", "a:b") },
		"U97-33": func(r req) { r.finds(d, "ftp://u:secret@h/", FindingPassword) },
		"U97-34": func(r req) {
			r.kind(d, "//999.1.1.1/", HostIPv4)
			r.is(d, "hostnumber", "999.1.1.1")
			r.isNot(d, "host", "[::1]", "1.2.3")
		},
		"U97-35": func(r req) {
			r.is(d, "hostname", "3com.com", "a", "a-b.c-d")
			r.isNot(d, "hostname", "a.1", "-a.com", "a-.com", "a_b.com", "example.com.", "a..b")
		},
		"U97-36": func(r req) { r.valid(d, "http://localhost/", "http://wiki/x") },
		"U97-37": func(r req) { r.has(d, "http://a:/", ComponentPort, "") },
		"U97-38": func(r req) { r.resolves(d, "foo:/a/b", "c", "foo:/a/c") },
		"U97-39": func(r req) { r.segments(d, "/a;x=1;y/b;", "a;x=1;y", "b;"); r.is(d, "segment", "a;x=1;y") },
		"U97-40": func(r req) {
			r.has(d, "foo:/bar", ComponentPath, "/bar")
			r.has(d, "foo:bar", ComponentPath, "bar")
			r.equivalent(d, LevelScheme, "foo:/bar", "foo:bar", false)
		},
		"U97-41": func(r req) { r.has(d, "?a/b&c=d+e?f", ComponentQuery, "a/b&c=d+e?f") },
		"U97-42": func(r req) { r.has(d, "x://a:b:c/p", ComponentAuthority, "a:b:c"); r.isNot(d, "site", "a:b:c") },
		"U97-43": func(r req) { r.has(d, "//a/b", ComponentAuthority, "a"); r.has(d, "//a/b", ComponentPath, "/b") },
		"U97-44": func(r req) { r.has(d, "http://a?b", ComponentQuery, "b") },
		"U97-45": func(r req) {
			r.is(d, "net_path", "//a/b")
			r.is(d, "abs_path", "/a/b")
			r.is(d, "rel_path", "a/b")
			r.isNot(d, "net_path", "/a", "a")
			r.isNot(d, "abs_path", "a")
		},
		"U97-46": func(r req) {
			r.resolves(d, tableBase, "/../g", "http://a/../g")
			r.normal(d, LevelScheme, "http://a/b/../c", "http://a/b/../c")
		},
		"U97-47": func(r req) { r.relative(d, "http://a/b/c", "http://a/b/this:that", "./this:that") },
		"U97-48": func(r req) {
			if got, err := mustReference(r, d, "a/b").Resolve(mustReference(r, d, "c")); err == nil {
				r.Errorf("a relative base gives %q", got)
			}
		},
		"U97-56": func(r req) {
			if _, err := mustReference(r, d, "").Resolve(mustReference(r, d, "g")); err == nil || !strings.Contains(err.Error(), "without a base") {
				r.Errorf("Resolve: %v", err)
			}
		},
		"U97-58": func(r req) {
			r.resolves(d, tableBase, "../../g", "http://a/g")
			r.resolves(d, tableBase, "g;x=1/../y", "http://a/b/c/y")
		},
		"U97-59": func(r req) { r.resolves(d, "http://a/b/c/d?x/y#z", "g", "http://a/b/c/g") },
		"U97-60": func(r req) {
			r.resolves(d, tableBase, "g?y/./x", "http://a/b/c/g?y/x")
			r.resolves(d, tableBase, "g?y/../x", "http://a/b/c/x")
		},
		"U97-61": func(r req) { r.resolves(d, tableBase, "../../../g", "http://a/../g") },
		"U97-62": func(r req) { r.resolves(d, tableBase, "http:g", "http:g"); r.resolves(d, tableBase, "http:", "http:") },
		"U97-63": func(r req) { r.resolves(d, tableBase, "http://a/../b/c", "http://a/../b/c") },
		"U97-64": func(r req) { r.equivalent(d, LevelCase, "http://www.XEROX.com", "http://www.xerox.com", true) },
		"U97-65": func(r req) {
			r.equivalent(d, LevelScheme, "http://a.example:80/", "http://a.example/", true)
			r.equivalent(d, LevelScheme, "http://a.example:8080/", "http://a.example/", false)
		},
		"U97-66": func(r req) { r.equivalent(d, LevelScheme, "http://a/B", "http://a/b", false) },
		"U97-68": func(r req) {
			r.finds(d, "ftp://u:secret@h/", FindingPassword)
			if got := mustReference(r, d, "ftp://u:secret@h/").LogValue().String(); strings.Contains(got, "secret") {
				r.Errorf("LogValue: %q", got)
			}
		},
		"U97-69": func(r req) {
			r.finds(d, "gopher://h:25/", FindingPort)
			r.finds(d, "gopher://h:25/", FindingReservedPort)
			r.finds(d, "http://h:8080/", FindingPort)
		},
		"U97-70": func(r req) {
			r.finds(d, "gopher://h/1x%0D%0AHELO", FindingCRLF)
			r.normal(d, LevelScheme, "gopher://h/1x%0D%0AHELO", "gopher://h/1x%0D%0AHELO")
		},
	})
}

func TestRequirements2003(t *testing.T) {
	const d = Draft2003
	runRequirements(t, map[string]func(r req){
		"U03-01": func(r req) { r.valid(d, "urn:isbn:1", "http://a/") },
		"U03-02": func(r req) { r.has(d, "unknown-scheme://h/p?q", ComponentQuery, "q") },
		"U03-04": func(r req) {
			r.valid(d, "gopher://gopher.tc.umn.edu:70/11/Mailing%20Lists/", "mailto:John.Doe@example.com", "telnet://melvyl.ucop.edu/")
		},
		"U03-05": func(r req) {
			if data, err := Decode("a%0a"); data != "a\n" || err != nil {
				r.Errorf("Decode: %q, %v", data, err)
			}
		},
		"U03-06": func(r req) { // the scheme chooses the charset
			if got, err := d.EscapeText(ComponentSegment, "é"); err == nil {
				r.Errorf("EscapeText: %q", got)
			}
			r.escapes(d, ComponentSegment, "é", "%C3%A9")
		},
		"U03-07": func(r req) { r.invalid(d, "http://a/é", "http://a/ ") },
		"U03-08": func(r req) {
			r.is(d, "reserved", strings.Split("[ ] ; / ? : @ & = + $ ,", " ")...)
			r.escapes(d, ComponentSegment, "a/b", "a%2Fb")
		},
		"U03-09": func(r req) {
			r.is(d, "unreserved", strings.Split("a Z 0 - _ . ! ~ * ' ( )", " ")...)
			r.isNot(d, "unreserved", "$", ",")
		},
		"U03-10": func(r req) {
			r.normal(d, LevelPercent, "http://a/%7Euser", "http://a/~user")
			r.normal(d, LevelPercent, "http://a/%2D%2E%21%2A%27%28%29", "http://a/%2D%2E%21%2A%27%28%29")
		},
		"U03-11": func(r req) { r.escapes(d, ComponentSegment, " ", "%20") },
		"U03-12": func(r req) { r.segments(d, "http://a/b%2Fc", "b%2Fc") },
		"U03-13": func(r req) { r.equivalent(d, LevelPercent, "http://a/%7e", "http://a/~", true) },
		"U03-14": func(r req) {
			r.escapes(d, ComponentSegment, "%41", "%2541")
			r.normal(d, LevelPercent, "x:%2541", "x:%2541")
		},
		"U03-15": func(r req) {
			r.invalid(d, "a<b", "a>b", "a%", `a"b`, "a{b", "a}b", "a|b", `a\b`, "a^b", "a`b", "a\x00")
		},
		"U03-16": func(r req) { r.has(d, "DAV:", ComponentPath, ""); r.valid(d, "about:") },
		"U03-17": func(r req) {
			r.is(d, "opaque-part", "John.Doe@example.com")
			r.isNot(d, "opaque-part", "/bar")
			r.is(d, "hier-part", "/bar")
		},
		"U03-18": func(r req) {
			r.has(d, "mailto:a@b", ComponentPath, "a@b")
			r.has(d, "foo:/bar", ComponentPath, "/bar")
			if !mustReference(r, d, "mailto:a@b").Opaque() || mustReference(r, d, "foo:/bar").Opaque() {
				r.Error("Opaque")
			}
		},
		"U03-19": func(r req) { r.invalid(d, "1a:b"); r.normal(d, LevelCase, "HTTP://a/", "http://a/") },
		"U03-20": func(r req) {
			r.has(d, "http://a?b", ComponentAuthority, "a")
			r.has(d, "http://a?b", ComponentPath, "")
		},
		"U03-21": func(r req) {
			r.kind(d, "foo://x_y/", HostRegistry)
			r.kind(d, "foo://a:b:c/", HostRegistry)
			r.has(d, "foo://x_y:z@w/", ComponentUserinfo, "x_y:z")
			r.has(d, "foo://x_y:z@w/", ComponentHost, "w")
		},
		"U03-22": func(r req) { r.is(d, "server", "", "u@h:1", "h"); r.has(d, "file:///x", ComponentHost, undefined) },
		"U03-23": func(r req) {
			r.has(d, "http://u:p@h/", ComponentUserinfo, "u:p")
			r.finds(d, "http://u:p@h/", FindingPassword)
		},
		"U03-24": func(r req) {
			r.kind(d, "//[::1]", HostIPv6)
			r.kind(d, "//1.2.3.4", HostIPv4)
			r.kind(d, "//a.b", HostName)
		},
		"U03-25": func(r req) { r.has(d, "http://h:/", ComponentPort, "") },
		"U03-26": func(r req) {
			label := strings.Repeat("a", 63)
			r.is(d, "hostname", "example.com.", "a.1", label)
			r.isNot(d, "hostname", "a.1.", "localhost.", label+"a", "-a", "a-")
		},
		"U03-27": func(r req) {
			r.is(d, "IPv4address", "192.0.2.255")
			r.isNot(d, "IPv4address", "192.0.2.256", "01.2.3.4", "1.2.3")
		},
		"U03-28": func(r req) {
			r.is(d, "IPv6reference", "[::]", "[::1]", "[1:2:3:4:5:6:7::]", "[::13.1.68.3]")
			r.isNot(d, "IPv6reference", "[1::2::3]", "[1:2:3:4:5:6:7:8::]", "[12345::]", "[fe80::1%25en0]", "[v1.x]")
		},
		"U03-29": func(r req) { r.invalid(d, "http://h/[x]"); r.valid(d, "foo:[x]") },
		"U03-30": func(r req) { r.segments(d, "/a;x=1/b", "a;x=1", "b") },
		"U03-31": func(r req) { r.has(d, "?a/b?c", ComponentQuery, "a/b?c"); r.invalid(d, "?[x]") },
		"U03-32": func(r req) { r.is(d, "URI-reference", "g#s"); r.isNot(d, "absolute-URI-reference", "g#s") },
		"U03-33": func(r req) { r.invalid(d, "#a#b"); r.has(d, "#a/b?c", ComponentFragment, "a/b?c") },
		"U03-34": func(r req) { r.normal(d, LevelScheme, "http://a/#b/../c", "http://a/#b/../c") },
		"U03-35": func(r req) {
			r.currentDocument(d, tableBase, "")
			r.currentDocument(d, tableBase, "#s")
			got, err := Resolver{NewRequest: true}.Resolve(mustReference(r, d, tableBase), mustReference(r, d, ""))
			if err != nil || got.URI.String() != tableBase {
				r.Errorf("a new request is for %q, %v", got.URI, err)
			}
		},
		"U03-36": func(r req) { r.has(d, "//a/b", ComponentAuthority, "a") },
		"U03-37": func(r req) { r.has(d, "http://www.ics.uci.edu/pub/ietf/uri/#Related", ComponentFragment, "Related") },
		"U03-38": func(r req) {
			r.is(d, "net-path", "//a/b")
			r.is(d, "abs-path", "/a")
			r.is(d, "rel-path", "a/b")
			r.is(d, "relative-URI", "", "?x", "//a", "/b", "c")
		},
		"U03-39": func(r req) {
			r.relative(d, "http://a/b/c", "http://a/b/this:that", "./this:that")
			r.has(d, "this:that", ComponentScheme, "this")
		},
		"U03-40": func(r req) {
			r.resolves(d, tableBase, "/./g", "http://a/./g")
			r.resolves(d, tableBase, "./g", "http://a/b/c/g")
		},
		"U03-41": func(r req) {
			if got, err := mustReference(r, d, "mailto:a@b").Resolve(mustReference(r, d, "g")); err == nil {
				r.Errorf("an opaque base gives %q", got)
			}
			r.currentDocument(d, "mailto:a@b", "#s")
		},
		"U03-45": func(r req) { r.resolves(d, tableBase, "./g/.", "http://a/b/c/g/") },
		"U03-46": func(r req) {
			r.resolves(d, tableBase, "http:g", "http:g")
			got, err := Resolver{Compatible: true}.Resolve(mustReference(r, d, tableBase), mustReference(r, d, "http:g"))
			if err != nil || got.URI.String() != "http://a/b/c/g" {
				r.Errorf("compatible: %q, %v", got.URI, err)
			}
		},
		"U03-47": func(r req) { r.resolves(d, tableBase, "?y", "http://a/b/c/d;p?y") },
		"U03-48": func(r req) {
			r.resolves(d, "http://a", "g", "http://a/g")
			r.resolves(d, "http://a?x", "g", "http://a/g")
		},
		"U03-49": func(r req) { r.resolves(d, tableBase, "g?y/../x", "http://a/b/c/g?y/../x") },
		"U03-50": func(r req) {
			r.resolves(d, tableBase, "../../../g", "http://a/../g")
			base, ref := mustReference(r, d, tableBase), mustReference(r, d, "../../../g")
			if got, err := (Resolver{Excess: ExcessDrop}).Resolve(base, ref); err != nil || got.URI.String() != "http://a/g" {
				r.Errorf("drop: %q, %v", got.URI, err)
			}
			if got, err := (Resolver{Excess: ExcessRefuse}).Resolve(base, ref); err == nil {
				r.Errorf("refuse: %q", got.URI)
			}
		},
		"U03-51": func(r req) {
			r.resolves(d, tableBase, "/./g", "http://a/./g")
			r.resolves(d, tableBase, "//g/./h", "http://g/./h")
		},
		"U03-52": func(r req) {
			r.resolves(d, tableBase, "g?", "http://a/b/c/g?")
			r.resolves(d, tableBase, "g#", "http://a/b/c/g#")
		},
		"U03-53": func(r req) { r.equivalent(d, LevelPath, "http://a/b", "http://a/c", false) },
		"U03-54": func(r req) {
			a, b := mustReference(r, d, "http://a/b#x"), mustReference(r, d, "http://a/b#y")
			if !(Comparer{NoFragment: true}).Equivalent(a, b, LevelString) || Equivalent(a, b, LevelScheme) {
				r.Error("fragments")
			}
		},
		"U03-55": func(r req) { r.equivalent(d, LevelString, "HTTP://a/", "http://a/", false) },
		"U03-56": func(r req) { r.normal(d, LevelCase, "HTTP://www.EXAMPLE.com/A", "http://www.example.com/A") },
		"U03-57": func(r req) {
			r.normal(d, LevelPath, "example://a/./b/../b/c", "example://a/b/c")
			r.normal(d, LevelPath, "foo:/x:y/../a:b", "foo:/a:b")
		},
		"U03-58": func(r req) { r.normal(d, LevelPercent, "x:%3a%7a", "x:%3Az") },
		"U03-59": func(r req) { r.equivalent(d, LevelPath, "example://a/b/c/%7A", "eXAMPLE://a/./b/../b/c/%7a", true) },
		"U03-60": func(r req) {
			r.equivalent(d, LevelScheme, "http://example.com/", "http://example.com:80/", true)
			r.equivalent(d, LevelScheme, "http://example.com/", "http://example.com:/", true)
		},
		"U03-61": func(r req) {
			a, b := mustReference(r, d, "http://example.com/data"), mustReference(r, d, "http://example.com/data/")
			c := Comparer{Redirects: func(u URI) (URI, bool) { return b, u == a }}
			if !c.Equivalent(a, b, LevelProtocol) || c.Equivalent(a, b, LevelScheme) || (Comparer{}).Equivalent(a, b, LevelProtocol) {
				r.Error("evidence")
			}
		},
		"U03-62": func(r req) {
			r.finds(d, "HTTP://a/", FindingUpperScheme)
			r.finds(d, "http://A/", FindingUpperHost)
			r.finds(d, "http://a/%41", FindingNeedlessEscape)
			r.finds(d, "http://a/%2f", FindingLowerEscape)
			r.finds(d, "http://a/%E9", FindingCharset)
			r.finds(d, "http://a/./b", FindingDots)
		},
		"U03-64": func(r req) {
			r.finds(d, "gopher://h:25/", FindingPort)
			r.finds(d, "gopher://h:25/", FindingReservedPort)
		},
		"U03-65": func(r req) { r.finds(d, "telnet://u%0D%0A@h/", FindingCRLF) },
		"U03-66": func(r req) { r.kind(d, "http://0x7f.1/", HostName); r.finds(d, "http://0x7f.1/", FindingRareIPv4) },
		"U03-67": func(r req) {
			for _, s := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.1"} {
				if a, ok := ParseNumericHost(s); !ok || a.String() != "127.0.0.1" {
					r.Errorf("ParseNumericHost(%q) = %v", s, a)
				}
			}
		},
		"U03-68": func(r req) { r.finds(d, "http://u:secret@h/", FindingPassword) },
		"U03-69": func(r req) {
			const s = "http://www.example.com&story=breaking_news@10.0.0.1/top_story.htm"
			r.finds(d, s, FindingUserinfoLook)
			r.has(d, s, ComponentHost, "10.0.0.1")
			for c, piece := range mustReference(r, d, s).Parts() {
				if c == ComponentUserinfo && piece != "www.example.com&story=breaking_news@" {
					r.Errorf("userinfo %q", piece)
				}
			}
		},
	})
}

func runRequirements(t *testing.T, all map[string]func(req)) {
	for id, f := range all {
		t.Run(id, func(t *testing.T) { f(req{t}) })
	}
}

func TestLineBreak(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want int
	}{
		{"abc", 3, 3},
		{"abcd", 3, 3},
		{"ab-d", 3, 2},
		{"a--d", 3, 1},
		{"---d", 3, 4},
		{"---", 2, 3},
		{"----", 2, 4},
		{"--a-b", 2, 3},
		{"", 1, 0},
	} {
		if got := LineBreak(tt.s, tt.n); got != tt.want {
			t.Errorf("U97-73, U03-71: LineBreak(%q, %d) = %d, want %d", tt.s, tt.n, got, tt.want)
		}
	}
}

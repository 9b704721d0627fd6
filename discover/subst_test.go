package discover

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestSubstitution(t *testing.T) {
	const cid, web = "urn:cid:199606121851.1@bar.example.com", "http://www.example.com/software/latest-beta.exe"
	for _, tt := range []struct{ why, expr, text, want string }{
		{"RFC 3403, 6.1", `!^urn:cid:.+@([^\.]+\.)(.*)$!\2!i`, cid, "example.com"},
		{"RFC 2915, 7.1", `/urn:cid:.+@([^\.]+\.)(.*)$/\2/i`, "urn:cid:39CB83F7.A8450130@fake.gatech.edu", "gatech.edu"},
		{"RFC 3404, 5.2", `!^cid:.+@([^\.]+\.)(.*)$!\2!i`, "cid:199606121851.1@bar.example.com", "example.com"},
		{"RFC 2915, 7.2", `!http://([^/:]+)!\1!i`, web, "www.example.com"},
		{"RFC 2915, 7.2: the delimiter escaped", `/http:\/\/([^\/:]+)/\1/i`, web, "www.example.com"},
		{"RFC 3404, 5.3, as it is printed", `!^http://([^/:]+)!1!i`, web, "1"},
		{"RFC 3403, 6.2", `!^.*$!sip:information@foo.se!i`, "+17705551212", "sip:information@foo.se"},
		{"RFC 3402, 3.2: group 1", `!(A(B(C)DE)(F)G)!\1!`, "ABCDEFG", "ABCDEFG"},
		{"RFC 3402, 3.2: group 2", `!(A(B(C)DE)(F)G)!\2!`, "ABCDEFG", "BCDE"},
		{"RFC 3402, 3.2: group 3", `!(A(B(C)DE)(F)G)!\3!`, "ABCDEFG", "C"},
		{"RFC 3402, 3.2: group 4", `!(A(B(C)DE)(F)G)!\4!`, "ABCDEFG", "F"},
		{"nine groups", `!(.)(.)(.)(.)(.)(.)(.)(.)(.)!\9\8\7\6\5\4\3\2\10!`, "abcdefghi", "ihgfedcba0"},
		{"what surrounds the match is not kept", `!b!x!`, "abc", "x"},
		{"case matters without the flag", `!URN!x!`, "urn:a:b", ""},
		{"the flag in capitals", `!URN!x!I`, "urn:a:b", "x"},
		{"the flag twice", `!URN!x!ii`, "urn:a:b", "x"},
		{"an empty replacement yields nothing", `!.*!!`, "a", ""},
		{"a group without a match is empty", `!(a)|(b)!\1x\2!`, "b", "xb"},
		{"leftmost", `!b+|c!<\0>!`, "", "error"},
		{"longest of the alternatives", `!(a|ab|abc)!\1!`, "abcd", "abc"},
		{"a backslash is itself in brackets", `!^([\.]+)!\1!`, `\.\x`, `\.\`},
		{"and the delimiter can be escaped there", `!^([\!]+)!\1!`, `!!x`, `!!`},
		{"an escaped special character as delimiter is literal", `|a\|b|x|`, "a|b", "x"},
		{"and not the alternative", `|a\|b|x|`, "a", ""},
		{"a letter as delimiter", `xa\x(.)x\1\xx`, "axb", "bx"},
		{"a delimiter of several octets", "éa(.)é\\1é", "ab", "b"},
		{"classes", `!^[[:alpha:]]+([[:digit:]]*)$!\1!`, "ab12", "12"},
		{"collating elements", `!^[[.-.]x[=y=]]+$!yes!`, "-xy", "yes"},
		{"first in brackets", `!^[]-]+$!yes!`, "]-]", "yes"},
		{"negated", `!^[^]]$!yes!`, "]", ""},
		{"a range", `!^[a-c]+(.)!\1!`, "abcd", "d"},
		{"a range does not fold without the flag", `!^[a-c]$!yes!`, "B", ""},
		{"a range folds with it", `!^[a-c]$!yes!i`, "B", "yes"},
		{"an interval", `!^(a{2}b{1,}c{0,1})d!\1!`, "aabbbd", "aabbb"},
		{"points are characters, not octets", `!^.{2}$!yes!`, "éü", "yes"},
		{"a point is any character, newline too", `!^a.b$!yes!`, "a\nb", "yes"},
		{"a parenthesis without partner is itself", `!a)(b)!\1!`, "a)b", "b"},
		{"anchors in groups", `!(^|x)a($|y)!yes!`, "a", "yes"},
		{"no other replacement escape", `!a!\b!`, "a", `\b`},
		{"dollar and braces are text in the replacement", `!(a)!${1}$1!`, "a", "${1}$1"},
		{"the words of package regexp are literal", `!^\(\?i\)a!x!`, "(?i)a", "x"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s, err := ParseSubstitution(tt.expr)
			if tt.want == "error" {
				if err == nil {
					t.Fatalf("%s was accepted", tt.expr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := s.Apply(tt.text); got != tt.want || ok != (tt.want != "") {
				t.Errorf("Apply(%q) = %q, %v, want %q", tt.text, got, ok, tt.want)
			}
			if got := s.String(); got != tt.expr {
				t.Errorf("String() = %q, want %q", got, tt.expr)
			}
		})
	}
}

func TestSubstitutionRefusals(t *testing.T) {
	for _, tt := range []struct {
		expr   string
		offset int
		rule   string
	}{
		{"", 0, "subst-expr"},
		{"!", 1, "subst-expr"},
		{"!a", 2, "subst-expr"},
		{"!a!b", 4, "subst-expr"},
		{`!a\!b!c`, 7, "subst-expr"},
		{"!a!b!c!", 5, "flags"},
		{"!a!b!!", 5, "subst-expr"},
		{"!a!b!g", 5, "flags"},
		{"1a1b1", 0, "delim-char"},
		{"0a0b0", 0, "delim-char"}, // RFC 3402, 3.2: no digits
		{`\a\b\`, 0, "delim-char"}, // RFC 2915, 3
		{"iaibi", 0, "delim-char"},
		{"IaIbI", 0, "delim-char"},
		{"!a\xff!b!", 0, "subst-expr"},
		{"!" + strings.Repeat("a", 254) + "!b!", 255, "subst-expr"},
		{`!(a)!\2!`, 5, "backref"},
		{`!(a)!x\0!`, 6, "backref"}, // RFC 2915, 3
		{`!a!\1!`, 3, "backref"},
		{`!!x!`, 1, "ere"},
		{`!a|!x!`, 3, "ere"},
		{`!|a!x!`, 1, "ere"},
		{`!()!x!`, 2, "ere"},
		{`!(a|)!x!`, 4, "ere"},
		{`!(a!x!`, 3, "ere"},
		{`!*a!x!`, 1, "ere"},
		{`!^*!x!`, 2, "ere"},
		{`!a**!x!`, 3, "ere"},
		{`!a+?!x!`, 3, "ere"},
		{`!(?:a)!x!`, 2, "ere"},
		{`!(?i)a!x!`, 2, "ere"},
		{`!a{!x!`, 2, "ere"},
		{`!a{2,1}!x!`, 2, "ere"},
		{`!a{256}!x!`, 2, "ere"},
		{`!a{,2}!x!`, 2, "ere"},
		{`!a{99999999999999999999}!x!`, 2, "ere"},
		{`!\d!x!`, 1, "ere"},
		{`!(a)\1!x!`, 4, "ere"},
		{`!\Qa!x!`, 1, "ere"},
		{`![a!x!`, 1, "ere"},
		{`![!x!`, 1, "ere"},
		{`![]!x!`, 1, "ere"},
		{`![b-a]!x!`, 2, "ere"},
		{`![a-c-e]!x!`, 5, "ere"},
		{`![a-[:digit:]]!x!`, 4, "ere"},
		{`![[:foo:]]!x!`, 2, "ere"},
		{`![[.ch.]]!x!`, 2, "ere"},
		{`!((a{99}){99}){99}!x!`, 9, "ere"}, // 9,801 characters
	} {
		_, err := ParseSubstitution(tt.expr)
		var e *Error
		if !errors.As(err, &e) || e.Offset != tt.offset || e.Rule != tt.rule {
			t.Errorf("ParseSubstitution(%q): got %v, want offset %d, rule %s", tt.expr, err, tt.offset, tt.rule)
		}
	}
}

// TestSubstitutionTime matches expressions for which a backtracking matcher would practically never
// end.
func TestSubstitutionTime(t *testing.T) {
	begin := time.Now()
	for _, expr := range []string{`!^(a+)+$!x!`, `!^((a|a)*)*$!x!`, `!^(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)b$!x!`, `!^(a{0,30}){30}b$!x!`} {
		s, err := ParseSubstitution(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Apply(strings.Repeat("a", 2000) + "c"); ok {
			t.Errorf("%s matches: %q", expr, got)
		}
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %v", took)
	}
	long, err := ParseSubstitution(`!(.*)!` + strings.Repeat(`\1`, 100) + `!`)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := long.Apply(strings.Repeat("a", 2000)); ok {
		t.Errorf("a result of %d octets", len(got))
	}
}

func FuzzParseSubstitution(f *testing.F) {
	for _, s := range []string{
		`!^urn:cid:.+@([^\.]+\.)(.*)$!\2!i`, `/http:\/\/([^\/:]+)/\1/i`, `!(a{2,3}|[[:alpha:]x-z-])*!\1x!`, `|a\|b|x|`,
		`![[.-.][=x=]]!!`, `!a)(b)!\1!`, "éa(.)é\\1é", `!((a{99}){99}){99}!x!`, `xa\x(.)x\1\xx`,
	} {
		f.Add(s, "urn:cid:199606121851.1@bar.example.com")
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		s, err := ParseSubstitution(expr)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(e.Input) || e.Rule == "" || e.Message == "" {
				t.Fatalf("%q: odd error %v", expr, err)
			}
			return
		}
		if len(text) > 300 {
			text = text[:300]
		}
		if got, ok := s.Apply(text); ok != (got != "") || len(got) > maxResult {
			t.Fatalf("%q on %q: %q, %v", expr, text, got, ok)
		}
		sameAsOther(t, s, text)
	})
}

// leadingZero matches a repetition such as {00} or {1,02}.
var leadingZero = regexp.MustCompile(`\{(\d+,)?0\d`)

// sameAsOther compares a substitution with the parser of POSIX expressions in package regexp, for
// expressions that mean the same to both.
func sameAsOther(t *testing.T, s *Substitution, text string) {
	source := s.source
	if source[0] != '!' || strings.ContainsAny(source, `\[`) || !strings.HasSuffix(source, "!") {
		return
	}
	ere := strings.Split(source, "!")[1]
	if leadingZero.MatchString(ere) {
		return // a number to POSIX, literal text to package regexp
	}
	other, err := regexp.CompilePOSIX(ere)
	if err != nil {
		return
	}
	if got, want := s.ere.MatchString(text), other.MatchString(text); got != want && !strings.Contains(text, "\n") {
		t.Fatalf("%q on %q: match is %v, want %v", source, text, got, want)
	}
}

package rule

import (
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

// variables are those of RFC 6570, 3.2.
var variables = map[string]templateValue{
	"count": listValue("one", "two", "three"), "dom": listValue("example", "com"), "dub": stringValue("me/too"),
	"hello": stringValue("Hello World!"), "half": stringValue("50%"), "var": stringValue("value"), "who": stringValue("fred"),
	"base": stringValue("http://example.com/base/"), "path": stringValue("/foo/bar"), "list": listValue("red", "green", "blue"),
	"keys": pairsValue("semi", ";", "dot", ".", "comma", ","), "v": stringValue("6"), "x": stringValue("1024"), "y": stringValue("768"),
	"empty": stringValue(""), "empty_keys": pairsValue(), "undef": {},
	"semi": stringValue(";"), "year": listValue("1965", "2000", "2012"),
}

func lookup(label string) templateValue { return variables[label] }

// TestExpansions holds every expansion of RFC 6570, 2.4 and 3.2.
func TestExpansions(t *testing.T) {
	rows := `
{count} one,two,three
{count*} one,two,three
{/count} /one,two,three
{/count*} /one/two/three
{;count} ;count=one,two,three
{;count*} ;count=one;count=two;count=three
{?count} ?count=one,two,three
{?count*} ?count=one&count=two&count=three
{&count*} &count=one&count=two&count=three
{var} value
{hello} Hello%20World%21
{half} 50%25
O{empty}X OX
O{undef}X OX
{x,y} 1024,768
{x,hello,y} 1024,Hello%20World%21,768
?{x,empty} ?1024,
?{x,undef} ?1024
?{undef,y} ?768
{var:3} val
{var:30} value
{list} red,green,blue
{list*} red,green,blue
{keys} semi,%3B,dot,.,comma,%2C
{keys*} semi=%3B,dot=.,comma=%2C
{+var} value
{+hello} Hello%20World!
{+half} 50%25
{base}index http%3A%2F%2Fexample.com%2Fbase%2Findex
{+base}index http://example.com/base/index
O{+empty}X OX
O{+undef}X OX
{+path}/here /foo/bar/here
here?ref={+path} here?ref=/foo/bar
up{+path}{var}/here up/foo/barvalue/here
{+x,hello,y} 1024,Hello%20World!,768
{+path,x}/here /foo/bar,1024/here
{+path:6}/here /foo/b/here
{+list} red,green,blue
{+list*} red,green,blue
{+keys} semi,;,dot,.,comma,,
{+keys*} semi=;,dot=.,comma=,
{#var} #value
{#hello} #Hello%20World!
{#half} #50%25
foo{#empty} foo#
foo{#undef} foo
{#x,hello,y} #1024,Hello%20World!,768
{#path,x}/here #/foo/bar,1024/here
{#path:6}/here #/foo/b/here
{#list} #red,green,blue
{#list*} #red,green,blue
{#keys} #semi,;,dot,.,comma,,
{#keys*} #semi=;,dot=.,comma=,
{.who} .fred
{.who,who} .fred.fred
{.half,who} .50%25.fred
www{.dom*} www.example.com
X{.var} X.value
X{.empty} X.
X{.undef} X
X{.var:3} X.val
X{.list} X.red,green,blue
X{.list*} X.red.green.blue
X{.keys} X.semi,%3B,dot,.,comma,%2C
X{.keys*} X.semi=%3B.dot=..comma=%2C
X{.empty_keys} X
X{.empty_keys*} X
{/who} /fred
{/who,who} /fred/fred
{/half,who} /50%25/fred
{/who,dub} /fred/me%2Ftoo
{/var} /value
{/var,empty} /value/
{/var,undef} /value
{/var,x}/here /value/1024/here
{/var:1,var} /v/value
{/list} /red,green,blue
{/list*} /red/green/blue
{/list*,path:4} /red/green/blue/%2Ffoo
{/keys} /semi,%3B,dot,.,comma,%2C
{/keys*} /semi=%3B/dot=./comma=%2C
{;who} ;who=fred
{;half} ;half=50%25
{;empty} ;empty
{;v,empty,who} ;v=6;empty;who=fred
{;v,bar,who} ;v=6;who=fred
{;x,y} ;x=1024;y=768
{;x,y,empty} ;x=1024;y=768;empty
{;x,y,undef} ;x=1024;y=768
{;hello:5} ;hello=Hello
{;list} ;list=red,green,blue
{;list*} ;list=red;list=green;list=blue
{;keys} ;keys=semi,%3B,dot,.,comma,%2C
{;keys*} ;semi=%3B;dot=.;comma=%2C
{?who} ?who=fred
{?half} ?half=50%25
{?x,y} ?x=1024&y=768
{?x,y,empty} ?x=1024&y=768&empty=
{?x,y,undef} ?x=1024&y=768
{?var:3} ?var=val
{?list} ?list=red,green,blue
{?list*} ?list=red&list=green&list=blue
{?keys} ?keys=semi,%3B,dot,.,comma,%2C
{?keys*} ?semi=%3B&dot=.&comma=%2C
{&who} &who=fred
{&half} &half=50%25
?fixed=yes{&x} ?fixed=yes&x=1024
{&x,y,empty} &x=1024&y=768&empty=
{&x,y,undef} &x=1024&y=768
{&var:3} &var=val
{&list} &list=red,green,blue
{&list*} &list=red&list=green&list=blue
{&keys} &keys=semi,%3B,dot,.,comma,%2C
{&keys*} &semi=%3B&dot=.&comma=%2C
find{?year*} find?year=1965&year=2000&year=2012
{semi:2} %3B
`
	for row := range strings.Lines(strings.TrimSpace(rows)) {
		source, want, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		template, err := parseTemplate(source)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, ok := template.expand(lookup); got != want || !ok {
			t.Errorf("%s expands to %q, %v, want %q", source, got, ok, want)
		}
		if got := template.String(); got != source {
			t.Errorf("String of %q: %q", source, got)
		}
	}
}

func TestExpandText(t *testing.T) {
	for _, tt := range []struct{ template, value, want string }{
		{"{x}", "ä/€", "%C3%A4%2F%E2%82%AC"},
		{"{x:1}", "äb", "%C3%A4"},
		{"{+x}", "%41%zz", "%41%25zz"},
		{"{x}", "%41", "%2541"},
		{"{x}", "\xff\r\n", "%FF%0D%0A"},
		{"ä%41{x}", "", "%C3%A4%41"},
		{"Products('{x}')", "a'b", "Products('a%27b')"}, // RFC 6570, erratum 6937: "'" is a literal
	} {
		template, err := parseTemplate(tt.template)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := template.expand(func(string) templateValue { return stringValue(tt.value) }); got != tt.want {
			t.Errorf("%s with %q: %q, want %q", tt.template, tt.value, got, tt.want)
		}
	}
}

func TestTemplateRefused(t *testing.T) {
	for _, tt := range []struct {
		in     string
		offset int
		rule   string
	}{
		{"a{", 1, "expression"},
		{"{}", 1, "varname"},
		{"{+}", 2, "varname"},
		{"a}", 1, "literals"},
		{"a b", 1, "literals"},
		{`a"`, 1, "literals"},
		{"a<", 1, "literals"},
		{"a>", 1, "literals"},
		{`a\b`, 1, "literals"},
		{"a^", 1, "literals"},
		{"a`", 1, "literals"},
		{"a|", 1, "literals"},
		{"a\x7f", 1, "literals"},
		{"%4", 0, "literals"},
		{"\xff", 0, "literals"},
		{"{=x}", 1, "op-reserve"},
		{"{x,}", 3, "varname"},
		{"{a..b}", 3, "varspec"},
		{"{a.}", 2, "varspec"},
		{"{a-b}", 2, "varspec"},
		{"{a:0}", 3, "max-length"},
		{"{a:01}", 3, "max-length"},
		{"{a:10000}", 3, "max-length"},
		{"{a:}", 2, "varspec"},
		{"{a*:1}", 2, "varspec"},
		{"{a%4}", 2, "varspec"},
		{strings.Repeat("a", maxTemplate+1), maxTemplate, "URI-Template"},
	} {
		_, err := parseTemplate(tt.in)
		var e *Error
		if !errors.As(err, &e) || e.Offset != tt.offset || e.Rule != tt.rule || e.Message == "" {
			t.Errorf("parseTemplate(%.20q): %v, want %s at %d", tt.in, err, tt.rule, tt.offset)
		}
	}
}

// TestExpansionIsBounded checks that a template with many variables and a long value stops
// early.
func TestExpansionIsBounded(t *testing.T) {
	long := stringValue(strings.Repeat("x", 2048))
	template, err := parseTemplate(strings.Repeat("{x,x}", maxTemplate/5))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := template.expand(func(string) templateValue { return long }); ok || got != "" {
		t.Errorf("expanded to %d bytes", len(got))
	}
}

// FuzzTemplate checks that an accepted template prints unchanged and expands to valid URI
// characters.
func FuzzTemplate(f *testing.F) {
	f.Add("https://example.org/{a}{?b*,c:3}", "ä b%41")
	f.Add("{+a}{#b}{.c}{/a*}{;b}{&c}", "")
	f.Fuzz(func(t *testing.T, s, value string) {
		template, err := parseTemplate(s)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(s) || e.Rule == "" {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		got, _ := template.expand(func(label string) templateValue {
			switch len(label) % 4 {
			case 0:
				return listValue(value, "", value)
			case 1:
				return stringValue(value)
			case 2:
				return pairsValue(value, value, "", "")
			}
			return templateValue{}
		})
		for i := range len(got) {
			if c := got[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 || c == '%' && !isEscape(got, i) {
				t.Fatalf("%q with %q expands to %q", s, value, got)
			}
		}
	})
}

// TestTextOfTheRFC runs the examples in the text of the RFC.
func TestTextOfTheRFC(t *testing.T) {
	examples, _ := testrun.Lines(t, "rfc6570-examples.tsv")
	n := 0
	for _, line := range examples {
		in, want, _ := strings.Cut(line, "\t")
		template, err := parseTemplate(in)
		if err != nil {
			continue // prose, not an example
		}
		got, _ := template.expand(lookup)
		if got != want {
			t.Logf("%s: %s, in the text %s", in, got, want)
			continue
		}
		n++
	}
	if n < 100 {
		t.Errorf("only %d examples came out", n)
	}
}

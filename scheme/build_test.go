package scheme

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// partsFrom parses "name=value" pairs separated by spaces.
func partsFrom(text string) []Part {
	var parts []Part
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(field, "=")
		parts = append(parts, Part{Name: name, Value: value})
	}
	return parts
}

// U93-04, U93-13, U93-15, U93-19, U93-20, U93-53: what a builder writes.
func TestBuild(t *testing.T) {
	for _, tt := range []struct {
		d                   uri.Dialect
		scheme, parts, want string
	}{
		{uri.Draft1993, "http", "host=h.example port=80 path=", "http://h.example/"}, // U93-15
		{uri.Draft1993, "http", "host=h.example port=8001 path=a search=b+c fragment=d", "http://h.example:8001/a?b+c#d"},
		{uri.Draft1993, "http", "host=h.example", "http://h.example"},
		{uri.Latest, "https", "host=h.example port=443 path=/ query=x", "https://h.example/?x"},
		{uri.Draft1993, "ftp", "host=h.example path=a%20b", "ftp://h.example/a%20b"}, // U93-04
		{uri.Draft1993, "ftp", "user=joe host=h.example path=f", "ftp://joe@h.example/f"},
		{uri.Draft1993, "ftp", "user=joe password=pw host=h.example path=f", "ftp://joe:pw@h.example/f"},
		{uri.Latest, "ftp", "host=h.example cwd=a cwd=b name=c type=i", "ftp://h.example/a/b/c;type=i"},
		{uri.Draft1993, "prospero", "host=h.example hsoname=obj attribute=alpha", "prospero://h.example/obj%00%00alpha"}, // U93-53
		{uri.Draft1993, "prospero", "host=h.example hsoname=obj version=2 attribute=a attribute=b", "prospero://h.example/obj%002%00a%00b"},
		{uri.Latest, "prospero", "host=h.example hsoname=obj field=a=b", "prospero://h.example/obj;a=b"},
		{uri.Draft1993, "wais", "host=h.example database=db search=x", "wais://h.example/db?x"},
		{uri.Draft1993, "wais", "host=h.example database=db type=TEXT length=12 local_id=a/b", "wais://h.example/db/TEXT/12/a/b"},
		{uri.Draft1993, "gopher", "host=h.example", "gopher://h.example"},
		{uri.Draft1993, "gopher", "host=h.example type=7 selector=x search=a+b", "gopher://h.example/7x?a+b"},
		{uri.Latest, "gopher", "host=h.example selector=x search=a gopher+=+", "gopher://h.example/1x%09a%09+"},
		{uri.Draft1993, "news", "group=comp.text", "news:comp.text"},
		{uri.Draft1993, "news", "message_id=a@h.example", "news:a@h.example"},
		{uri.Draft1993, "news", "kind=all", "news:*"},
		{uri.Latest, "news", "host=h.example port=119 group=a.b", "news://h.example/a.b"},
		{uri.Draft1993, "telnet", "user=guest host=h.example port=23", "telnet://guest@h.example"},
		{uri.Draft1993, "whois", "host=h.example handle_or_query=a%20b", "whois://h.example/a%20b"},
		{uri.Draft1993, "afs", "cell=c.example path=a/b", "afs://c.example/a/b"},
	} {
		s, _ := standard().Lookup(tt.scheme)
		u, err := s.Build(tt.d, partsFrom(tt.parts))
		if err != nil || u.String() != tt.want || u.Dialect() != tt.d {
			t.Errorf("Build(%s, %s: %s) = %q, %v; want %q", tt.d, tt.scheme, tt.parts, u, err, tt.want)
		}
	}
}

// A value that contains a delimiter must not be parsed as other parts.
func TestBuildRefuses(t *testing.T) {
	for _, tt := range []struct {
		d             uri.Dialect
		scheme, parts string
	}{
		{uri.Latest, "http", "host=h.example/evil path=/x"},
		{uri.Latest, "http", "host=a@evil.example path=/x"},
		{uri.Latest, "http", "host=h.example:81 path=/x"},
		{uri.Latest, "http", "host=h.example path=/x?y"},
		{uri.Latest, "http", "host=h.example path=/x#y"},
		{uri.Latest, "http", "host=h.example path=x"},
		{uri.Latest, "http", "path=/x"},
		{uri.Latest, "ftp", "host=h.example cwd=a/b name=c"},
		{uri.Latest, "ftp", "host=h.example name=c;type=a"},
		{uri.Latest, "ftp", "host=h.example name=c%0D"},
		{uri.Draft1993, "ftp", "host=h.example"},
		{uri.Draft1993, "wais", "host=h.example database=a/b"},
		{uri.Draft1993, "wais", "host=h.example database=a type=T length=x local_id=y"},
		{uri.Draft1993, "prospero", "host=h.example hsoname=a%002"},
		{uri.Draft1993, "prospero", "host=h.example hsoname=a version=%00x"},
		{uri.Draft1993, "gopher", "host=h.example type=0a selector=b"},
		{uri.Latest, "gopher", "host=h.example type=0 selector=a%09b"},
		{uri.Draft1993, "telnet", "host=h.example/x"},
		{uri.Draft1993, "afs", "path=x"},
		{uri.Draft1993, "http", "host=h.example path=~x"},
	} {
		s, _ := standard().Lookup(tt.scheme)
		if u, err := s.Build(tt.d, partsFrom(tt.parts)); err == nil {
			t.Errorf("Build(%s, %s: %s) = %q; want an error", tt.d, tt.scheme, tt.parts, u)
		}
	}
	x, _ := standard().Lookup("x500")
	if _, err := x.Build(uri.Latest, nil); !errors.Is(err, ErrNoBuilder) {
		t.Errorf("x500: got %v, want ErrNoBuilder", err)
	}
	if _, err := http.Build(uri.Latest, nil); !errors.Is(err, ErrPart) {
		t.Errorf("http without a host: got %v, want ErrPart", err)
	}
}

// A compact encoding of binary data, in characters that are allowed everywhere.
func TestBinary(t *testing.T) {
	for n := range 40 {
		data := bytes.Repeat([]byte{0xFB, 0xFF, 0x00, byte(n)}, n)[:n]
		text := EncodeBinary(data)
		if len(text) > (4*len(data)+2)/3 {
			t.Errorf("U93-39: EncodeBinary of %d octets: %d characters", len(data), len(text))
		}
		back, err := DecodeBinary(text)
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("U93-39: DecodeBinary(%q) = %x, %v; want %x", text, back, err, data)
		}
		for d := uri.Draft1993; d.IsValid(); d++ {
			if _, err := d.Parse("x-bin:" + text); err != nil {
				t.Errorf("%s: %v", d, err)
			}
		}
	}
	for _, bad := range []string{"a", "a=", "YW==", "Y+", "YQ\n", "YR"} {
		if data, err := DecodeBinary(bad); err == nil {
			t.Errorf("U93-39: DecodeBinary(%q) = %x; want an error", bad, data)
		}
	}
}

// Inside an article the bare name of a group or an identifier is a partial
// form.
func TestNewsPartialForms(t *testing.T) {
	base := old(t, "news:123@h.example")
	for ref, want := range map[string]string{
		"comp.lang.misc": "group comp.lang.misc", "456@x.example": "article 456@x.example", "*": "all ",
	} {
		r, err := uri.Draft1993.ParseReference(ref)
		if err != nil {
			t.Fatal(err)
		}
		u, err := base.Resolve(r)
		if err != nil {
			t.Fatal(err)
		}
		parts := standard().Parts(u)
		kind, _ := Get(parts, "kind")
		group, _ := Get(parts, "group")
		id, _ := Get(parts, "message_id")
		if got := kind + " " + group + id; got != want || HasError(standard().Check(u)) {
			t.Errorf("U93-50: %q in %q is %q: %s, want %s", ref, base, u, got, want)
		}
	}
}

// Names and locators can be told apart, and both are URIs.
func TestKindOf(t *testing.T) {
	for in, want := range map[string]Kind{
		"urn:isbn:9789510184356": KindName, "URN:x-y:z": KindName, "http://h.example/": KindLocator, "gopher://h.example": KindLocator,
		"x-none:x": KindUnstated,
	} {
		for _, d := range []uri.Dialect{uri.Draft1993, uri.Latest} {
			u, err := d.Parse(in)
			if err != nil {
				t.Fatal(err)
			}
			if got := standard().KindOf(u); got != want {
				t.Errorf("U93-71: KindOf(%q) = %v, want %v", in, got, want)
			}
		}
	}
	if got := standard().KindOf(uri.URI{}); got != KindUnstated {
		t.Errorf("KindOf of the zero URI: %v", got)
	}
}

func TestNamesOfValues(t *testing.T) {
	for s := range statuses {
		if got, ok := ParseStatus(s.String()); !ok || got != s {
			t.Errorf("ParseStatus(%s) = %v, %v", s, got, ok)
		}
	}
	if _, ok := ParseStatus("gone"); ok || Status(99).String() != "unknown" || Kind(99).String() != "unknown" {
		t.Error("a status or a kind that there is not")
	}
	var names []string
	for k := range kinds {
		names = append(names, k.String())
	}
	if got, want := strings.Join(names, " "), "unstated locator name other"; got != want {
		t.Errorf("kinds: %s, want %s", got, want)
	}
}

func TestPart(t *testing.T) {
	raw, data := Part{Value: "a%E9"}, Part{Value: "a%E9", Escaped: true}
	if raw.Data() != "a%E9" || data.Data() != "a\xe9" || (Part{Value: "%", Escaped: true}).Data() != "%" {
		t.Errorf("Data: %q, %q", raw.Data(), data.Data())
	}
	if text, ok := data.Text(uri.Draft1993); !ok || text != "a\u00e9" {
		t.Errorf("Text in 1993: %q, %v", text, ok)
	}
	if _, ok := data.Text(uri.Latest); ok {
		t.Error("Text: octets that are not UTF-8 are text")
	}
	if text, ok := raw.Text(uri.Draft1993); !ok || text != "a%E9" {
		t.Errorf("Text of a raw part: %q, %v", text, ok)
	}
	parts := partsFrom("a=1 b= a=2")
	if v, ok := Get(parts, "b"); v != "" || !ok {
		t.Errorf("Get(b) = %q, %v; want empty and defined", v, ok)
	}
	if _, ok := Get(parts, "c"); ok || !slices.Equal(GetAll(parts, "a"), []string{"1", "2"}) {
		t.Errorf("GetAll(a) = %q", GetAll(parts, "a"))
	}
}

// A name that the URI chooses does not stand for a component.
func TestGroups(t *testing.T) {
	parts := []Part{{Name: "user", Value: "phone", Group: "parameter"}, {Name: "x_y", Value: "1", Group: "header"}}
	if v, ok := Get(parts, "user"); ok {
		t.Errorf("Get(user) = %q; want undefined", v)
	}
	for label, want := range map[string]string{"parameter_user": "phone", "header_x_y": "1"} {
		if got, ok := Get(parts, label); !ok || got != want {
			t.Errorf("Get(%s) = %q, %v; want %q", label, got, ok, want)
		}
	}
	if got, want := parts[1].Label(), "header_x_y"; got != want {
		t.Errorf("Label() = %q, want %q", got, want)
	}
	if _, ok := Get(parts, "x_y"); ok {
		t.Error("Get(x_y): defined, want undefined")
	}
}

func TestFinding(t *testing.T) {
	f := layout.Broken(3, 4, "doc, 1: rule", "wrong")
	if got, want := f.Error(), "offset 3: doc, 1: rule: wrong"; got != want {
		t.Errorf("Error() = %s, want %s", got, want)
	}
	if err := FirstError([]Finding{layout.Remark(CodeForm, 0, 0, "r", "m")}); err != nil {
		t.Errorf("FirstError of a remark: %v", err)
	}
}

func old(t *testing.T, s string) uri.URI {
	t.Helper()
	u, err := uri.Draft1993.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

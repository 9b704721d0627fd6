package uri_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/uri"
)

func TestParams(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		change   func(uri.Params) uri.Params
		want     string
	}{
		{"nothing", "x:?b=%7e&a=+&&A", func(p uri.Params) uri.Params { return p }, "x:?b=%7e&a=+&&A"},
		{"set", "x:?b=%7e&a=1&c&a=2", func(p uri.Params) uri.Params { return p.Set("a", "x&y z") }, "x:?b=%7e&a=x%26y%20z&c"},
		{"set the same", "x:?a=%7e", func(p uri.Params) uri.Params { return p.Set("a", "~") }, "x:?a=%7e"},
		{"set another", "x:?b=%7e", func(p uri.Params) uri.Params { return p.Set("a", "1") }, "x:?b=%7e&a=1"},
		{"set, no query", "x:#f", func(p uri.Params) uri.Params { return p.Set("a", "1") }, "x:?a=1#f"},
		{"set, empty query", "x:?", func(p uri.Params) uri.Params { return p.Set("a", "") }, "x:?a="},
		{"add", "x:?a=%7e&&", func(p uri.Params) uri.Params { return p.Add("a", "=") }, "x:?a=%7e&&&a=%3D"},
		{"remove", "x:?a&b=%7e&%61=2&&c", func(p uri.Params) uri.Params { return p.Remove("a") }, "x:?b=%7e&&c"},
		{"remove all", "x:?a#f", func(p uri.Params) uri.Params { return p.Remove("a") }, "x:#f"},
		{"remove none", "x:?", func(p uri.Params) uri.Params { return p.Remove("a") }, "x:?"},
		{"remove an empty name", "x:?=1&&a", func(p uri.Params) uri.Params { return p.Remove("") }, "x:?&a"},
		{"sort", "x:?b=2&a=%7e&b=1&%61=0", uri.Params.Sort, "x:?a=%7e&%61=0&b=2&b=1"},
		{"a plus sign", "x:?", func(p uri.Params) uri.Params { return p.Add("a+b", "c d") }, "x:?a%2Bb=c%20d"},
	} {
		u := uri.MustParse(tt.in)
		before := u.Params()
		v, err := u.WithParams(tt.change(before))
		if err != nil || v.String() != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.name, v, err, tt.want)
		}
		if again, _ := u.WithParams(before); again != u {
			t.Errorf("%s: the parameters before have become %s", tt.name, again)
		}
	}
}

func TestFormParams(t *testing.T) {
	p := uri.MustParse("x:?q=a+b%2Bc&q=%20&r").FormParams()
	if got := p.GetAll("q"); !slices.Equal(got, []uri.Data{"a b+c", " "}) {
		t.Errorf("GetAll(q) = %q", got)
	}
	if v, ok := p.Get("r"); v != "" || !ok {
		t.Errorf("Get(r) = %q, %v", v, ok)
	}
	if got, _ := p.Set("r", "d e+f").Query(); got != "q=a+b%2Bc&q=%20&r=d+e%2Bf" {
		t.Errorf("Query() = %q", got)
	}
}

// Get returns any value that was set, and net/url reads the same value.
func TestParamsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := uri.MustParse("http://h/?a=%7e&&b")
		name, value := uri.Data(rapid.String().Draw(t, "name")), uri.Data(rapid.String().Draw(t, "value"))
		v, err := u.WithParams(u.FormParams().Set(name, value))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := v.FormParams().Get(name); got != value || !ok {
			t.Fatalf("%s: Get(%q) = %q, %v, want %q", v, name, got, ok, value)
		}
		query, _ := v.Query()
		values, err := url.ParseQuery(query)
		if err != nil || values.Get(string(name)) != string(value) {
			t.Fatalf("%s: net/url reads %q, %v, want %q", v, values.Get(string(name)), err, value)
		}
	})
}

// A URI that has gone through net/url is equivalent, apart from what URL documents.
func TestURLProperty(t *testing.T) {
	part := func(t *rapid.T, name, pattern string) string { return rapid.StringMatching(pattern).Draw(t, name) }
	rapid.Check(t, func(t *rapid.T) {
		s := part(t, "scheme", `[a-zA-Z][a-z]{0,3}`) + "://" + part(t, "user", `([a-z]{1,3}(:[a-z]{0,2})?@)?`) +
			part(t, "host", `([a-zA-Z.]{0,8}|\[::1\]|1\.2\.3\.4)`) + part(t, "port", `(:[0-9]{0,4})?`) +
			part(t, "path", `(/([-a-zA-Z.~!$&'()*+,;=:@]|%[0-9a-fA-F]{2}){0,6}){0,3}`) +
			part(t, "query", `(\?([a-z/?&=+;:@]|%[0-9a-fA-F]{2}){0,6})?`) + part(t, "fragment", `(#([a-z/?!]|%[0-9a-fA-F]{2}){0,6})?`)
		u, err := uri.Parse(s)
		if err != nil {
			t.Skip()
		}
		std, err := u.URL()
		if err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		back, err := uri.FromURL(std)
		if err != nil {
			t.Fatalf("%s -> %s: %v", u, std, err)
		}
		want := uri.MustParse(strings.TrimSuffix(s, "#"))
		if authority, ok := u.Authority(); ok && authority == "" && u.Path() == "" {
			want, _ = want.Without(uri.ComponentAuthority)
		}
		if !uri.Equivalent(back, want, uri.LevelPercent) {
			t.Fatalf("%s -> %s, not equivalent", u, back)
		}
	})
}

func ExampleURI_Params() {
	u := uri.MustParse("https://example.org/search?q=names&page=2&lang=%65n")
	next, err := u.WithParams(u.Params().Set("page", "3").Remove("q"))
	fmt.Println(next, err)
	// Output: https://example.org/search?page=3&lang=%65n <nil>
}

func ExampleURI_FormParams() {
	for name, value := range uri.MustParse("https://example.org/?q=two+words&n=1").FormParams().All() {
		fmt.Printf("%s: %s\n", name, value)
	}
	// Output:
	// q: two words
	// n: 1
}

func ExampleURI_WithParams() {
	u := uri.MustParse("https://example.org/?b=2&a=1")
	fmt.Println(u.WithParams(u.Params().Sort()))
	// Output: https://example.org/?a=1&b=2 <nil>
}

func ExampleParams_All() {
	for name, value := range uri.MustParse("x:?a=1&a=2").Params().All() {
		fmt.Println(name, value)
	}
	// Output:
	// a 1
	// a 2
}

func ExampleParams_Query() {
	query, ok := uri.MustParse("x:?a=%7e&&").Params().Query()
	fmt.Println(query, ok)
	// Output: a=%7e&& true
}

func ExampleParams_Get() {
	fmt.Println(uri.MustParse("x:?a=%26").Params().Get("a"))
	// Output: & true
}

func ExampleParams_GetAll() {
	fmt.Println(uri.MustParse("x:?a=1&b&a=2").Params().GetAll("a"))
	// Output: [1 2]
}

func ExampleParams_Set() {
	fmt.Println(uri.MustParse("x:?a=1&b=%7e").Params().Set("a", "2 3").Query())
	// Output: a=2%203&b=%7e true
}

func ExampleParams_Add() {
	fmt.Println(uri.MustParse("x:?a=1").Params().Add("a", "2").Query())
	// Output: a=1&a=2 true
}

func ExampleParams_Remove() {
	fmt.Println(uri.MustParse("x:?utm=1&b=%7e").Params().Remove("utm").Query())
	// Output: b=%7e true
}

func ExampleParams_Sort() {
	fmt.Println(uri.MustParse("x:?b&a").Params().Sort().Query())
	// Output: a&b true
}

func ExampleURI_URL() {
	u, err := uri.MustParse("HTTP://example.org/a%2Fb?c").URL()
	fmt.Println(u.Scheme, u.Path, u.RawPath, err)
	// Output: http /a/b /a%2Fb <nil>
}

func ExampleFromURL() {
	u, err := uri.FromURL(&url.URL{Scheme: "https", Host: "example.org", Path: "/a b"})
	fmt.Println(u, err)
	// Output: https://example.org/a%20b <nil>
}

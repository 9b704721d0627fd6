package scheme_test

import (
	"fmt"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

func ExampleCatalogue_Lookup() {
	s, ok := scheme.Standard().Lookup("GOPHER")
	fmt.Println(s.Name, ok, s.Status, s.DefaultPort)
	// Output: gopher true permanent 70
}

func ExampleCatalogue_Known() {
	fmt.Println(scheme.Standard().Known("mailto"), scheme.Standard().Known("std"))
	// Output: true false
}

func ExampleCatalogue_Parts() {
	for _, p := range scheme.Standard().Parts(uri.MustParse("gopher://h.example/00/About%20Gopher")) {
		fmt.Printf("%s %q %q\n", p.Name, p.Value, p.Data())
	}
	// Output:
	// host "h.example" "h.example"
	// type "0" "0"
	// selector "0/About%20Gopher" "0/About Gopher"
}

// The dialect of 1993 gives the same spelling other parts.
func ExampleCatalogue_Parts_in1993() {
	u, _ := uri.Draft1993.Parse("prospero://h.example/obj%00%00alpha")
	for _, p := range scheme.Standard().Parts(u) {
		fmt.Printf("%s %q\n", p.Name, p.Value)
	}
	// Output:
	// host "h.example"
	// hsoname "obj"
	// version ""
	// attribute "alpha"
}

func ExampleCatalogue_Check() {
	for _, f := range scheme.Standard().Check(uri.MustParse("ftp://h.example/a?b")) {
		fmt.Println(f.Severity, f.Offset, f.Rule, f.Right)
	}
	// Output: error 17 RFC 3986, 3.4: query %3Fb
}

func ExampleCatalogue_Canonical() {
	fmt.Println(scheme.Standard().Canonical(uri.MustParse("file://LOCALHOST/c:/x")))
	fmt.Println(scheme.Standard().Canonical(uri.MustParse("gopher://H.example:70/1")))
	// Output:
	// file:///C:/x
	// gopher://h.example/
}

func ExampleCatalogue_Rules() {
	u := uri.MustParse("HTTP://Example.org:80")
	fmt.Println(u.Normalize(uri.LevelScheme, scheme.Standard().Rules()...))
	// Output: http://example.org/
}

func ExampleScheme_Build() {
	s, _ := scheme.Standard().Lookup("prospero")
	u, err := s.Build(uri.Draft1993, []scheme.Part{
		{Name: "host", Value: "h.example"},
		{Name: "port", Value: "1525"},
		{Name: "hsoname", Value: "obj"},
		{Name: "attribute", Value: "alpha"},
	})
	fmt.Println(u, err)
	// Output: prospero://h.example/obj%00%00alpha <nil>
}

func ExampleCatalogue_With() {
	_, err := scheme.Standard().With(scheme.Scheme{Name: "foo"})
	fmt.Println(err)
	c, err := scheme.Standard().With(scheme.Scheme{Name: "x-foo"})
	fmt.Println(c.Known("X-FOO"), err)
	// Output:
	// scheme: "foo": incomplete registration: missing title, reference, retrieval algorithm
	// true <nil>
}

func ExampleEncodeBinary() {
	fmt.Println(scheme.EncodeBinary([]byte{0xFB, 0xFF, 0x00}))
	// Output: -_8A
}

func ExampleCatalogue_KindOf() {
	fmt.Println(scheme.Standard().KindOf(uri.MustParse("urn:isbn:9789510184356")), scheme.Standard().KindOf(uri.MustParse("http://example.org/")))
	// Output: name locator
}

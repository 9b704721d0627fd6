package scheme_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

func ExampleLookup() {
	s, ok := scheme.Lookup("GOPHER")
	fmt.Println(s.Name, ok, s.Status, s.DefaultPort)
	// Output: gopher true permanent 70
}

func ExampleKnown() {
	fmt.Println(scheme.Known("mailto"), scheme.Known("std"))
	// Output: true false
}

func ExampleParts() {
	for _, p := range scheme.Parts(uri.MustParse("gopher://h.example/00/About%20Gopher")) {
		fmt.Printf("%s %q %q\n", p.Name, p.Value, p.Data())
	}
	// Output:
	// host "h.example" "h.example"
	// type "0" "0"
	// selector "0/About%20Gopher" "0/About Gopher"
}

// The dialect of 1993 gives the same spelling other parts.
func ExampleParts_in1993() {
	u, _ := uri.Draft1993.Parse("prospero://h.example/obj%00%00alpha")
	for _, p := range scheme.Parts(u) {
		fmt.Printf("%s %q\n", p.Name, p.Value)
	}
	// Output:
	// host "h.example"
	// hsoname "obj"
	// version ""
	// attribute "alpha"
}

func ExampleCheck() {
	for _, f := range scheme.Check(uri.MustParse("ftp://h.example/a?b")) {
		fmt.Println(f.Severity, f.Offset, f.Rule, f.Right)
	}
	// Output: error 17 RFC 3986, 3.4: query %3Fb
}

func ExampleCanonical() {
	fmt.Println(scheme.Canonical(uri.MustParse("file://LOCALHOST/c:/x")))
	fmt.Println(scheme.Canonical(uri.MustParse("gopher://H.example:70/1")))
	// Output:
	// file:///C:/x
	// gopher://h.example/
}

func ExampleRules() {
	u := uri.MustParse("HTTP://Example.org:80")
	fmt.Println(u.Normalize(uri.LevelScheme, scheme.Rules()...))
	// Output: http://example.org/
}

func ExampleScheme_Build() {
	s, _ := scheme.Lookup("prospero")
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

func ExampleScheme_Request() {
	s, _ := scheme.Lookup("ftp")
	r, err := s.Request(uri.MustParse("ftp://h.example/pub/read.me;type=a"), scheme.Client{Mail: "joe@example.org"})
	fmt.Println(r.Network, r.Host, r.Port, err)
	fmt.Println(strings.Join(r.Commands, "\n"))
	// Output:
	// tcp h.example 21 <nil>
	// USER anonymous
	// PASS joe@example.org
	// TYPE A
	// CWD pub
	// RETR read.me
}

// A client that supports ftp, and a directory that leads to a file on an FTP
// server.
func ExampleRetriever_Follow() {
	r := scheme.Retriever{Steps: map[string]scheme.Step{
		"prospero": func(_ context.Context, r scheme.Request) (scheme.Outcome, error) {
			file, err := scheme.AccessMethod{Method: "AFTP", Host: "mirror.example", Name: r.Object}.Locator(uri.Latest)
			return scheme.Outcome{Locators: []uri.URI{file}}, err
		},
		"ftp": func(_ context.Context, r scheme.Request) (scheme.Outcome, error) {
			return scheme.Outcome{Resource: &scheme.Resource{Body: io.NopCloser(strings.NewReader("hello"))}}, nil
		},
	}}
	got, err := r.Follow(context.Background(), uri.MustParse("prospero://h.example/doc.txt"))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := io.ReadAll(got.Body)
	fmt.Println(got.URI, string(text))
	// Output: ftp://mirror.example/doc.txt hello
}

func ExampleGateways_Locator() {
	g, err := scheme.Gateways{}.With("wais", "http://gw.example/wais?{uri}")
	if err != nil {
		fmt.Println(err)
		return
	}
	u, ok, err := g.Locator(uri.MustParse("wais://h.example/db?cats"))
	fmt.Println(u, ok, err)
	// Output: http://gw.example/wais?wais%3A%2F%2Fh.example%2Fdb%3Fcats true <nil>
}

func ExampleSession_Command() {
	s := scheme.SessionOf(uri.MustParse("telnet://guest@library.example:2323/"))
	program, args, err := s.Command(scheme.UsualLaunchers())
	fmt.Println(program, args, err)
	// Output: telnet [-l guest library.example 2323] <nil>
}

func ExampleGopherItem_Locator() {
	item, err := scheme.ParseGopherItem("8Library catalogue\tguest\tlibrary.example\t23\r\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(item.Locator())
	// Output: telnet://guest@library.example <nil>
}

func ExampleObject_Resolve() {
	o, err := scheme.Object{Fetched: uri.MustParse("ftp://mirror/x/doc")}.WithOfficial(uri.MustParse("http://a/b/doc"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.Resolve("g"))
	// Output: http://a/b/g <nil>
}

func ExampleLocalNames_Path() {
	fmt.Println(scheme.VMSNames().Path(uri.Draft1993, "[A.B]C.TXT"))
	// Output: A/B/C.TXT <nil>
}

func ExampleEncodeBinary() {
	fmt.Println(scheme.EncodeBinary([]byte{0xFB, 0xFF, 0x00}))
	// Output: -_8A
}

func ExampleKindOf() {
	fmt.Println(scheme.KindOf(uri.MustParse("urn:isbn:9789510184356")), scheme.KindOf(uri.MustParse("http://example.org/")))
	// Output: name locator
}

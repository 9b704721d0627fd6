package extract_test

import (
	"fmt"
	"net/mail"

	"github.com/nomen-project/nomen/extract"
	"github.com/nomen-project/nomen/uri"
)

func ExampleEstablish() {
	embedded, err := uri.ParseReference("c/d")
	if err != nil {
		fmt.Println(err)
		return
	}
	part := mail.Header{"Content-Location": {"a/b"}}
	base := extract.Establish(
		extract.EmbeddedBase(embedded),
		extract.EntityBase(uri.Latest, part),
		extract.RetrievalBase(uri.MustParse("http://old.example/"), uri.MustParse("http://a.example/")),
		extract.DefaultBase(uri.MustParse("http://default.example/")),
	)
	fmt.Println(base.URI, base.Rule)
	// Output: http://a.example/a/c/d content
}

func ExampleEntityBase() {
	h := mail.Header{"Content-Base": {"http://a.example/\r\n x"}, "Content-Location": {"y"}}
	base := extract.Establish(extract.EntityBase(uri.Draft1997, h))
	fmt.Println(base.URI, base.Rule)
	// Output: http://a.example/x content-base
}

func ExampleEncapsulating() {
	message := mail.Header{"Content-Location": {"http://a.example/x"}}
	base := extract.Establish(
		extract.EntityBase(uri.Latest, mail.Header{}),
		extract.Encapsulating(extract.EntityBase(uri.Latest, message)),
	)
	fmt.Println(base.URI, base.Rule)
	// Output: http://a.example/x entity
}

func ExampleRetrievalBase() {
	redirects := []uri.URI{uri.MustParse("http://a.example/old"), uri.MustParse("http://b.example/new#part")}
	fmt.Println(extract.Establish(extract.RetrievalBase(redirects...)).URI)
	// Output: http://b.example/new
}

func ExampleDefaultBase() {
	fmt.Println(extract.Establish(extract.RetrievalBase(), extract.DefaultBase(uri.MustParse("thismessage:/"))).URI)
	// Output: thismessage:/
}

func ExampleEmbeddedBase() {
	fmt.Println(extract.Establish(extract.EmbeddedBase(uri.MustParse("http://a.example/x"))).Rule)
	// Output: content
}

// The official name of a document takes precedence over the URI from which it
// was fetched.
func ExampleOfficialName() {
	base := extract.Establish(
		extract.OfficialName(uri.MustParse("http://a.example/b/doc")),
		extract.RetrievalBase(uri.MustParse("ftp://mirror.example/x/doc")),
	)
	fmt.Println(base.URI, base.Rule)
	// Output: http://a.example/b/doc official-name
}

package iri_test

import (
	"fmt"

	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

func Example() {
	i, err := iri.Parse("http://résumé.example.org/ü")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(i.URI())
	fmt.Println(i.ASCIIURI())
	// Output:
	// http://r%C3%A9sum%C3%A9.example.org/%C3%BC
	// http://xn--rsum-bpad.example.org/%C3%BC <nil>
}

func ExampleParse() {
	_, err := iri.Parse("http://example.org/é b")
	fmt.Println(err)
	// Output: iri: "http://example.org/é b": offset 21: ipchar: unexpected ' '
}

func ExampleFromURI() {
	fmt.Println(iri.FromURI(uri.MustParse("http://www.example.org/D%C3%BCrst")))
	fmt.Println(iri.FromURI(uri.MustParse("http://www.example.org/D%FCrst")))
	// Output:
	// http://www.example.org/Dürst
	// http://www.example.org/D%FCrst
}

func ExampleIRI_Resolve() {
	ref, err := iri.ParseReference("../ä")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(iri.MustParse("http://é/ß/c").Resolve(ref))
	// Output: http://é/ä <nil>
}

func ExampleIRI_UnicodeHost() {
	fmt.Println(iri.MustParse("http://xn--99zt52a.example.org/").UnicodeHost())
	// Output: 納豆.example.org true
}

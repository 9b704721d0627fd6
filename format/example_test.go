package format_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
)

func ExampleNegotiate() {
	offers := format.Formats()
	for _, accept := range []string{"", "text/html, */*;q=0.1", "application/json", "image/png", "*/*;q=0"} {
		f, ok := format.Negotiate(accept, offers, offers[0])
		fmt.Printf("%q: %s %t\n", accept, f.MediaType, ok)
	}
	// Output:
	// "": text/urc-0 true
	// "text/html, */*;q=0.1": text/html true
	// "application/json": application/json true
	// "image/png": text/urc-0 true
	// "*/*;q=0":  false
}

func ExampleWriteURC() {
	var b strings.Builder
	err := format.WriteURC(&b, &nomen.Answer{
		Service: nomen.I2C,
		Name:    name.MustParse("urn:ietf:rfc:2648"),
		Status:  nomen.Active,
		Locations: []nomen.Location{
			{URL: "https://www.rfc-editor.org/rfc/rfc2648.txt", Lang: "en", Note: "the text"},
			{URL: "https://www.rfc-editor.org/rfc/rfc2648.html"},
		},
		Metadata: nomen.Metadata{"title": {"A URN Namespace for IETF Documents"}},
	})
	fmt.Println(strings.ReplaceAll(b.String(), "\r\n", "\n"), err)
	// Output:
	// =====;language=en
	// https://www.rfc-editor.org/rfc/rfc2648.txt
	// the text
	//
	// name: urn:ietf:rfc:2648
	// status: active
	// title: A URN Namespace for IETF Documents
	// =====
	// https://www.rfc-editor.org/rfc/rfc2648.html
	//  <nil>
}

func ExampleReadParts() {
	parts, err := format.ReadParts(strings.NewReader("===== ISO-8859-1 fr\n<URL:https://example.org/\nlong>\nNum\xe9ro 1\n"))
	for _, p := range parts {
		fmt.Println(p.Charset, p.Language, p.URL, p.Meta)
	}
	fmt.Println(err)
	// Output:
	// ISO-8859-1 fr https://example.org/long Numéro 1
	// <nil>
}

func ExampleWriteList() {
	err := format.WriteList(os.Stdout, format.Each())
	fmt.Println(err)
	// Output: <nil>
}

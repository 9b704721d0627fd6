package extract_test

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/extract"
)

func ExampleText() {
	text := strings.NewReader(`It is in <https://www.rfc-editor.org/rfc/
   rfc3986.txt>, that is urn:ietf:rfc:3986 (not std::string).`)
	for f, err := range extract.Text(text, extract.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(f.Kind, f.Start, f.End, f.Spelling)
	}
	// Output:
	// uri 10 56 https://www.rfc-editor.org/rfc/rfc3986.txt
	// urn 67 84 urn:ietf:rfc:3986
}

func ExampleBytes() {
	text := []byte("Ask jim@example.org about www.example.com/a, or http://größe.example/.")
	for f := range extract.Bytes(text, extract.Options{Abbreviated: true, Mail: true, IRI: true}) {
		fmt.Println(f.Kind, f.Text, f.Target)
	}
	// Output:
	// mail jim@example.org mailto:jim@example.org
	// abbreviated www.example.com/a http://www.example.com/a
	// iri http://größe.example/ http://xn--gre-6ka8i.example/
}

func ExampleSniff() {
	doc := "<!DOCTYPE html><base href='https://a.example/b/'><a href='../c'>c</a>"
	for f, err := range extract.Sniff([]byte(doc)).Find(strings.NewReader(doc), extract.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(f.Where, f.Text, f.Target)
	}
	// Output:
	// base href https://a.example/b/ https://a.example/b/
	// a href ../c https://a.example/c
}

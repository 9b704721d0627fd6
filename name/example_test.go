package name_test

import (
	"errors"
	"fmt"

	"github.com/nomen-project/nomen/name"
)

// Spellings of one name have one key.
func ExampleParse() {
	for _, s := range []string{"URN:ISBN:0-395-36341-1", "urn:isbn:9780395363416", "ark:/12345/x5", "urn:isbn"} {
		n, err := name.Parse(s)
		var bad *name.Error
		if errors.As(err, &bad) {
			fmt.Println(s, "is invalid: offset", bad.Offset)
			continue
		}
		fmt.Println(s, "is", n)
	}
	// Output:
	// URN:ISBN:0-395-36341-1 is urn:isbn:9780395363416
	// urn:isbn:9780395363416 is urn:isbn:9780395363416
	// ark:/12345/x5 is ark:12345/x5
	// urn:isbn is invalid: offset 8
}

// A prefix ends where its namespace allows a name to be divided.
func ExamplePrefix_Covers() {
	p := name.MustParsePrefix("URN:NBN:fi")
	for _, s := range []string{"urn:nbn:fi-fe2026", "urn:nbn:fi:bib-1", "urn:nbn:fit-1"} {
		fmt.Println(s, p.Covers(name.MustParse(s)))
	}
	// Output:
	// urn:nbn:fi-fe2026 true
	// urn:nbn:fi:bib-1 true
	// urn:nbn:fit-1 false
}

package uri_test

import (
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

// A parameter called "user" is not the user.
func ExamplePart_Label() {
	for _, p := range []uri.Part{{Name: "user", Value: "alice"}, {Name: "user", Value: "phone", Group: "parameter"}} {
		fmt.Println(p.Label(), p.Value)
	}
	// Output:
	// user alice
	// parameter_user phone
}

func ExamplePart_HasLabel() {
	p := uri.Part{Name: "subject", Value: "a", Group: "header"}
	fmt.Println(p.HasLabel("header_subject"), p.HasLabel("subject"))
	// Output: true false
}

func ExamplePart_Data() {
	p := uri.Part{Name: "selector", Value: "0/About%20Gopher", Escaped: true}
	fmt.Println(p.Data())
	// Output: 0/About Gopher
}

// In 1993 octets stand for characters of ISO Latin-1.
func ExamplePart_Text() {
	p := uri.Part{Name: "name", Value: "caf%E9", Escaped: true}
	fmt.Println(p.Text(uri.Draft1993))
	_, ok := p.Text(uri.RFC3986)
	fmt.Println(ok)
	// Output:
	// café true
	// false
}

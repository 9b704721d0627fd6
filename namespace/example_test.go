package namespace_test

import (
	"fmt"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

func ExampleLookup() {
	n, ok := namespace.Lookup("ISBN")
	fmt.Println(ok, n.NID, n.Kind, n.Name)
	// Output: true isbn formal International Standard Book Number
}

func ExampleAll() {
	for n := range namespace.All() {
		if n.Kind == urn.KindUnregistered {
			fmt.Print(n.NID, " ")
		}
	}
	// Output: aich bitprint btih cts dns ed2k iec ismn md5 nir sha1 sha256 tree
}

func ExampleCheck() {
	for _, f := range namespace.Check(urn.MustParse("urn:isbn:978-951-0-18435-7")) {
		fmt.Println(f.Severity, f.Offset, f.Rule, f.Message)
	}
	// Output: error 25 ISBN-13 check digit (modulo 10) is 7, should be 6
}

func ExampleCanonical() {
	fmt.Println(namespace.Canonical(urn.MustParse("URN:ISBN:951-0-18435-7")))
	// Output: urn:isbn:9789510184356
}

func ExampleEquivalent() {
	a, b := urn.MustParse("urn:doi:10.1000/ABC"), urn.MustParse("urn:doi:10.1000%2Fabc")
	fmt.Println(namespace.Equivalent(a, b))
	// Output: true
}

func ExampleSuggest() {
	for _, s := range namespace.Suggest("https://example.org/urn:isbn:978-951-0-14835-6") {
		fmt.Println(s.Name, s.Why)
	}
	// Output:
	// urn:isbn:978-951-0-14835-8 a URL that contains the name; ISBN-13 check digit (modulo 10): is 6, should be 8
	// urn:isbn:978-591-0-14835-6 a URL that contains the name; "9" and "5" were swapped
	// urn:isbn:978-951-0-18435-6 a URL that contains the name; "4" and "8" were swapped
	// urn:isbn:978-951-0-14836-5 a URL that contains the name; "5" and "6" were swapped
}

func ExampleStandard() {
	fmt.Println(len(namespace.Standard().Suggest("1234-1231")))
	// Output: 1
}

func ExampleFold() {
	compare := urn.Comparer{Purpose: urn.PurposeCache, Fold: namespace.Fold}
	fmt.Println(compare.Equivalent(urn.MustParse("urn:issn:12341231"), urn.MustParse("urn:issn:1234-1231")))
	// Output: true
}

func ExampleCatalogue_Registry() {
	r, err := namespace.Standard().Registry()
	n, _ := r.Lookup("dns")
	fmt.Println(err, n.Kind, n.DefaultService)
	// Output: <nil> unregistered I2C
}

func ExampleCatalogue_With() {
	_, err := namespace.Standard().With(namespace.Namespace{NID: "foo", Name: "Foo", Kind: urn.KindFormal, Reference: "RFC 0"})
	fmt.Println(err)
	// Output: namespace: "foo": incomplete registration: no security considerations
}

func ExampleNamespace_Parts() {
	n, _ := namespace.Lookup("epc")
	for _, p := range n.Parts("id:sgtin:0614141.107346.2018") {
		fmt.Print(p.Name, "=", p.Value, " ")
	}
	// Output: kind=id scheme=sgtin company=0614141 reference=107346 gtin=10614141073464 serial=2018
}

func ExampleNamespace_Display() {
	n, _ := namespace.Lookup("isbn")
	fmt.Println(n.Display("9789510184356"))
	// Output: 978-951-0-18435-6
}

func ExampleNamespace_Join() {
	n, _ := namespace.Lookup("fdc")
	fmt.Println(n.Join(':', "example.com", "2026", "a:b c"))
	// Output: example.com:2026:a%3Ab%20c
}

func ExampleNamespace_Record() {
	n, _ := namespace.Lookup("doi")
	r := n.Record()
	fmt.Println(r.Registered, r.Special, r.DefaultService)
	// Output: 2023-03-14 / I2L
}

func ExampleNamespace_Lint() {
	n, _ := namespace.Lookup("uuid")
	for _, f := range n.Lint("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6") {
		fmt.Println(f.Severity, f.Message, f.Right)
	}
	// Output: info hex digits are written in lower case f81d4fae-7dec-11d0-a765-00a0c91e6bf6
}

func ExampleNamespace_Check() {
	n, _ := namespace.Lookup("lei")
	fmt.Println(n.Check("7LTWFZYICNSX8D621K87"))
	// Output: offset 18: LEI check digits (ISO/IEC 7064, MOD 97-10): is 87, should be 86
}

func ExampleNamespace_Canonical() {
	n, _ := namespace.Lookup("issn")
	fmt.Println(n.Canonical("1050124x"))
	// Output: 1050-124X
}

func ExampleNamespace_Missing() {
	fmt.Println(namespace.Namespace{NID: "foo", Reference: "RFC 0"}.Missing())
	// Output: [name security considerations]
}

func ExampleLuhn() {
	fmt.Printf("%c\n", namespace.Luhn([]byte("90420156025763")))
	// Output: 7
}

func ExampleMod97() {
	fmt.Println(namespace.Mod97([]byte("7LTWFZYICNSX8D621K86"))) // of a valid LEI
	// Output: 1
}

func ExampleDelimiters() {
	fmt.Printf("%q %q %q\n", namespace.Delimiters("nbn"), namespace.Delimiters("doi"), namespace.Delimiters("isbn"))
	// Output: "-:" "/" ""
}

func ExampleFoldPrefix() {
	fmt.Println(namespace.FoldPrefix("nbn", "DE:Kobv:11"))
	// Output: de:kobv:11
}

func ExampleCatalogue_Check() {
	local, err := namespace.Standard().With(namespace.Namespace{
		NID: "shelf", Name: "Our shelves", Kind: urn.KindUnregistered, Reference: "our own rules", Security: "none",
		Rules: namespace.Rules{Check: func(nss string) *namespace.Finding {
			if nss[0] == 'A' {
				return nil
			}
			return &namespace.Finding{Code: namespace.CodeRule, End: 1, Rule: "shelf", Message: "shelves begin with A", Right: "A"}
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(local.Check(urn.MustParse("urn:shelf:B7"))[0].Message)
	fmt.Println(local.Suggest("urn:shelf:B7"))
	// Output:
	// shelves begin with A
	// [{urn:shelf:A7 shelf: "A" for "B"}]
}

package urn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

func Example() {
	u, err := urn.Parse("urn:example:weather?+r?=op=map#today")
	if err != nil {
		fmt.Println(err)
		return
	}
	q, _ := u.QComponent()
	fmt.Println(u.NID(), u.NSS(), q)
	_, err = urn.Parse("urn:example:a%zz")
	fmt.Println(err)
	// Output:
	// example weather op=map
	// urn: "urn:example:a%zz": offset 13: pct-encoded: "%" must be followed by two hex digits
}

func ExampleParse() {
	u, err := urn.Parse("urn:example:a?+r?+s")
	r, ok := u.RComponent()
	fmt.Println(r, ok, err)
	// Output:
	// r?+s true <nil>
}

func ExampleMustParse() {
	fmt.Println(urn.MustParse("urn:isbn:0395363411").NSS())
	// Output:
	// 0395363411
}

func ExampleParseAssigned() {
	_, err := urn.ParseAssigned("urn:example:a#f")
	fmt.Println(err)
	// Output:
	// urn: "urn:example:a#f": offset 13: assigned-name: an assigned name cannot contain "#"
}

func ExampleParseDialect() {
	d, ok := urn.ParseDialect("2012")
	fmt.Println(d == urn.Draft2012, ok)
	// Output:
	// true true
}

func ExampleParseName() {
	n, err := urn.ParseName("URN:Example:a%2fb")
	fmt.Println(n, err)
	// Output:
	// urn:example:a%2Fb <nil>
}

func ExampleEquivalent() {
	a, b := urn.MustParse("URN:EXAMPLE:a123%2cz456"), urn.MustParse("urn:example:a123%2Cz456?=xyz")
	fmt.Println(urn.Equivalent(a, b))
	// Output:
	// true
}

func ExampleCompare() {
	names := []urn.URN{urn.MustParse("urn:example:b"), urn.MustParse("URN:EXAMPLE:a")}
	slices.SortFunc(names, urn.Compare)
	fmt.Println(names)
	// Output:
	// [URN:EXAMPLE:a urn:example:b]
}

func ExampleIANANamespaces() {
	n, ok := urn.IANANamespaces().Lookup("ISBN")
	fmt.Println(n.NID, n.Kind, n.Template, ok)
	// Output:
	// isbn formal https://www.iana.org/assignments/urn-formal/isbn true
}

func ExampleSchemeIDs1995() {
	for s := range urn.SchemeIDs1995().All() {
		fmt.Println(s.ID, s.Reference)
	}
	// Output:
	// dns RFC 952 and RFC 1123
}

func ExampleKeywords2012() {
	for k := range urn.Keywords2012().All() {
		fmt.Println(k.Keyword, k.Purpose)
	}
	// Output:
	// c component of structured resource
	// s intended URN resolution service
}

func ExampleServices2012() {
	s, _ := urn.Services2012().Lookup("I=I")
	fmt.Println(s.Purpose, s.Status, s.Reference)
	// Output:
	// URI equal to URI? provisional RFC 2483, sec. 4.9
}

func ExampleKindOf() {
	fmt.Println(urn.KindOf("urn-7"), urn.KindOf("x-foo"), urn.KindOf("de-foo"), urn.KindOf("isbn"))
	// Output:
	// informal experimental reserved formal
}

func ExampleScheme() {
	fmt.Println(urn.Scheme().Name, urn.Scheme().Status)
	// Output:
	// urn permanent
}

func ExampleInspectReference() {
	base, _ := uri.Parse("urn:example:a")
	reference, _ := uri.ParseReference("../b")
	f, ok := urn.InspectReference(base, reference)
	fmt.Println(f.Code, ok)
	// Output:
	// relative-reference-urn true
}

func ExampleDialect_String() {
	fmt.Println(urn.Draft1995, urn.RFC2141, urn.Draft2012, urn.RFC8141)
	// Output:
	// 1995 rfc2141 2012 rfc8141
}

func ExampleDialect_IsValid() {
	fmt.Println(urn.Dialect(0).IsValid(), urn.Latest.IsValid())
	// Output:
	// false true
}

func ExampleDialect_Parse() {
	u, err := urn.Draft1995.Parse("<URN:dns:example.com:alb\n  002>")
	fmt.Println(u.SchemeID(), u.AuthorityID(), u.ElementID(), err)
	_, err = urn.Draft2012.Parse("urn:foo:a/b")
	fmt.Println(err)
	// Output:
	// dns example.com alb002 <nil>
	// urn: "urn:foo:a/b": offset 9: NSS: contains "/"
}

func ExampleDialect_ParseAssigned() {
	_, err := urn.Draft2012.ParseAssigned("urn:foo:a?s=I2L")
	fmt.Println(err)
	// Output:
	// urn: "urn:foo:a?s=I2L": offset 9: assigned-urn: an assigned name cannot contain "?"
}

func ExampleDialect_CheckRule() {
	fmt.Println(urn.Draft2012.CheckRule("keywd", "a--b"))
	fmt.Println(urn.RFC2141.CheckRule("NID", "ab-"))
	// Output:
	// urn: "a--b": offset 1: keywd: contains "-"
	// <nil>
}

func ExampleDialect_Rules() {
	for rule := range urn.RFC8141.Rules() {
		if strings.HasSuffix(rule, "component") {
			fmt.Println(rule)
		}
	}
	// Output:
	// r-component
	// q-component
	// f-component
}

func ExampleDialect_EncodeNSS() {
	nss, err := urn.RFC8141.EncodeNSS("café: 50%", ":")
	fmt.Println(nss, err)
	// Output:
	// caf%C3%A9%3A%2050%25 <nil>
}

func ExampleDialect_JoinNSS() {
	nss, err := urn.RFC8141.JoinNSS(':', "", "a:b", "c")
	fmt.Println(nss, err)
	// Output:
	// a%3Ab:c <nil>
}

func ExampleDialect_EndInText() {
	text := "urn:foo:a123,456> says who"
	fmt.Println(text[:urn.Draft2012.EndInText(text)])
	// Output:
	// urn:foo:a123,456
}

func ExampleURN_IsValid() {
	fmt.Println(urn.URN{}.IsValid(), urn.MustParse("urn:example:a").IsValid())
	// Output:
	// false true
}

func ExampleURN_Dialect() {
	fmt.Println(urn.MustParse("urn:example:a").Dialect())
	// Output:
	// rfc8141
}

func ExampleURN_String() {
	fmt.Println(urn.MustParse("URN:Example:a#f").String())
	// Output:
	// URN:Example:a#f
}

func ExampleURN_NID() {
	fmt.Println(urn.MustParse("urn:ISBN:0395363411").NID())
	// Output:
	// ISBN
}

func ExampleURN_NSS() {
	fmt.Println(urn.MustParse("urn:example:1/406/47452/2?=q").NSS())
	// Output:
	// 1/406/47452/2
}

func ExampleURN_RComponent() {
	fmt.Println(urn.MustParse("urn:example:a?+CCResolve:cc=uk").RComponent())
	// Output:
	// CCResolve:cc=uk true
}

func ExampleURN_QComponent() {
	fmt.Println(urn.MustParse("urn:example:a?=q?=s").QComponent())
	// Output:
	// q?=s true
}

func ExampleURN_FComponent() {
	fmt.Println(urn.MustParse("urn:example:a#").FComponent())
	fmt.Println(urn.MustParse("urn:example:a").FComponent())
	// Output:
	//  true
	//  false
}

func ExampleURN_Query() {
	u, _ := urn.Draft2012.Parse("urn:isbn:0395363411?s=I2L&c=ToC")
	fmt.Println(u.Query())
	// Output:
	// s=I2L&c=ToC true
}

func ExampleURN_Directives() {
	u, _ := urn.Draft2012.Parse("urn:foo:a?s=I2L&c=ToC&s=I2R")
	for _, d := range u.Directives(urn.Keywords2012(), nil) {
		fmt.Println(d.Keyword, d.Value, d.Ignored)
	}
	// Output:
	// s I2L true
	// c ToC false
	// s I2R true
}

func ExampleDirectives_Get() {
	u, _ := urn.Draft2012.Parse("urn:foo:a?s=I=I")
	fmt.Println(u.Directives(urn.Keywords2012(), nil).Get("s"))
	// Output:
	// I=I true
}

func ExampleURN_IsAssigned() {
	fmt.Println(urn.MustParse("urn:example:a").IsAssigned(), urn.MustParse("urn:example:a#f").IsAssigned())
	// Output:
	// true false
}

func ExampleURN_Assigned() {
	fmt.Println(urn.MustParse("urn:example:a?+r?=q#f").Assigned())
	// Output:
	// urn:example:a
}

func ExampleURN_SchemeID() {
	u, _ := urn.Draft1995.Parse("urn:dns:example.com:urn+m")
	fmt.Println(u.SchemeID())
	// Output:
	// dns
}

func ExampleURN_AuthorityID() {
	u, _ := urn.Draft1995.Parse("urn:dns:example.com:urn+m")
	fmt.Println(u.AuthorityID())
	// Output:
	// example.com
}

func ExampleURN_ElementID() {
	u, _ := urn.Draft1995.Parse("urn:dns:example.com:urn+m")
	fmt.Println(u.ElementID())
	// Output:
	// urn+m
}

func ExampleURN_IsReservedRequest() {
	u, _ := urn.Draft1995.Parse("urn:dns:example.com:urn+m")
	fmt.Println(u.IsReservedRequest())
	// Output:
	// true
}

func ExampleIsRequest() {
	fmt.Println(urn.IsRequest("urn+m"), urn.IsRequest("urn%2Bm"), urn.IsRequest("URN+m"))
	// Output:
	// true true false
}

func ExampleURN_Canonical() {
	fmt.Println(urn.MustParse("URN:Example:A%2fb?=q").Canonical())
	old, _ := urn.Draft1995.Parse("urn:DNS:Example.COM:a%2Db")
	fmt.Println(old.Canonical())
	// Output:
	// urn:example:A%2Fb
	// urn:dns:example.com:a-b
}

func ExampleURN_Key() {
	u, _ := urn.Draft2012.Parse("urn:foo:a?s=I2L&c=ToC#f")
	fmt.Println(u.Key(urn.PurposeResource))
	fmt.Println(u.Key(urn.PurposeCache))
	// Output:
	// urn:foo:a
	// urn:foo:a?c=ToC&s=I2L
}

func ExampleURN_Name() {
	a, _ := urn.MustParse("URN:Example:a?=q").Name()
	b, _ := urn.MustParse("urn:example:a#f").Name()
	fmt.Println(a, a == b)
	// Output:
	// urn:example:a true
}

func ExampleURN_Convert() {
	u := urn.MustParse("urn:dns:example.com:~a")
	old, err := u.Convert(urn.Draft1995)
	fmt.Println(old.ElementID(), err)
	_, err = u.Convert(urn.RFC2141)
	fmt.Println(err)
	// Output:
	// %7Ea <nil>
	// urn: "urn:dns:example.com:~a": offset 20: NSS: contains "~"
}

func ExampleURN_Display() {
	u := urn.MustParse("urn:example:caf%C3%A9:a%3Ab")
	fmt.Println(u.Display(":"))
	// Output:
	// urn:example:café:a%3Ab
}

func ExampleURN_AppendText() {
	b, _ := urn.MustParse("urn:example:a").AppendText([]byte("see "))
	fmt.Printf("%s\n", b)
	// Output:
	// see urn:example:a
}

func ExampleURN_MarshalText() {
	b, _ := json.Marshal(urn.MustParse("urn:example:a"))
	fmt.Printf("%s\n", b)
	// Output:
	// "urn:example:a"
}

func ExampleURN_UnmarshalText() {
	var u urn.URN
	err := json.Unmarshal([]byte(`"urn:example:a"`), &u)
	fmt.Println(u.NSS(), err)
	// Output:
	// a <nil>
}

func ExampleName_IsValid() {
	fmt.Println(urn.Name{}.IsValid())
	// Output:
	// false
}

func ExampleName_URN() {
	n, _ := urn.ParseName("URN:Example:a")
	fmt.Println(n.URN().NSS())
	// Output:
	// a
}

func ExampleName_String() {
	n, _ := urn.ParseName("URN:Example:a")
	fmt.Println(n.String())
	// Output:
	// urn:example:a
}

func ExampleName_Compare() {
	n, _ := urn.ParseName("URN:Example:a")
	m, _ := urn.ParseName("urn:example:b")
	fmt.Println(n.Compare(m))
	// Output:
	// -1
}

func ExampleName_AppendText() {
	n, _ := urn.ParseName("URN:Example:a")
	b, _ := n.AppendText(nil)
	fmt.Printf("%s\n", b)
	// Output:
	// urn:example:a
}

func ExampleName_MarshalText() {
	n, _ := urn.ParseName("URN:Example:a")
	b, _ := json.Marshal(map[urn.Name]int{n: 1})
	fmt.Printf("%s\n", b)
	// Output:
	// {"urn:example:a":1}
}

func ExampleName_UnmarshalText() {
	var n urn.Name
	err := json.Unmarshal([]byte(`"URN:Example:a"`), &n)
	fmt.Println(n, err)
	// Output:
	// urn:example:a <nil>
}

func ExamplePurpose_String() {
	fmt.Println(urn.PurposeResource, urn.PurposeCache)
	// Output:
	// resource cache
}

func ExampleComparer_Equivalent() {
	a, _ := urn.Draft2012.Parse("urn:foo:A?s=I2L")
	b, _ := urn.Draft2012.Parse("urn:foo:a?s=I2R")
	fmt.Println(urn.Comparer{}.Equivalent(a, b))
	fmt.Println(urn.Comparer{Fold: strings.ToLower}.Equivalent(a, b))
	fmt.Println(urn.Comparer{Fold: strings.ToLower, Purpose: urn.PurposeCache}.Equivalent(a, b))
	// Output:
	// false
	// true
	// false
}

func ExampleError_Error() {
	_, err := urn.Parse("urn:f:x")
	fmt.Println(err.Error())
	// Output:
	// urn: "urn:f:x": offset 4: NID: shorter than 2 characters
}

func ExampleError_Violation() {
	_, err := urn.Parse("urn:f:x")
	var bad uri.InputError
	if errors.As(err, &bad) {
		v := bad.Violation()
		fmt.Printf("%s\n%*s^ %s\n", v.Input, v.Offset, "", v.Message)
	}
	// Output:
	// urn:f:x
	//     ^ shorter than 2 characters
}

func ExampleEntryError_Error() {
	_, err := urn.IANANamespaces().Register(urn.Namespace{NID: "urn"})
	fmt.Println(err.Error())
	// Output:
	// urn: registry entry "urn": NID is reserved permanently
}

func ExampleInspector_Inspect() {
	in := urn.Inspector{Namespaces: urn.IANANamespaces()}
	for _, f := range in.Inspect(urn.RFC8141, "urn:cts:%41") {
		fmt.Println(f.Offset, f.Severity, f.Code)
	}
	// Output:
	// 4 warning unregistered-nid
	// 8 info needless-escape
}

func ExampleNamespace_Accepts() {
	n := urn.Namespace{Services: []string{"I2L", "I2N"}}
	fmt.Println(n.Accepts("s", "I2L"), n.Accepts("s", "I2R"), n.Accepts("c", "ToC"))
	// Output:
	// true false false
}

func ExampleNamespace_Missing() {
	n, _ := urn.IANANamespaces().Lookup("urn-7")
	fmt.Println(n.Missing())
	// Output:
	// [reference security]
}

func ExampleKeyword_WithSupport() {
	k, _ := urn.Keywords2012().Lookup("c")
	k = k.WithSupport(urn.Support{NID: "isbn", Reference: "its registration"})
	more, err := urn.Keywords2012().With(k)
	c, _ := more.Lookup("c")
	fmt.Println(c.SupportedBy, err)
	// Output:
	// [{isbn its registration}] <nil>
}

func ExampleNIDKind_String() {
	fmt.Println(urn.KindInformal.String())
	// Output:
	// informal
}

func ExampleNIDKind_MarshalText() {
	b, _ := urn.KindInformal.MarshalText()
	fmt.Printf("%s\n", b)
	// Output:
	// informal
}

func ExampleNIDKind_UnmarshalText() {
	var v urn.NIDKind
	err := v.UnmarshalText([]byte("informal"))
	fmt.Println(v == urn.KindInformal, err)
	// Output:
	// true <nil>
}

func ExampleScope_String() {
	fmt.Println(urn.ScopeSpecific.String())
	// Output:
	// specific
}

func ExampleScope_MarshalText() {
	b, _ := urn.ScopeSpecific.MarshalText()
	fmt.Printf("%s\n", b)
	// Output:
	// specific
}

func ExampleScope_UnmarshalText() {
	var v urn.Scope
	err := v.UnmarshalText([]byte("specific"))
	fmt.Println(v == urn.ScopeSpecific, err)
	// Output:
	// true <nil>
}

func ExampleStatus_String() {
	fmt.Println(urn.StatusExperimental.String())
	// Output:
	// exp
}

func ExampleStatus_MarshalText() {
	b, _ := urn.StatusExperimental.MarshalText()
	fmt.Printf("%s\n", b)
	// Output:
	// exp
}

func ExampleStatus_UnmarshalText() {
	var v urn.Status
	err := v.UnmarshalText([]byte("exp"))
	fmt.Println(v == urn.StatusExperimental, err)
	// Output:
	// true <nil>
}

func ExampleScope_Policy() {
	fmt.Println(urn.ScopeGlobal.Policy())
	// Output:
	// IETF Review
}

func ExampleScope_ChangeController() {
	fmt.Println(urn.ScopeGlobal.ChangeController())
	// Output:
	// IESG
}

func ExampleStatus_Policy() {
	fmt.Println(urn.StatusDeprecated.Policy())
	// Output:
	// IESG Approval
}

func ExampleTable_Len() {
	fmt.Println(urn.IANANamespaces().Len())
	// Output:
	// 105
}

func ExampleTable_All() {
	for s := range urn.Services2012().All() {
		if s.Purpose == "URI to URN" {
			fmt.Println(s.Name)
		}
	}
	// Output:
	// I2N
}

func ExampleTable_Lookup() {
	_, ok := urn.IANANamespaces().Lookup("dns")
	fmt.Println(ok)
	// Output:
	// false
}

func ExampleTable_With() {
	known, err := urn.IANANamespaces().With(urn.Namespace{NID: "cts", Reference: "in use", Security: "none known"})
	n, _ := known.Lookup("CTS")
	fmt.Println(n.NID, n.Kind, known.Len(), err)
	// Output:
	// cts unregistered 106 <nil>
}

func ExampleTable_Register() {
	_, err := urn.SchemeIDs1995().Register(urn.SchemeID{ID: "X-foo", Reference: "ours"})
	fmt.Println(err)
	// Output:
	// urn: registry entry "X-foo": SchemeID is experimental and cannot be registered
}

package urn

// A Dialect is one version of the URN syntax, as a draft or an RFC defines it. The zero Dialect is
// not valid.
type Dialect uint8

// The dialects, in chronological order.
const (
	Draft1995 Dialect = iota + 1 // four fields, draft-ietf-uri-yaurn-00
	RFC2141                      // NID and NSS
	Draft2012                    // a query of directives and a fragment, draft-ietf-urnbis-rfc2141bis-urn-03
	RFC8141                      // r-, q- and f-components

	// Latest is the dialect that functions without a dialect parameter use.
	Latest = RFC8141

	dialects = int(RFC8141) + 1
)

// String returns the name that the command line uses for the dialect: 1995, rfc2141, 2012 or
// rfc8141.
func (d Dialect) String() string {
	if !d.IsValid() {
		return "invalid"
	}
	return grammars[d].name
}

// IsValid reports whether d is one of the dialects.
func (d Dialect) IsValid() bool { return d != 0 && int(d) < dialects }

// ParseDialect returns the dialect with the name s; see [Dialect.String].
func ParseDialect(s string) (Dialect, bool) {
	for d := Draft1995; d.IsValid(); d++ {
		if d.String() == s {
			return d, true
		}
	}
	return 0, false
}

// A grammar holds the differences between a dialect and the others, except for the components after
// the NSS.
type grammar struct {
	name string

	// The names that the document uses for the productions of a whole URN and of the assigned name.
	whole  string
	inner  string
	nid    string
	nss    string
	escape string

	nssSet       class // the octets that an NSS may contain unescaped
	minNID       int
	finalHyphen  bool // an NID may end with a hyphen (RFC 2141, section 2.1)
	reservesURN  bool // the NID cannot be "urn" (RFC 2141 and draft of 2012, section 2.1)
	leadingSlash bool // an NSS may begin with a slash (RFC 2141, section 2.3)
}

var grammars = [dialects]grammar{
	Draft1995: {
		name:  "1995",
		whole: "urn95", inner: "urn95", nid: "SchemeID", nss: "ElementID", escape: "escape",
		nssSet: classElement, leadingSlash: true,
	},
	RFC2141: {
		name:  "rfc2141",
		whole: "URN", inner: "URN", nid: "NID", nss: "NSS", escape: "URN chars",
		nssSet: classTrans, minNID: 1, finalHyphen: true, reservesURN: true, leadingSlash: true,
	},
	Draft2012: {
		name:  "2012",
		whole: "namestring", inner: "assigned-urn", nid: "NID", nss: "NSS", escape: "pct-encoded",
		nssSet: classPchar | noNUL, minNID: 2, reservesURN: true,
	},
	RFC8141: {
		name:  "rfc8141",
		whole: "namestring", inner: "assigned-name", nid: "NID", nss: "NSS", escape: "pct-encoded",
		nssSet: classPath, minNID: 2,
	},
}

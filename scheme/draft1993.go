package scheme

// ruled returns the schemes with rules in this package: the schemes that the drafts name and a few
// related ones.
func ruled() []Scheme {
	return []Scheme{
		http, https, ftp, file, afs, news, snews, nntp, wais, prospero,
		telnet, rlogin, tn3270, gopher, x500, whois, mailto, mid, cid, urn,
	}
}

// urn is the scheme of URNs. Their syntax is in package urn.
var urn = Scheme{
	Name: "urn", Title: "Uniform Resource Names", Kind: KindName,
	Reference:  "RFC 8141; 1993, Registration of naming schemes",
	Example:    "urn:isbn:9789510184356",
	Properties: "unique and persistent, according to the rules of each namespace",
}

// Of1993 returns the initial registry of the draft of 1993. It has the schemes in the grammar and
// the prose of the draft, and the reserved "urn". The scheme for network management, which the
// draft leaves for study, is not included.
func Of1993() Catalogue {
	var list []Scheme
	for _, name := range [...]string{
		"http", "ftp", "news", "wais", "prospero", "telnet", "rlogin", "tn3270", "gopher", "afs", "x500", "whois", "urn",
	} {
		if s, ok := standard().Lookup(name); ok {
			list = append(list, s)
		}
	}
	return catalogueOf(list)
}

package scheme

// ruled returns the schemes that have rules in this package.
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

// Of1993 returns the initial registry of the draft of 1993. It contains the schemes that the draft
// defines or mentions, and the reserved scheme "urn". It does not contain the scheme for network
// management, which the draft leaves for further study.
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

package scheme

// ruled returns the schemes for which this package has rules: those that the drafts name, and
// closely related schemes.
func ruled() []Scheme {
	return []Scheme{
		http, https, ftp, file, afs, news, snews, nntp, wais, prospero,
		telnet, rlogin, tn3270, gopher, x500, whois, mailto, mid, cid, urn,
	}
}

// urn is the scheme of URNs. This package only identifies URNs; package urn interprets them.
var urn = Scheme{
	Name: "urn", Title: "Uniform Resource Names", Kind: KindName,
	Reference:  "RFC 8141; 1993, Registration of naming schemes",
	Example:    "urn:isbn:9789510184356",
	Properties: "unique and persistent, according to the rules of each namespace",
}

// Of1993 returns the initial registry of the draft of 1993: the schemes in its
// grammar and its prose, and "urn", which it reserves. It contains no scheme
// for the network management database, which the draft leaves for study.
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

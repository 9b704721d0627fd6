package scheme

import "github.com/nomen-project/nomen/uri"

// schemes1993 returns the schemes of draft-ietf-uri-url (July 1993), and those
// whose rules belong to theirs.
func schemes1993() []Scheme {
	return []Scheme{
		http, https, ftp, file, afs, news, snews, nntp, wais, prospero,
		telnet, rlogin, tn3270, gopher, x500, whois, mid, cid, urn,
	}
}

// Names, whatever they name: what a URN says is for package urn to tell.
var urn = Scheme{
	Name: "urn", Title: "Uniform Resource Names", Kind: KindName,
	Reference:  "RFC 8141; 1993, Registration of naming schemes",
	Example:    "urn:isbn:9789510184356",
	Properties: "unique and persistent, by the rules of each namespace",
}

// KindOf says whether u is a name or a locator, as far as its scheme says. Either
// is a URI (1993, Registration of naming schemes).
func KindOf(u uri.URI) Kind { return standard.KindOf(u) }

// KindOf is like the function [KindOf].
func (c Catalogue) KindOf(u uri.URI) Kind {
	if s := c.of(u); s != nil {
		return s.Kind
	}
	return KindUnstated
}

// Of1993 returns the registry with which the draft of 1993 begins: the schemes
// of its grammar and of its prose, and "urn", which it reserves. For the network
// management database, which it leaves for study, no name is reserved.
func Of1993() Catalogue {
	var list []Scheme
	for _, name := range [...]string{
		"http", "ftp", "news", "wais", "prospero", "telnet", "rlogin", "tn3270", "gopher", "afs", "x500", "whois", "urn",
	} {
		if s, ok := Lookup(name); ok {
			list = append(list, s)
		}
	}
	return catalogueOf(list)
}

package scheme

// schemes1993 returns the schemes of draft-ietf-uri-url (July 1993).
func schemes1993() []Scheme {
	return []Scheme{
		http, https, ftp, file, afs, news, snews, nntp, wais, prospero,
		telnet, rlogin, tn3270, gopher, x500, whois, mid, cid,
	}
}

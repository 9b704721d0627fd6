package scheme

// schemes1993 returns the schemes of draft-ietf-uri-url (July 1993).
func schemes1993() []Scheme {
	return []Scheme{
		http, https, ftp, file,
	}
}

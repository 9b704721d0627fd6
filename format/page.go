package format

// A Page says where on the web an answer about a name is read. The zero Page is
// nowhere: then nothing is linked but what the answer says.
type Page struct {
	Base  string // URL of the server without a slash at its end; "" if it is not known
	Asked string // the URL that was asked, without a query, where it is not Base and the path of the name

	Past Past // of a page for people
}

// nameURL returns where a name is asked on the web, "" if that is not known.
func (p Page) nameURL(key string) string {
	if p.Base == "" || key == "" {
		return ""
	}
	if isWeb(key) {
		return key
	}
	return p.Base + NamePath(key)
}

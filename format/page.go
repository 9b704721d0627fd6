package format

// A Page says where on the web an answer is read. If the Page is zero, only the links of the answer
// itself are written.
type Page struct {
	Base  string // URL of the server, without a final slash; "" if unknown
	Asked string // URL of the request, without its query; "" if it is Base followed by the path of the name

	Root string // path of the server on its host, without a final slash; "" if the server has the root

	Past Past // used only by the HTML page
}

// nameURL returns the URL of a name on the web, or "" if that is unknown.
func (p Page) nameURL(key string) string {
	if p.Base == "" || key == "" {
		return ""
	}
	if isWeb(key) {
		return key
	}
	return p.Base + NamePath(key)
}

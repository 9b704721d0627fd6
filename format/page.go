package format

import (
	"html/template"

	"github.com/nomen-project/nomen/site"
)

// A Page says where on the web an answer is read. If the Page is zero, only the links of the answer
// itself are written.
type Page struct {
	Base  string // URL of the server, without a final slash; "" if unknown
	Asked string // URL of the request, without its query; "" if it is Base followed by the path of the name

	Root string // path of the server on its host, without a final slash; "" if the server has the root

	// The following are used only by HTML pages.

	Site  *site.Page    // the header, the footer and the language; nil for a page without settings
	Owner Owner         // who is responsible for the name
	Past  Past          // the name at other times
	QR    template.HTML // a QR code of the URL of the name; "" for none
	Other bool          // the problem on the page is about a page, not about a name
}

// An Owner is responsible for the names that begin with a prefix.
type Owner struct {
	Prefix      string
	Description string
	Contact     string // usually a URL
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
